"""Pages in other character encodings, with the declarations one meets."""

import random
from typing import NamedTuple

from mannerly.simweb.graph import Drawn
from mannerly.simweb.press import Marks, head
from mannerly.simweb.words import CHINESE, CYRILLIC, JAPANESE, LATIN


class Encoding(NamedTuple):
    """How a page is encoded and what it says about that."""

    codec: str
    header: str
    """The charset in Content-Type, '' for none."""
    meta: str
    """The charset in the page, '' for none."""
    words: list[str]


ENCODINGS = (
    Encoding("iso-8859-1", "iso-8859-1", "iso-8859-1", LATIN[:5] + LATIN[6:]),
    Encoding("iso-8859-1", "", "iso-8859-1", LATIN[:5] + LATIN[6:]),
    Encoding("windows-1252", "utf-8", "windows-1252", LATIN),  # the header is wrong
    Encoding("windows-1251", "windows-1251", "", CYRILLIC),
    Encoding("windows-1251", "", "windows-1251", CYRILLIC),
    Encoding("windows-1251", "", "", CYRILLIC),
    Encoding("shift_jis", "Shift_JIS", "", JAPANESE),
    Encoding("shift_jis", "", "shift_jis", JAPANESE),
    Encoding("gb18030", "", "gb18030", CHINESE),
    Encoding("gb18030", "GB18030", "gb18030", CHINESE),
    Encoding("utf-16", "utf-16", "", JAPANESE),  # with a byte order mark
    Encoding("utf-16", "", "", LATIN),
    Encoding("utf-8", "", "utf-8", CHINESE),
    Encoding("utf-8", "iso-8859-1", "utf-8", LATIN),  # the header is wrong
)


def encoding_of(key: int) -> Encoding:
    return ENCODINGS[(key >> 44) % len(ENCODINGS)]


def content_type(encoding: Encoding) -> str:
    return f"text/html; charset={encoding.header}" if encoding.header else "text/html"


def document(encoding: Encoding, key: int, marks: Marks, links: Drawn) -> bytes:
    """A smaller page than most: some paragraphs in the encoding's own language."""
    rng = random.Random(key)
    paragraphs = [
        f"<p>{' '.join(rng.choices(encoding.words, k=60))}.</p>\n"
        for _ in range(rng.randint(4, 20))
    ]
    top = head(marks._replace(charset=encoding.meta), links, " ".join(encoding.words))
    text = top + "".join(paragraphs) + "</main></body></html>\n"
    return text.encode(encoding.codec)
