"""Choosing how to parse a body by its type."""

import re

import pcre2

from mannerly.parse.contract import Parsed
from mannerly.parse.html import MAX_LINKS, MAX_TEXT, parse_html
from mannerly.parse.main_text import main_text
from mannerly.parse.text import parse_text

_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_TEXT = frozenset(("text/plain", "text/markdown", "text/x-markdown"))
_UNTOLD = frozenset(("", "application/octet-stream", "application/unknown", "unknown/unknown"))
"""Types that say nothing: the body itself is looked at."""
_SNIFFED = 1024
# Possessive where it repeats: a comment that may end at any later `-->` can be cut up in 2^n ways,
# and 300 bytes of `<!---->` took for ever.
# By PCRE: `re` of Python before 3.11.5, which Debian 12 has, gives up on what is repeated
# possessively (gh-106052).
_LOOKS_LIKE_HTML = pcre2.compile(
    rb"\A(?:\xef\xbb\xbf)?[\t\n\f\r ]*+(?:<\?xml[^>]*+>[\t\n\f\r ]*+)?"
    rb"(?:<!--(?:(?!-->).)*+-->[\t\n\f\r ]*+)*+"
    rb"<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|meta"
    rb"|link)[\t\n\f\r />]",
    pcre2.IGNORECASE | pcre2.DOTALL,
    jit=True,
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_UTF16 = (b"\xfe\xff", b"\xff\xfe")


def parse(
    body: bytes,
    content_type: str,
    *,
    agent: str,
    max_links: int = MAX_LINKS,
    max_text: int = MAX_TEXT,
    anchors: bool = False,
) -> Parsed | None:
    """What is in a body of this `Content-Type`; None where there is nothing to parse.

    `anchors`: also the words of its links.
    """
    kind = _kind(body, content_type)
    if kind in _HTML:
        return parse_html(
            body,
            content_type,
            agent=agent,
            max_links=max_links,
            max_text=max_text,
            anchors=anchors,
        )
    if kind in _TEXT:
        return parse_text(body, content_type, max_text=max_text)
    return None


def main_text_of(body: bytes, content_type: str, *, max_text: int = MAX_TEXT) -> str:
    """The main text of a body of this type: without navigation where it is HTML, else all of it;
    '' where there is nothing to parse."""
    kind = _kind(body, content_type)
    if kind in _HTML:
        return main_text(body, content_type, max_text=max_text)
    return parse_text(body, content_type, max_text=max_text).text if kind in _TEXT else ""


def _kind(body: bytes, content_type: str) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    return _sniffed(body) if kind in _UNTOLD else kind


def _sniffed(body: bytes) -> str:
    head = body[:_SNIFFED]
    if _LOOKS_LIKE_HTML.search(head):
        return "text/html"
    if not head or (_BINARY.search(head) and not head.startswith(_UTF16)):
        return ""
    return "text/plain"
