"""Documents made to cost a parser time or memory, made harmless before they are parsed.

The HTML standard has algorithms that are not linear, and Lexbor does what the standard says. What
was measured with it:

- 2,000 `<b id=...>` in a `<p>`, then 2,000 times `<p>x`: each block opens them all again. 29 kB
  of HTML, 1.4 GB of memory.
- 100,000 open `<div>`: every start tag looks through all that are open. 500 kB, over 20 s.

Small documents cannot do much harm, and counting a few characters tells which are small; only the
others are looked at. What is found is renamed (formatting elements: they mean nothing to us) or
cut off (what follows the 400th level). What is long rather than deep was cropped before (`crop`).
"""

import re
from typing import Final

import pcre2

from mannerly.parse.blocks_plain import FORMATTING

_MAX_COPIES = 120_000
"""Elements that reopened formatting may add: about 43 MB for as long as a page is parsed."""
_MANY_TAGS = 10_000
"""With fewer, depth costs at most a quarter of a second."""
_MAX_DEPTH = 400

_FORMATTING_TAG: Final = pcre2.compile(
    rb"</?\K(?=" + FORMATTING + rb"[\s/>])", pcre2.IGNORECASE, jit=True
)

_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)(/>)?")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_IMPLIED_END = frozenset(
    b"p li dd dt option optgroup tr td th tbody thead tfoot colgroup caption rp rt".split()
)
_LEAVES_SVG = frozenset(
    b"body br center div dl dd dt em h1 h2 h3 h4 h5 h6 head hr i img li menu meta nobr ol p pre"
    b" ruby s small span strong strike sub sup table tt u ul var".split()
)


def defused(body: bytes, tags: int, left_open: int) -> bytes:
    """`body`, or a form of it that is parsed in bounded time and memory.

    `tags`: how many `<` it has, at most. `left_open`: see `blocks`. Formatting elements that are
    left open, and reopened at every block, could become too many; without attributes they cannot:
    the standard keeps three of a kind.
    """
    if tags > _MANY_TAGS or left_open * tags > _MAX_COPIES:
        body = _FORMATTING_TAG.sub(b"x-", body)
    if tags > _MANY_TAGS:
        body = body[: _shallow(body)]
    return body


def _shallow(body: bytes) -> int:
    """How far `body` goes before its elements are nested too deeply.

    An estimate that may be off by the few levels a table row adds, but cannot be talked down: an
    end tag counts only where it closes the innermost element, or one of those whose end is implied.
    """
    open_elements: list[bytes] = []
    in_svg = False
    for tag in _TAG.finditer(body):
        end, name, self_closing = tag.groups()
        name = name.lower()
        if name in _VOID:
            continue
        if end:
            top = len(open_elements) - 1
            while top >= 0 and open_elements[top] != name and open_elements[top] in _IMPLIED_END:
                top -= 1
            if top >= 0 and open_elements[top] == name:
                del open_elements[top:]
                in_svg = in_svg and name != b"svg"
            continue
        if name == b"svg":
            in_svg = True
        elif name in _LEAVES_SVG:
            in_svg = False
        if self_closing and in_svg:
            continue
        if name in _IMPLIED_END:
            while open_elements and open_elements[-1] in _IMPLIED_END:
                open_elements.pop()
        open_elements.append(name)
        if len(open_elements) > _MAX_DEPTH:
            return tag.start()
    return len(body)
