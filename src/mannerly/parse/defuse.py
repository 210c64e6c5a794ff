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

from typing import Final

import pcre2

from mannerly.parse.blocks_plain import FORMATTING

try:
    from mannerly.parse._blocks import shallow as _shallow
except ImportError:
    from mannerly.parse.defuse_plain import shallow as _shallow

_MAX_COPIES = 120_000
"""Elements that reopened formatting may add: about 43 MB for as long as a page is parsed."""
_MANY_TAGS = 10_000
"""With fewer, depth costs at most a quarter of a second."""
_MAX_DEPTH = 400

_FORMATTING_TAG: Final = pcre2.compile(
    rb"</?\K(?=" + FORMATTING + rb"[\s/>])", pcre2.IGNORECASE, jit=True
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
        body = body[: _shallow(body, _MAX_DEPTH)]
    return body
