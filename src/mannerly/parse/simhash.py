"""SimHash: 64 bits of a text that differ in few places where two texts differ in few words.

Each word votes on each bit, together with what follows it, by its own hash; the majority decides
(Charikar 2002; Manku et al. 2007 for web pages). A feature is the 16 bytes from the start of a
word, about three words, so that the order of words counts; where a script has no spaces, each
character starts one.

Every page that is read is compared with those read before, so this is part of what every page
costs. Compiled where there was a C compiler at installation (`_simhash.c`), else as
`simhash_plain` has it, in three times the time: docs/decisions/0015.
"""

from array import array
from enum import IntEnum
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.parse import simhash_plain
from mannerly.quick import quick

try:
    from mannerly.parse._simhash import among as _among
    from mannerly.parse._simhash import printed as _printed
except ImportError:
    _among = simhash_plain.among

    def _printed(text: str, limit: int, /) -> tuple[int, bytes] | None:
        return None


MAX_CHARS = 200_000
ROW = 4
"""Numbers that are kept of a page: see `among`."""
NEAR_BITS = 6
"""Up to so many bits of 64 are near. Measured on texts of 1,550 words: 8 words changed give 2 to 6
bits, 32 words 3 to 11, unrelated texts more than 15."""


class Alike(IntEnum):
    """How a page is like another."""

    NOT = 0
    EXACT = 1
    """The same bytes."""
    NEAR = 2
    """Almost the same words."""
    BUT_FOR_DIGITS = 3
    """The same words with other numbers."""


@quick
class TextPrint(NamedTuple):
    """What is kept of a text to know it again."""

    simhash: int
    """Signed 64 bits; 0 for a text without words."""
    but_for_digits: int
    """Hash of the text without its digits, signed: equal for the pages of an empty calendar."""


def text_print(text: str) -> TextPrint:
    # None also for capitals whose lower case only Python knows (a final sigma).
    found = _printed(text, MAX_CHARS) or simhash_plain.printed(text, MAX_CHARS)
    digest: int = xxh3_64_intdigest(found[1])
    return TextPrint(found[0], digest - 2**64 if digest >= 2**63 else digest)


def distance(one: int, other: int) -> int:
    """In how many bits two hashes differ: 0 to 64, around 32 for texts that share nothing."""
    return ((one ^ other) & 0xFFFFFFFFFFFFFFFF).bit_count()


def among(pages: "array[int]", content_hash: int, text: TextPrint) -> tuple[int, int]:
    """How a page is like one of others (`Alike`), and that one's number.

    `pages` has a row of `ROW` for each: hash of its content, simhash, hash without digits, number.
    The first of those with the same bytes, else the nearest, else the first with other numbers.
    """
    return _among(pages, content_hash, text.simhash, text.but_for_digits, NEAR_BITS)
