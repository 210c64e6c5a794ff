"""`blocks` where no C compiler was at hand: regular expressions, compiled by PCRE2.

All repeats are possessive and stop at the next `<`, so that they are linear in whatever they are
given. Python's own `re` takes five times as long.
"""

import re
from typing import Final

import pcre2

_INLINE = (
    rb"(?:a(?:bbr|cronym)?|b(?:d[io]|ig)?|c(?:ite|ode)|d(?:ata|el|fn)|em|font|g"
    rb"|i(?:mg|n(?:put|s))?|kbd|l(?:abel|ink)|m(?:ark|eta)|nobr|path|q|r(?:uby|[bpt])"
    rb"|s(?:amp|cript|mall|pan|t(?:rike|rong|yle)|u[bp]|vg)?|t(?:ime|t)|u(?:se)?|var|wbr)"
)
_BLOCK = rb"<(?!/?" + _INLINE + rb"[\s>/])(?=/?[a-z])"
"""Where a tag begins that separates: all but the inline ones, so that elements nobody has heard of
do."""
_REST = rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>\s*+"
_RUN: Final = pcre2.compile(
    _BLOCK + rb"(?:" + _REST + rb"(?:" + _BLOCK + _REST + rb")*+\K|())",
    pcre2.IGNORECASE,
    jit=True,
)
"""A run of such tags; or the `<` of one with another `<` or odd quotes in it, and then the group is
set. It must begin with a character: where it begins with an assertion, every byte is tried."""
_MARK = b"${1:+\f<:\f}"
_PRE: Final = pcre2.compile(rb"<pre[\s>]", pcre2.IGNORECASE, jit=True)
_PRE_END: Final = pcre2.compile(rb"</pre", pcre2.IGNORECASE, jit=True)
FORMATTING = rb"([bius]|em|tt|big|code|font|nobr|s(?:mall|tr(?:ike|ong)))"
_ATTRIBUTES = (
    rb"(?:[\s/]++(?:[^\s/<>\"'=]++(?:\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++(?=[\s>]))"
    rb")?+)?+)*+>"
)
"""The rest of a tag, if it is written so plainly that nobody can see its end elsewhere."""
_LEFT_OPEN: Final = pcre2.compile(
    rb"<" + FORMATTING + rb"(?=[\s/])"
    rb"(?!" + _ATTRIBUTES + rb"(?:[^<]++|</span>|<span" + _ATTRIBUTES + rb")*+</\1>)",
    pcre2.IGNORECASE,
    jit=True,
)
"""A formatting element with attributes that is not closed again right behind its text."""
_SEEN: Final = tuple(
    (1 << bit, pcre2.compile(source, pcre2.IGNORECASE, jit=True))
    for bit, source in enumerate(
        (
            rb"<h[1-3]",
            rb"<h[4-6]",
            rb"</?style[\s>/]",
            rb"</?iframe[\s>/]",
            rb"</?frame[\s>/]",
            rb"</?no(?:script|frames|embed)[\s>/]",
            rb"<pre[\s>]",
            rb"</?script[\s>/]",
        )
    )
)
"""In the order of `blocks.Seen`."""
MANY_BYTES = 64 * 1024
"""With fewer, the attributes of one tag cost at most a third of a second."""
HIDDEN_END = re.compile(rb"=\s*+(?:\"[^\">]*+>[^\"]*+|'[^'>]*+>[^']*+)")
"""A quoted value with a `>` in it, as it would stand in a tag."""


def marked(source: bytes) -> tuple[bytes, int, int, int, int]:
    seen = sum(bit for bit, pattern in _SEEN if pattern.search(source))
    left_open: int = _LEFT_OPEN.subn(b"", source)[1]
    return (
        _lines_kept(_RUN.sub(_MARK, source)),
        source.count(b"<"),
        seen,
        left_open,
        _longest(source),
    )


def _longest(source: bytes) -> int:
    if len(source) <= MANY_BYTES:
        return 0
    stretches = HIDDEN_END.sub(lambda hidden: b"=" * len(hidden[0]), source).split(b">")
    return max(map(len, stretches))


def _lines_kept(source: bytes) -> bytes:
    """Keep the lines of preformatted text."""
    parts = []
    copied = 0
    while begin := _PRE.search(source, copied):
        end = _PRE_END.search(source, begin.end())
        if end is None:
            break
        parts.append(source[copied : begin.start()])
        parts.append(source[begin.start() : end.start()].replace(b"\n", b"\f"))
        copied = end.start()
    return b"".join((*parts, source[copied:]))


def line(raw: str, limit: int) -> str:
    return " ".join(raw[: 8 * limit].split())[:limit]


def lines(raw: str, limit: int) -> str:
    return "\n".join(
        [" ".join(words) for block in raw[: 4 * limit].split("\f") if (words := block.split())]
    )[:limit]
