"""HTML: links, text and facts of a page, from one parse.

Most pages are read without a tree (`treeless`). For the others, and for the words of links, Lexbor
builds it, and one query finds everything that is wanted of it. Each further selector
in a query costs more than looking for a tag in the source, so the rare ones are asked for only
where they are. What nobody reads is left out before (`bare`).
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import pcre2
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from mannerly.parse.anchors import anchors_of
from mannerly.parse.bare import Left, bared
from mannerly.parse.blocks import Seen, lines, marked
from mannerly.parse.charset import to_utf8
from mannerly.parse.contract import Parsed
from mannerly.parse.crop import MAX_TAGS, pieces
from mannerly.parse.defuse import defused
from mannerly.parse.facts import PageFacts
from mannerly.parse.treeless import read_treeless

MAX_LINKS = 5_000
MAX_TEXT = 1_000_000

_WANTED = "[href],meta,title"
_RARE: Final = (
    (Seen.TOP_HEADINGS, ",h1,h2,h3"),
    (Seen.LOW_HEADINGS, ",h4,h5,h6"),
    (Seen.STYLE, ",style"),
    (Seen.IFRAME, ",iframe"),
    (Seen.FRAME, ",frame"),
    (Seen.FALLBACK, ",noscript,noframes,noembed"),
    (Seen.SCRIPT, ",script"),
)
_SELECTORS: Final = [
    _WANTED + "".join(names for one, names in _RARE if one & seen) for seen in range(2 ** len(Seen))
]
"""By what was seen."""
_HIDING: Final = (
    (Left.HIDDEN, "[hidden],[aria-hidden=true i]"),
    (Left.DISPLAY, '[style*="display:none" i],[style*="display: none" i]'),
)
_HIDDEN: Final = [
    ",".join(names for one, names in _HIDING if one & left) for left in range(int(Left.REST))
]
"""By what is left. (Numbers: to ask a flag costs a microsecond.)"""
_REST: Final = int(Left.REST)
_HIDING_WORDS: Final = (
    (Left.HIDDEN, pcre2.compile(rb"hidden[\s=>/]", pcre2.IGNORECASE, jit=True)),
    (Left.DISPLAY, pcre2.compile(rb"display\s*+:\s*+none", pcre2.IGNORECASE, jit=True)),
)
_NEVER_HIDDEN = frozenset(("html", "body"))
_LONGEST_LANGUAGE = 100
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:[-_][a-z0-9]{1,8}){0,4}")


def parse_html(
    body: bytes,
    content_type: str,
    *,
    agent: str,
    max_links: int = MAX_LINKS,
    max_text: int = MAX_TEXT,
    anchors: bool = False,
) -> Parsed:
    """What is in a page. Never raises for anything in `body`; time and memory are bounded."""
    charset, source = to_utf8(body, content_type)
    if not anchors and (read := read_treeless(source, agent, max_links)) is not None:
        read.page.charset = charset
        read.page.language = _language(read.root)
        read.page.text = lines(read.raw, max_text)
        return read.page
    page = Parsed(charset=charset)
    facts = PageFacts(page, agent, max_links)
    texts = []
    bare, left = bared(source)
    for piece in pieces_of(bare, left):
        # The tree is gone before the next one is made.
        if text := _read(piece, facts, max_text, anchors=anchors):
            texts.append(text)
            max_text -= len(text) + 1
            if max_text <= 0:
                break
    page.text = "\n".join(texts)
    return page


class Piece(NamedTuple):
    """What is parsed at once: nearly always the whole document."""

    source: bytes
    seen: int
    """`Seen`."""
    first: bool
    left: int
    """`Left`."""

    def tree(self) -> LexborHTMLParser:
        """In bounded time and memory."""
        return LexborHTMLParser(self.source, options=LexborDocumentOptions.WO_EVENTS)


def pieces_of(source: bytes, left: int = Left.REST) -> Iterator[Piece]:
    """Of a UTF-8 document, as it is or bare."""
    # Marked first: what is renamed to defuse it is no longer known to be inline.
    whole = marked(source)
    tags = min(whole.tags, MAX_TAGS)
    for n, piece in enumerate(pieces(whole)):
        yield Piece(defused(piece, tags, whole.left_open), whole.seen, n == 0, left)


def _read(piece: Piece, facts: PageFacts, max_text: int, *, anchors: bool) -> str:
    """Reads the facts of a piece, and gives its text."""
    tree = piece.tree()
    if piece.first:
        facts.page.language = _language(tree.root.attributes) if tree.root is not None else ""
    if anchors:
        if piece.seen & (Seen.SCRIPT | Seen.STYLE):
            for node in tree.css("script,style"):
                node.decompose()
        facts.add_anchors(anchors_of(tree, facts.max_links))
    for node in facts.read(tree.css(_SELECTORS[piece.seen])):
        node.decompose()
    remove_hidden(tree, piece)
    facts.read_headings()
    return lines(tree.body.text_lexbor(), max_text) if tree.body is not None else ""


def remove_hidden(tree: LexborHTMLParser, piece: Piece) -> None:
    """Take out of the tree what its own markup hides. Style sheets are not looked at."""
    left = piece.left
    if left & _REST:
        left = sum(int(one) for one, words in _HIDING_WORDS if words.search(piece.source))
    if left:
        for node in tree.css(_HIDDEN[left]):
            if node.tag not in _NEVER_HIDDEN:
                node.decompose()


def _language(attributes: Mapping[str, str | None]) -> str:
    """As the document's own element says it."""
    told = attributes.get("lang") or attributes.get("xml:lang") or ""
    return _as_language(told[:_LONGEST_LANGUAGE])


@lru_cache(maxsize=256)
def _as_language(told: str) -> str:
    language = told.strip().lower()
    return language if _LANGUAGE.fullmatch(language) else ""
