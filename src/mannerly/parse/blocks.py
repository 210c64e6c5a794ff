"""Blocks and lines: how the text of a tree gets its white space.

Lexbor's text of a tree is fast but knows no blocks: it glues `<td>a</td><td>b</td>`, and with a
separator it splits `w<b>or</b>d`. So before parsing, a form feed (white space to HTML, and used for
nothing else) is put behind every run of tags that are not inline; in the text, form feeds are the
ends of lines. What else was tried: text nodes inserted around the blocks of the tree, which
costs more than marks do; Resiliparse, whose text is the same character by character but glues the
cells of some tables.

Marking passes every tag, so it also tells what else is asked of the source before it is parsed.

Both steps are compiled where there was a C compiler at installation (`_blocks.c`), else regular
expressions do the same (`blocks_plain`) in three times the time: docs/decisions/0013.
"""

from enum import IntFlag
from typing import NamedTuple

try:
    from mannerly.parse._blocks import line as _line
    from mannerly.parse._blocks import lines as _lines
    from mannerly.parse._blocks import marked as _marked
except ImportError:
    from mannerly.parse.blocks_plain import line as _line
    from mannerly.parse.blocks_plain import lines as _lines
    from mannerly.parse.blocks_plain import marked as _marked


MARK = b"\f"
"""Where a line of the text ends."""


class Seen(IntFlag):
    """Elements that few pages have, so that only those that have them are asked for them."""

    TOP_HEADINGS = 1
    """`<h1>` to `<h3>`."""
    LOW_HEADINGS = 2
    """`<h4>` to `<h6>`."""
    STYLE = 4
    IFRAME = 8
    FRAME = 16
    FALLBACK = 32
    """`<noscript>`, `<noframes>`, `<noembed>`: for who does not know something."""
    PREFORMATTED = 64
    SCRIPT = 128


class Marked(NamedTuple):
    """A source with its marks, and what was seen on the way."""

    source: bytes
    tags: int
    """How many `<` it has."""
    seen: int
    """`Seen`, or more of it than there is: a tag in a comment counts."""
    left_open: int
    """Formatting elements (`<b>`, `<font>` and so on) with attributes that are not closed right
    behind their text, likewise at most."""
    longest: int
    """The longest stretch without a `>`, but for those in quoted values: no tag is longer. 0 for
    less than 64 kB, which is too little to do harm with."""


def marked(source: bytes) -> Marked:
    """`source` with a form feed wherever a line of its text ends."""
    return Marked(*_marked(source))


def lines(raw: str, limit: int) -> str:
    """The text of a tree whose source was `marked`: white space collapsed, one line per block, at
    most `limit` characters."""
    return _lines(raw, limit)


def line(raw: str, limit: int) -> str:
    """Some words of a page (a title, a heading): white space collapsed, at most `limit` characters,
    of which not much more are looked at."""
    return _line(raw, limit)
