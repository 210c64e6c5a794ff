"""SimHash: 64 bits of a text that differ in few places where two texts differ in few words.

Each word votes on each bit, together with what follows it, by its own hash; the majority decides
(Charikar 2002; Manku et al. 2007 for web pages). A feature is the 16 bytes from the start of a
word, about three words, so that the order of words counts; where a script has no spaces, each
character starts one. The arithmetic is numpy's: hashing word by word in Python costs twenty
times as much.
"""

from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

MAX_FEATURES = 1_024
"""Of a longer text a sample votes, drawn by the features' own hashes: texts that are alike give
samples that are alike, and a long page costs no more than a middling one."""
MAX_CHARS = 200_000

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_UNSPACED = 0xE3
"""The first byte of CJK characters, kana and hangul in UTF-8, or higher."""
_PAD = b" " * 16
_DIGITS = b"0123456789"


class TextPrint(NamedTuple):
    """What is kept of a text to know it again."""

    simhash: int
    """Signed 64 bits; 0 for a text without words."""
    but_for_digits: int
    """Hash of the text without its digits, signed: equal for the pages of an empty calendar."""


def text_print(text: str) -> TextPrint:
    """Under 0.1 ms for 10 kB of text."""
    data = text[:MAX_CHARS].lower().encode("utf-8", "replace")
    rest: int = xxh3_64_intdigest(data.translate(None, _DIGITS))
    return TextPrint(_simhash(data), _signed(rest))


def distance(one: int, other: int) -> int:
    """In how many bits two hashes differ: 0 to 64, around 32 for texts that share nothing."""
    return ((one ^ other) & 0xFFFFFFFFFFFFFFFF).bit_count()


def _simhash(data: bytes) -> int:
    padded = b" " + data + _PAD
    octets = np.frombuffer(padded, np.uint8)[: len(data) + 1]
    here = octets[1:]
    begins = ((octets[:-1] <= 32) & (here > 32)) | (here >= _UNSPACED)
    at = np.flatnonzero(begins)
    if not len(at):
        return 0
    # Eight bytes from every offset, without a copy: a view whose steps are shorter than its items.
    eights: np.ndarray[tuple[int], np.dtype[np.uint64]] = np.ndarray(
        (len(padded) - 7,), "<u8", padded, 0, (1,)
    )
    hashes = eights[at + 1] * _FIRST ^ eights[at + 9] * _SECOND
    hashes ^= hashes >> _HALF
    hashes *= _THIRD
    hashes ^= hashes >> _HALF
    while len(hashes) > MAX_FEATURES:
        hashes = hashes[hashes & _ONE == 0] >> _ONE
    votes = np.unpackbits(hashes.view(np.uint8)).reshape(-1, 64)
    # A product with ones would take 7 us less, and 32 MiB for what BLAS sets aside.
    counts = np.add.reduce(votes, axis=0, dtype=np.uint16)
    return _signed(int.from_bytes(np.packbits(counts * 2 > len(votes)).tobytes(), "big"))


def _signed(unsigned: int) -> int:
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned
