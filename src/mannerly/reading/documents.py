"""A page as a document for people and for language tools: plain text, or Markdown.

Alone in a file, text is exactly the page's (main) text. In one stream a page begins with its URL,
title, time and description, and a line with a form feed ends it (a form feed in a text becomes a
space).

Markdown has the facts as YAML front matter, then the title as heading, the page's own headings as
such, and each other line of the text as a paragraph. What a text has that looks like markup is
escaped: it shows as it was.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

PAGE_END = "\f"
_LOOKED_AHEAD = 20
"""Headings that may be missing in the text in a row: those of menus are not in the main text."""
_UNSAFE_IN_YAML = re.compile(
    "[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_MARKUP = re.compile(r"[\\`*_\[\]<>&~|$#]")
# Only at the beginning of a line: lists, headings' underlines, numbered lists.
_LINE_MARKUP = re.compile(r"^([-+=:]|[0-9]{1,9}(?=[.)]))")
_LINE_BEGINNINGS = frozenset("-+=:0123456789")
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")


class Document(NamedTuple):
    """What an export needs of a page."""

    url: str
    url_hash: int
    site: str
    fetched_at: str
    """ISO 8601, with its zone."""
    title: str
    language: str
    text: str
    """The whole text, or the main text: as it was asked for."""
    description: str = ""
    headings: tuple[tuple[int, str], ...] = ()
    """Level and words, in order."""


def one_line(text: str) -> str:
    return " ".join(text.split())


def as_text_entry(page: Document) -> str:
    """A page in a stream of texts."""
    head = f"URL: {page.url}\nTitle: {one_line(page.title)}\nFetched: {page.fetched_at}\n"
    if page.description:
        head += f"Description: {one_line(page.description)}\n"
    head += "\n"
    return f"{head}{page.text.replace(PAGE_END, ' ')}\n{PAGE_END}\n"


def as_markdown(page: Document) -> str:
    title = one_line(page.title)
    facts = {"url": page.url, "title": title, "description": one_line(page.description),
             "fetched_at": page.fetched_at, "language": page.language}  # fmt: skip
    front = "".join(f"{name}: {_yaml(value)}\n" for name, value in facts.items() if value)
    heading = "".join(f"# {line}\n\n" for line in _escaped_lines(title))
    body = "".join(f"{mark}{line}\n\n" for mark, line in _marked_lines(page, title))
    return f"---\n{front}---\n\n{heading}{body}"


def _marked_lines(page: Document, title: str) -> Iterator[tuple[str, str]]:
    """The lines of the text, escaped, and what makes headings of those that are. A heading that
    only repeats the title is left out: the title is there already."""
    left = list(page.headings)
    for line in page.text.splitlines():
        words = one_line(line)
        place = next((n for n, it in enumerate(left[:_LOOKED_AHEAD]) if it[1] == words), None)
        mark = ""
        if place is not None and words:
            level, _ = left[place]
            del left[: place + 1]
            if words == title and level == 1:
                continue
            mark = "#" * level + " "
        for escaped in _escaped_lines(line):
            yield mark, escaped


def file_name(page: Document, suffix: str) -> str:
    """`site/words-of-the-path-<hash>.md`: readable, and different for different URLs."""
    path = page.url.partition("://")[2].partition("/")[2]
    words = re.sub(r"[^A-Za-z0-9]+", "-", path)[:60].strip("-").lower()
    name = f"{words}-{page.url_hash & 0xFFFF_FFFF_FFFF_FFFF:016x}".lstrip("-")
    site = re.sub(r"[^A-Za-z0-9.-]+", "_", page.site).lstrip(".") or "_"
    return f"{site}/{name}{suffix}"


def _escaped_lines(text: str) -> Iterator[str]:
    """The lines that are not empty, each such that Markdown shows it as it stands."""
    for line in _MARKUP.sub(r"\\\g<0>", _INVISIBLE.sub(" ", text)).splitlines():
        if line := line.strip():
            yield _LINE_MARKUP.sub(_defused, line) if line[0] in _LINE_BEGINNINGS else line


def _defused(match: re.Match[str]) -> str:
    mark = match[1]
    # A number cannot be escaped, the dot behind it can.
    return f"{mark}\\" if mark[0].isdigit() else f"\\{mark}"


def _yaml(value: str) -> str:
    """A quoted string that is both JSON and YAML."""
    return _UNSAFE_IN_YAML.sub(_code, json.dumps(value, ensure_ascii=False))


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
