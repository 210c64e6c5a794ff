"""Blocks and lines: how the text of a tree gets its white space.

Lexbor's text of a tree is fast but knows no blocks: it glues `<td>a</td><td>b</td>`, and with a
separator it splits `w<b>or</b>d`. So before parsing, a form feed (white space to HTML, and used for
nothing else) is put behind every run of tags that are not inline; in the text, form feeds are the
ends of lines. What else was tried: text nodes inserted around the blocks of the tree, which
costs more than marks do; Python's own `re`, which takes five times as long; Resiliparse, whose text
is the same character by character but glues the cells of some tables.

The patterns are compiled to machine code by PCRE2. All repeats are possessive and stop at the next
`<`, so that they are linear in whatever they are given.
"""

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


def marked(source: bytes) -> bytes:
    """`source` with a form feed wherever a line of its text ends."""
    return _lines_kept(_RUN.sub(_MARK, source))


def _lines_kept(source: bytes) -> bytes:
    """Keep the lines of preformatted text."""
    first = _PRE.search(source)
    if first is None:
        return source
    tag: bytes = source[first.start() : first.start() + 4]  # in capitals or not, as the page has it
    end_tag = b"</" + tag[1:]
    parts = source[first.start() + 4 :].split(tag)
    for n, part in enumerate(parts):
        inside, end, after = part.partition(end_tag)
        if end:
            parts[n] = inside.replace(b"\n", b"\f") + end + after
    return tag.join((source[: first.start()], *parts))


def lines(raw: str, limit: int) -> str:
    """The text of a tree whose source was `marked`: white space collapsed, one line per block."""
    raw = raw[: 4 * limit].replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if not raw.isascii():
        raw = raw.replace("\xa0", " ")
    return "\n".join(
        [
            # To split a line at every blank costs four times as much, and a regular expression has
            # to try at each of them.
            line if len(parts := line.split("  ")) == 1 else _joined(parts)
            for block in raw.split("\f")
            if (line := block.strip())
        ]
    )[:limit]


def _joined(parts: list[str]) -> str:
    return " ".join([text for part in parts if (text := part.strip())])
