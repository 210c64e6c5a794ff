"""The stored text of some pages against another program's: inscriptis, over libxml2.

It lays a page out as a text browser would, so blanks and borders of words differ by design: what is
compared are the characters, and where they differ the words on either side.
"""

import re
from collections import Counter
from pathlib import Path

from inscriptis import get_text
from inscriptis.model.config import ParserConfig
from lxml.etree import ParserError

from benchmarks.manuals.reference import decoded

# What it adds by itself: bullets, numbers of lists, rules.
_MARKER = re.compile(r"[*+o-]|\d+\.|[-_]{3,}")
_LAYOUT = ParserConfig()
_HIDING = re.compile(
    rb"<[^>]*(?:\shidden[\s=>]|aria-hidden=\"?true|display:\s*none)", re.IGNORECASE
)


def compare(path: Path, text: str) -> str:
    """How the stored text of a file's page differs from what inscriptis makes of it."""
    body = path.read_bytes()
    try:
        theirs = get_text(re.sub(r"^<\?xml[^>]*>", "", decoded(body)), _LAYOUT)
    except (ParserError, ValueError):
        return "not read by inscriptis"
    if "".join(theirs.split()) == "".join(text.split()):
        return "same characters"
    missing = Counter(theirs.split()) - Counter(text.split())
    added = Counter(text.split()) - Counter(theirs.split())
    missing = Counter({w: n for w, n in missing.items() if not _MARKER.fullmatch(w)})
    if not missing and not added:
        return "bullets and numbers of lists, which are not in the page"
    if _joined(missing) == _joined(added):
        return "same characters, other word borders or order"
    if _letters(theirs) == _letters(text):
        return "same letters: bullets, and other word borders"
    if not added and _HIDING.search(body):
        return "what the markup hides, which inscriptis shows"
    return "other"


def _joined(words: Counter[str]) -> list[str]:
    return sorted("".join(words.elements()))


def _letters(text: str) -> Counter[str]:
    """Without `o`, which may be a bullet."""
    return Counter(letter for letter in text if letter.isalpha() and letter != "o")
