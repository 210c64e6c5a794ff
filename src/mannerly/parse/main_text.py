"""The main text of a page: what is left without navigation, menus, side bars and footers.

Where the page itself says which part is the main one (`<main>`, `role=main`, a single `<article>`),
that part is taken. Else lines are judged by how many words they have and how much of them is links,
with the rules of Kohlschütter, Fankhauser and Nejdl ("Boilerplate Detection using Shallow Text
Features", 2010): navigation is short and made of links, prose is neither. In both cases what is
marked as navigation goes first. A guess by nature; `Parsed.text` has everything.
"""

from typing import Final, NamedTuple

import pcre2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from mannerly.parse.blocks import lines
from mannerly.parse.charset import to_utf8
from mannerly.parse.html import MAX_TEXT, parse_html, pieces_of, remove_hidden

_LINK: Final = pcre2.compile(rb"<(?=a[\s>])", pcre2.IGNORECASE, jit=True)
_LINK_END: Final = pcre2.compile(rb"<(?=/a[\s>])", pcre2.IGNORECASE, jit=True)
_OPEN, _CLOSE = "\x0e", "\x0f"
"""Put around links, so that each line of text shows how much of it is links."""
_STRIPPED = str.maketrans("", "", _OPEN + _CLOSE)

_UNSEEN = "script,style,noscript,noframes,noembed,iframe"
_APART = (
    "nav,aside,footer,menu,dialog,[role=navigation],[role=banner],[role=contentinfo],[role=search]"
    ",[role=complementary],[role=menu],[role=menubar],[role=dialog]"
)
_BESIDES: Final = pcre2.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|header|footer|igation|box)?|breadcrumbs?|side-?bar|menu|footer"
    r"|cookies?|share|social|pagination|pager|toc|skip-?link|advert\w*|newsletter)(?=$|[\s_-])",
    pcre2.IGNORECASE,
    jit=True,
)
"""Words in `class` and `id` that say what a box is for."""
_BOXES = (
    "div[class],div[id],ul[class],ul[id],ol[class],table[class],section[class],td[class],p[class]"
)
_MOST_OF_IT = 0.5
"""A box with more of the page's text than this is the page, whatever it is called."""
_MAX_BOXES = 200
"""Boxes one in the other: the text of each is read."""


def main_text(body: bytes, content_type: str, *, max_text: int = MAX_TEXT) -> str:
    """The main text of a HTML page, one line per block; all of it where no part stands out.

    Never raises for anything in `body`; time and memory are bounded as for `parse_html`. Of a page
    with more tags than are parsed at once, the main part of the beginning.
    """
    _, source = to_utf8(body, content_type)
    source = source.translate(None, b"\x0e\x0f")
    source = _LINK_END.sub(b"\x0f<", _LINK.sub(b"\x0e<", source))
    piece = next(pieces_of(source))
    tree = piece.tree()
    root = tree.body
    if root is None:
        return ""
    for node in tree.css(_UNSEEN):
        node.decompose()
    remove_hidden(tree, piece)
    part = _main_part(tree)
    for node in (part or root).css(_APART):
        node.decompose()
    _remove_boxes(part or root)
    left = lines((part or root).text_lexbor(), max_text).split("\n")
    chosen = left if part is not None else _chosen([_measured(line) for line in left])
    found = "\n".join(chosen) or parse_html(body, content_type, agent="", max_text=max_text).text
    return found.translate(_STRIPPED)


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main,[role=main]", "article"):
        parts = tree.css(selector)
        if len(parts) == 1 and len(parts[0].text_lexbor()) > 200:
            return parts[0]
    return None


def _remove_boxes(root: LexborNode) -> None:
    most = len(root.text_lexbor()) * _MOST_OF_IT
    tried = 0
    for node in root.css(_BOXES):
        attributes = node.attributes
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:200]
        if _BESIDES.search(names):
            tried += 1
            if tried > _MAX_BOXES:
                break
            if len(node.text_lexbor()) < most:
                node.decompose()


class _Line(NamedTuple):
    text: str
    words: int
    links: float
    """The part of its words that are in links."""


def _measured(line: str) -> _Line:
    words = len(line.split())
    if _OPEN not in line and _CLOSE not in line:
        return _Line(line, words, 0.0)
    # A link that began on an earlier line has only its end here.
    pieces = line.split(_OPEN)
    linked = pieces[1:] if _CLOSE not in pieces[0] else pieces
    in_links = sum(len(piece.partition(_CLOSE)[0].split()) for piece in linked)
    return _Line(line, words, in_links / max(words, 1))


_NO_LINE = _Line("", 0, 0.0)


def _chosen(measured: list[_Line]) -> list[str]:
    """The lines that are content, and short ones between them that are not links."""
    kept = [
        _is_content(before, line, after)
        for before, line, after in zip(
            [_NO_LINE, *measured[:-1]], measured, [*measured[1:], _NO_LINE], strict=True
        )
    ]
    if True not in kept:
        return []
    first = kept.index(True)
    last = len(kept) - kept[::-1].index(True)
    # The heading of what follows, code and cells of tables are short as well.
    first = max(0, first - 1) if measured[max(0, first - 1)].links == 0 else first
    return [line.text for line in measured[first:last] if line.links <= _FEW_LINKS]


_FEW_LINKS = 1 / 3
_SOME_LINKS = 5 / 9


def _is_content(before: _Line, line: _Line, after: _Line) -> bool:
    """The decision tree of the paper, with its numbers."""
    if line.links > _FEW_LINKS:
        return False
    if before.links <= _SOME_LINKS:
        return line.words > 16 or after.words > 15 or before.words > 4
    return line.words > 40 or after.words > 17
