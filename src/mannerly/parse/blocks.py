"""Blocks and lines: how the text of a tree gets its white space.

Lexbor's text of a tree is fast but knows no blocks: it glues `<td>a</td><td>b</td>`, and with a
separator it splits `w<b>or</b>d`. So before parsing, a form feed (white space to HTML, and used for
nothing else) is put behind every run of tags that are not inline; in the text, form feeds are the
ends of lines. What else was tried: text nodes inserted around the blocks of the tree (four times
the cost), Python's own `re` (five times), Resiliparse (its text takes twice as long as all of this,
and glues table cells).

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
_BLOCK = rb"<(?!/?" + _INLINE + rb"[\s>/])/?[a-z]"
"""A tag that separates: all but the inline ones, so that elements nobody has heard of do."""
_RUN: Final = pcre2.compile(
    rb"(?:" + _BLOCK + rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>\s*+)++\K"
    rb"|(?=" + _BLOCK + rb")",  # a tag with a `<` or odd quotes in it: the mark goes in front
    pcre2.IGNORECASE,
    jit=True,
)
_PRE: Final = pcre2.compile(rb"<pre[\s>]", pcre2.IGNORECASE, jit=True)
_PRE_END: Final = pcre2.compile(rb"</pre", pcre2.IGNORECASE, jit=True)


def marked(source: bytes) -> bytes:
    """`source` with a form feed wherever a line of its text ends."""
    return _lines_kept(_RUN.sub(b"\f", source))


def _lines_kept(source: bytes) -> bytes:
    """Keep the lines of preformatted text."""
    start = _PRE.search(source)
    if start is None:
        return source
    parts: list[bytes] = []
    done = 0
    while start is not None:
        end = _PRE_END.search(source, start.end())
        if end is None:
            break
        parts += (
            source[done : start.end()],
            source[start.end() : end.start()].replace(b"\n", b"\f"),
        )
        done = end.start()
        start = _PRE.search(source, done)
    parts.append(source[done:])
    return b"".join(parts)


def lines(raw: str, limit: int) -> str:
    """The text of a tree whose source was `marked`: white space collapsed, one line per block."""
    raw = raw[: 4 * limit].replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if not raw.isascii():
        raw = raw.replace("\xa0", " ")
    return "\n".join(
        [
            # Most lines need nothing. To split them all into words costs four times as much, and a
            # substitution tries at every single blank.
            " ".join(line.split()) if "  " in line else line
            for block in raw.split("\f")
            if (line := block.strip())
        ]
    )[:limit]
