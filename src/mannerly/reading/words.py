"""Words: what somebody searches for, as the index wants it, and where it stands in a text."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from mannerly.errors import UsageError

# Scripts that are written without spaces: each character is a word to the index, and a word of
# somebody's is a phrase of them. Else only whole sentences could be found.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_EACH = re.compile(f"([{_UNSPACED}\U00020000-\U0003ffff])")
_WORD = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]|[^\\W_{_UNSPACED}]+")
_ASKED = re.compile(r'"([^"]*)"?|(\S+)')

_SNIPPET_CHARS = 200
_SEARCHED_CHARS = 200_000


class Asked(NamedTuple):
    match: str
    """In the language of FTS5."""
    words: frozenset[str]
    """Folded, to be found again in a text."""
    beginnings: tuple[str, ...]
    """Of these only the beginning of a word must be there."""


def asked_for(text: str) -> Asked:
    """What `text` asks for: all its words; a "phrase" in quotes as it stands; `begin*` for what
    begins so. `UsageError` if there is no word in it."""
    terms, words, beginnings = [], set(), []
    for found in _ASKED.finditer(text):
        part = found[1] if found[1] is not None else found[2]
        parts = [fold(word) for word in _WORD.findall(part)]
        if not parts:
            continue
        is_beginning = found[2] is not None and part.endswith("*")
        terms.append('"' + " ".join(parts) + '"' + ("*" if is_beginning else ""))
        if is_beginning:
            beginnings.append(parts.pop())
        words.update(parts)
    if not terms:
        raise UsageError(f"there is no word to search for in {text!r}")
    return Asked(" AND ".join(terms), frozenset(words), tuple(beginnings))


def spaced(text: str) -> str:
    """A text as it is given to the index."""
    return text if text.isascii() else _EACH.sub(r" \1 ", text)


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Without case and accents, much as the index compares words."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.lower())
    return "".join(char for char in parts if not unicodedata.combining(char))


class Snippet(NamedTuple):
    text: str
    """One line. Cut where it does not begin or end as the page does: marked with an ellipsis."""
    marks: list[tuple[int, int]]
    """Where in it the words stand."""


def snippet(text: str, asked: Asked, size: int = _SNIPPET_CHARS) -> Snippet:
    """The part of a text that has most of the words."""
    found = [
        (match.start(), match.end(), folded)
        for match in _WORD.finditer(text, 0, _SEARCHED_CHARS)
        if _is_asked(folded := fold(match[0]), asked)
    ]
    start = _best_start(found, size)
    if start:
        # On to the beginning of a word, where there is one near.
        start = max(text.find(" ", start, start + size // 5) + 1, start)
    end = min(len(text), start + size)
    if end < len(text):
        # Back to the end of a word, where there is one near.
        end = max(text.rfind(" ", start + size // 2, end), start + size // 2)
    line, marks = "…" if start else "", []
    at = start
    for first, last, _ in found:
        if start <= first and last <= end:
            line += _flat(text[at:first])
            marks.append((len(line), len(line) + last - first))
            line += text[first:last]
            at = last
    line += _flat(text[at:end]).rstrip()
    return Snippet(line + ("…" if end < len(text) else ""), marks)


def _is_asked(word: str, asked: Asked) -> bool:
    return word in asked.words or (bool(asked.beginnings) and word.startswith(asked.beginnings))


def _best_start(found: list[tuple[int, int, str]], size: int) -> int:
    """Where to begin, a little before the words, to have most different ones of them."""
    best, most, left = 0, 0, 0
    inside: dict[str, int] = {}
    begin = found[0][0] if found else 0
    for _, last, word in found:
        inside[word] = inside.get(word, 0) + 1
        while last - found[left][0] > size * 3 // 4:
            gone = found[left][2]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        if len(inside) > most:
            best, most = left, len(inside)
            begin = found[best][0]
    return max(0, begin - size // 5)


def _flat(text: str) -> str:
    """One line: what cannot be printed, and every run of white space, is one space."""
    return re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in text))
