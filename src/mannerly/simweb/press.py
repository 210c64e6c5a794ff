"""Page bodies, cheaply: passages of text are written and compressed once and then put together.

A page is a head of its own (title, navigation, links), many passages from a pool, and a foot. For
gzip the passages were compressed beforehand, each ending on a byte border with its dictionary
reset (`Z_FULL_FLUSH`), so a whole deflate stream is made by joining; only the head is compressed
per page. What comes out is the same text either way.
"""

import random
import struct
import zlib
from typing import NamedTuple

from isal import isal_zlib

from mannerly.simweb.graph import Drawn
from mannerly.simweb.words import WORDS

PASSAGES = 256
_STRIDES = (1, 3, 5, 7, 11, 13, 17, 19)
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_DEFLATE_END = b"\x03\x00"


_STYLE = (
    "<style>body{font:16px/1.5 serif;max-width:60em;margin:auto}nav li{display:inline}"
    "td{border:1px solid #ccc}a:hover{color:#a00}</style>"
)
_FOOT = """\
<footer><p>&copy; 2026 The editors. <small>Printed on recycled electrons.</small></p></footer>
<script>document.documentElement.className="js";var hits=[1,2,3].map(function(n){return n*2});\
if(hits.length<2&&"<a href='/not-a-link'>"){console.log("never")}</script>
</main></body></html>
"""


class Sheet(NamedTuple):
    """A piece of page, plain and as a piece of a deflate stream."""

    plain: bytes
    packed: bytes


class Marks(NamedTuple):
    """What a page says about itself in its head."""

    title: str
    language: str
    canonical: str
    robots: str
    """The content of its robots meta tag, '' for none."""
    charset: str = "utf-8"
    """What its meta tag declares, '' for nothing."""


class Press:
    """The pool of passages of one seed. Takes about 0.2 s to make and a few MB to keep."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        weights = [1 / (rank + 3) for rank in range(len(WORDS))]
        words = rng.choices(WORDS, weights, k=60_000)
        self._pool = [_pack(_passage(rng, words)) for _ in range(PASSAGES)]
        self.passage_mean = sum(len(sheet.plain) for sheet in self._pool) / PASSAGES
        self._foot = _pack(_FOOT)

    def sheets(self, head: str, key: int, size: int) -> list[Sheet]:
        """The sheets of a page of about `size` bytes; `key` chooses the passages."""
        front = head.encode()
        room = size - len(front) - len(self._foot.plain)
        count = max(1, round(room / self.passage_mean))
        stride = _STRIDES[key & 7]
        start = (key >> 3) % PASSAGES
        pool = self._pool
        return [
            Sheet(front, b""),
            *[pool[at % PASSAGES] for at in range(start, start + count * stride, stride)],
            self._foot,
        ]

    def gzipped(self, sheets: list[Sheet]) -> bytes:
        """The sheets as one gzip member."""
        packer = isal_zlib.compressobj(1, isal_zlib.DEFLATED, -15)
        front = packer.compress(sheets[0].plain) + packer.flush(isal_zlib.Z_FULL_FLUSH)
        plain = b"".join([sheet.plain for sheet in sheets])
        packed = [sheet.packed for sheet in sheets]
        packed[0] = _GZIP_HEAD + front
        packed.append(_DEFLATE_END)
        packed.append(struct.pack("<II", isal_zlib.crc32(plain), len(plain)))
        return b"".join(packed)


def head(marks: Marks, links: Drawn, lead: str) -> str:
    """The top of a page: everything in it that is the page's own."""
    lines = [f'<!doctype html>\n<html lang="{marks.language}">\n<head>\n']
    if marks.charset:
        lines.append(f'<meta charset="{marks.charset}">\n')
    lines.append(
        f"<title>{marks.title}</title>\n"
        f'<meta name="description" content="{lead[:80]}">\n'
        f'<link rel="canonical" href="{marks.canonical}">\n'
    )
    if marks.robots:
        lines.append(f'<meta name="robots" content="{marks.robots}">\n')
    lines.append(f"{_STYLE}\n</head>\n<body>\n<nav><ul>\n")
    start = len(lead) & 31
    titles = _TITLES[start : start + len(links.hrefs)]
    entries = [
        f'<li><a href="{href}">{title}</a></li>\n'
        for href, title in zip(links.hrefs, titles, strict=True)
    ]
    for at in links.nofollow:
        entries[at] = entries[at].replace('">', _NOFOLLOW, 1)
    lines += entries[:10]
    lines.append(f"</ul></nav>\n<main>\n<h1>{marks.title}</h1>\n<p>{lead}</p>\n<ul>\n")
    lines += entries[10:]
    lines.append("</ul>\n")
    return "".join(lines)


_NOFOLLOW = '" rel="nofollow noopener">'
_TITLES = [f"{first.capitalize()} {second}" for first in WORDS[144:176] for second in WORDS[:64]]


def _pack(text: str) -> Sheet:
    plain = text.encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return Sheet(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


def _passage(rng: random.Random, words: list[str]) -> str:
    """About five kilobytes of headings, paragraphs, a list and a table."""

    turns = [" ".join(words[at : at + 5]) for at in rng.sample(range(len(words) - 5), 24)]

    def prose(count: int) -> str:
        """Words, every other handful of them a turn of phrase that this passage likes."""
        start = rng.randrange(len(words) - count)
        if count < 5:
            return " ".join(words[start : start + count])
        fresh = (" ".join(words[at : at + 5]) for at in range(start, start + count // 2, 5))
        return " ".join(f"{few} {rng.choice(turns)}" for few in fresh)

    parts = [f'<section class="passage wide"><h2 class="heading">{prose(4)}</h2>\n']
    parts += [
        f'<p class="text body">{prose(30)} <em>{prose(3)}</em> {prose(40)}, <b>{prose(2)}</b> '
        f"{prose(25)}. <code>x &lt; {rng.randrange(100)}</code> {prose(20)}.</p>\n"
        for _ in range(rng.randint(3, 5))
    ]
    rows = "".join(
        f'<tr class="row"><td class="name">{prose(2)}</td><td class="number">'
        f"{rng.randrange(10_000)}</td><td>&ndash;</td></tr>\n"
        for _ in range(rng.randint(4, 12))
    )
    parts.append(f'<table class="figures">\n<tr><th>&sum;</th><th>No.</th></tr>\n{rows}</table>\n')
    items = "".join(f'<li class="item">{prose(6)}</li>\n' for _ in range(rng.randint(3, 10)))
    parts.append(f'<ul class="list plain">\n{items}</ul>\n')
    if rng.random() < 0.3:
        parts.append(f"<blockquote>{prose(25)}<br>{prose(12)}</blockquote>\n<!-- {prose(5)} -->\n")
    parts.append("</section>\n")
    return "".join(parts)
