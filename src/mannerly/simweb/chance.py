"""Chance as a function: the same salt and key always give the same number.

Every fact of the simulated web comes from here, so that it can be asked for in any order, on any
process, without a table. `random.Random` was rejected for this: seeding one costs more than a
whole page's worth of these.
"""

import struct
from hashlib import shake_128

from xxhash import xxh3_64_intdigest


def draw(salt: int, key: bytes) -> int:
    """A number of 64 bits."""
    number: int = xxh3_64_intdigest(key, salt)
    return number


def numbered(salt: int, index: int) -> int:
    """`draw` for a plain index: what pages and sites are made from."""
    number: int = xxh3_64_intdigest(index.to_bytes(8, "little"), salt)
    return number


def unit(number: int) -> float:
    """The number as a float in [0, 1)."""
    return (number >> 11) / 9007199254740992.0


def stream(salt: int, index: int, count: int) -> tuple[int, ...]:
    """`count` numbers of 64 bits at once: cheaper than as many draws."""
    key = salt.to_bytes(8, "little") + index.to_bytes(8, "little")
    return struct.unpack(f"<{count}Q", shake_128(key).digest(8 * count))
