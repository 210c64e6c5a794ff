"""How many different queries a path has been asked with: filters and calendars have no end of them.

Counted for each host and path, numbers in them folded, about: a count takes 64 bytes and is right
to an eighth or so (HyperLogLog, Flajolet et al. 2007), however many there are and however often
each comes again. Of the paths that were not met for longest the count is forgotten.
"""

import math
import re
from collections import OrderedDict

from xxhash import xxh3_64_intdigest

PATHS = 20_000
"""Paths that are remembered, about 7 MB."""
_DIGITS = re.compile(r"[0-9]+")
_REGISTERS = 64
_ALPHA = 0.709
"""The bias of 64 registers."""


class DistinctCount:
    """About how many different hashes were put in."""

    __slots__ = ("_registers", "estimate")

    def __init__(self) -> None:
        self._registers = bytearray(_REGISTERS)
        self.estimate = 0.0

    def put(self, number: int) -> None:
        """`number`: an unsigned hash of 64 bits."""
        register, rest = number % _REGISTERS, number // _REGISTERS
        rank = (rest & -rest).bit_length() or 59
        if rank > self._registers[register]:
            self._registers[register] = rank
            self.estimate = self._estimated()

    def _estimated(self) -> float:
        raw = _ALPHA * _REGISTERS**2 / sum(2.0**-rank for rank in self._registers)
        empty = self._registers.count(0)
        if raw <= 2.5 * _REGISTERS and empty:
            return _REGISTERS * math.log(_REGISTERS / empty)
        return raw


class QueryVariants:
    """Tells when a path has had enough of them."""

    def __init__(self, limit: int, paths: int = PATHS) -> None:
        self._limit = limit
        self._paths = paths
        self._counts: OrderedDict[int, DistinctCount] = OrderedDict()

    def __len__(self) -> int:
        return len(self._counts)

    def too_many(self, url: str) -> bool:
        """Count a canonical URL, unless its path has reached the limit: then say so. A URL without
        a query is always one too few."""
        place, _, query = url.partition("?")
        if not query:
            return False
        key = xxh3_64_intdigest(_DIGITS.sub("0", place).encode())
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = DistinctCount()
            if len(self._counts) > self._paths:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(key)
        if count.estimate >= self._limit:
            return True
        count.put(xxh3_64_intdigest(query.encode()))
        return False
