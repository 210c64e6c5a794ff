"""`simhash` where no C compiler was at hand, and for the capitals whose lower case only Python
knows. The arithmetic is numpy's: hashing word by word in Python costs twenty times as much."""

from array import array

import numpy as np

MAX_FEATURES = 1_024
"""Of a longer text a sample votes, drawn by the features' own hashes: texts that are alike give
samples that are alike, and a long page costs no more than a middling one."""

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_UNSPACED = 0xE3
"""The first byte of CJK characters, kana and hangul in UTF-8, or higher."""
_PAD = b" " * 16
_DIGITS = b"0123456789"


def printed(text: str, limit: int) -> tuple[int, bytes]:
    data = text[:limit].lower().encode("utf-8", "replace")
    return _simhash(data), data.translate(None, _DIGITS)


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
    unsigned = int.from_bytes(np.packbits(counts * 2 > len(votes)).tobytes(), "big")
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned


def among(
    pages: "array[int]", content: int, simhash: int, rest: int, near: int, /
) -> tuple[int, int]:
    contents, simhashes, rests, numbers = np.frombuffer(pages, np.int64).reshape(-1, 4).T
    same = np.flatnonzero(contents == content)
    if len(same):
        return 1, int(numbers[same[0]])
    if not simhash or not len(numbers):
        return 0, 0
    # `bitwise_count` of a negative number counts the bits of its absolute value: view as unsigned.
    bits = np.bitwise_count((simhashes ^ np.int64(simhash)).view(np.uint64))
    bits[simhashes == 0] = 64
    nearest = int(bits.argmin())
    if bits[nearest] <= near:
        return 2, int(numbers[nearest])
    same = np.flatnonzero(rests == rest)
    return (3, int(numbers[same[0]])) if len(same) else (0, 0)
