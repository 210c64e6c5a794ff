"""A page without what nobody here reads: comments, scripts, style sheets, most attributes.

A fifth of a page is `class="..."` and the like, and the parser makes an object of each. Left out
before, a page costs a seventh less, and what hides a part of it has been seen on the way. What is
parsed from the rest is the same: a test compares both.

Compiled where there was a C compiler at installation (`_bare.c`). Without one the page is left as
it is: regular expressions would take longer than the parser does.
"""

from enum import IntFlag
from typing import NamedTuple

try:
    from mannerly.parse._bare import bared as _bared
except ImportError:

    def _bared(source: bytes, /) -> tuple[bytes, int]:
        return source, Left.REST


class Left(IntFlag):
    """What there is in a bare page, as far as somebody must look for it."""

    HIDDEN = 1
    """The attribute `hidden` or `aria-hidden`."""
    DISPLAY = 2
    """A `style` that says something about `display`."""
    REST = 4
    """From somewhere on it is as it was, so it may have anything."""


class Bare(NamedTuple):
    source: bytes
    left: int
    """`Left`."""


def bared(source: bytes) -> Bare:
    """`source`, which is UTF-8, without what has no influence on what is read of it. Not for who
    looks at classes: they are gone."""
    return Bare(*_bared(source))
