"""A crawl is carried from one frontier to another, and what arrived is compared with what left.

Rows are streamed in portions: memory does not depend on the size of the crawl. Two things are not
carried as they are. **Instants** are shifted by the difference of the two clocks, and by
`MARGIN_MS` more, so that no site becomes ready earlier than it would have been; `judge` says at the
end whether the clocks parted by more than that meanwhile. **Places** in queues are numbered anew,
because engines have numbers of different widths; the order within a site is kept, of queue and
spill in common, and is part of what is compared.

Engines list sites in orders of their own, so what is compared is a sum over digests of rows, which
is the same in any order. It is not made to withstand an adversary who writes the rows.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from mannerly.errors import FrontierError
from mannerly.frontier.contract import Frontier
from mannerly.frontier.rows import (
    ClockReading,
    Part,
    RobotsRow,
    Row,
    SettledRow,
    SiteRow,
    WaitingRow,
    counts_of,
)

MARGIN_MS = 1000
DIGEST_BYTES = 16
PORTION = 2000

Told = Callable[[int], None]
"""Called with how many rows were just dealt with."""


class Shift(NamedTuple):
    """How instants of one clock become instants of another."""

    by_ms: int
    not_before_at: int
    """On the other clock: no site is ready earlier."""

    def of(self, row: Row) -> Row:
        match row:
            case SiteRow():
                return row._replace(ready_at=max(row.ready_at + self.by_ms, self.not_before_at))
            case RobotsRow():
                return row._replace(fetched_at=row.fetched_at + self.by_ms)
            case _:
                return row


def shift_between(source: ClockReading, target: ClockReading) -> Shift:
    """`source` was read first: what passed between makes sites late, never early."""
    by_ms = target.up_at - source.at + MARGIN_MS
    return Shift(by_ms, source.rest_until + by_ms)


def judge(shift: Shift, source: ClockReading, target: ClockReading) -> None:
    """`FrontierError` if sites would be early by clocks as they are read now."""
    if target.up_at - source.at > shift.by_ms:
        raise FrontierError(
            "the clocks of the two databases parted while the crawl was carried over; run it again"
        )


class Weight:
    """Counts and sums of digests, by part. Equal for equal crawls, in whatever order they come."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self._promised: Counter[str] = Counter()
        """What the rows of sites say of how many URLs wait."""
        self._sums: Counter[str] = Counter()
        self._last_site = ""
        self._index = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Those of waiting URLs must come in the order of their places."""
        for row in rows:
            part, content = self._canonical(row)
            digest = blake2b(repr(content).encode(), digest_size=DIGEST_BYTES).digest()
            self.rows[part] += 1
            self._sums[part] += int.from_bytes(digest)

    def _canonical(self, row: Row) -> tuple[str, tuple[object, ...]]:
        match row:
            case WaitingRow(_, site, is_spilt, queued):
                self._index = self._index + 1 if site == self._last_site else 0
                self._last_site = site
                part = Part.SPILT if is_spilt else Part.PENDING
                return part, (site, self._index, *queued._replace(seq=0))
            case SiteRow():
                self._promised[Part.PENDING] += row.pending
                self._promised[Part.SPILT] += row.spilt
                return Part.SITES, tuple(row)
            case SettledRow():
                return Part.SETTLED, tuple(row)
            case RobotsRow():
                return Part.ROBOTS, tuple(row)
            case _:
                return Part.WRITERS, tuple(row)

    def digests(self) -> dict[str, str]:
        """Of each part, in hexadecimal."""
        whole = 2 ** (8 * DIGEST_BYTES)
        return {part.value: f"{self._sums[part] % whole:032x}" for part in Part}

    def difference(self, other: "Weight") -> str:
        """Which part differs, and how; '' if none does."""
        mine, others = self.digests(), other.digests()
        for part in Part:
            if self.rows[part] != other.rows[part]:
                return f"{self.rows[part]:,} rows of {part.value} became {other.rows[part]:,}"
            if mine[part] != others[part]:
                return f"{part.value}: as many rows ({self.rows[part]:,}), but not the same"
        return ""

    def contradiction(self) -> str:
        """What the rows say of each other and is not so; '' if all is well."""
        for part in (Part.PENDING, Part.SPILT):
            if self._promised[part] != self.rows[part]:
                counted = f"{self._promised[part]:,} {part.value} URLs"
                return f"sites count {counted}, and {self.rows[part]:,} are there"
        return ""


async def copy(source: Frontier, target: Frontier, shift: Shift, told: Told) -> Weight:
    """Restore in `target`, which was cleared, all that `source` exports; what it weighs, on the
    clock of `target`. The crawl is not created by it."""
    weight = Weight()
    async for given in exported(source):
        rows = [shift.of(row) for row in given]
        weight.add(rows)
        await target.restore(rows)
        told(len(rows))
    await target.restore(counts_of(await source.stats()))
    return weight


async def weighed(frontier: Frontier, told: Told) -> Weight:
    """What a crawl weighs, as it is there."""
    weight = Weight()
    async for rows in exported(frontier):
        weight.add(rows)
        told(len(rows))
    return weight


async def exported(frontier: Frontier) -> AsyncIterator[Sequence[Row]]:
    """All rows, in the order in which they are restored, each portion of one kind."""
    async for portion in frontier.export(Part.SITES):
        yield portion
    async for portion in _waiting(frontier):
        yield portion
    for part in (Part.SETTLED, Part.ROBOTS, Part.WRITERS):
        async for portion in frontier.export(part):
            yield portion


async def _waiting(frontier: Frontier) -> AsyncIterator[list[Row]]:
    """Queues and spills as one listing in the order of places, which are numbered from 1 on."""
    listings = [_Listing(frontier.export(part)) for part in (Part.PENDING, Part.SPILT)]
    portion: list[Row] = []
    seq = 1
    while True:
        first, other = sorted([await it.head() for it in listings], key=lambda head: head.place)
        if not first.rows:
            break
        end = bisect_left(first.rows, other.place, key=_place) if other.rows else len(first.rows)
        for row in first.rows[:end]:
            assert isinstance(row, WaitingRow)
            portion.append(row._replace(queued=row.queued._replace(seq=seq)))
            seq += 1
        first.listing.drop(end)
        if len(portion) >= PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


def _place(row: Row) -> tuple[float, ...]:
    assert isinstance(row, WaitingRow)
    return (row.number, row.queued.priority, row.queued.seq)


class _Head(NamedTuple):
    listing: "_Listing"
    rows: Sequence[Row]
    """Empty at the end of the listing."""
    place: tuple[float, ...]
    """Of the first of them; behind all others at the end."""


class _Listing:
    """One listing, with the rows of it that were read and not given yet."""

    def __init__(self, portions: AsyncIterator[Sequence[Row]]) -> None:
        self._portions = portions
        self._rows: Sequence[Row] = ()

    async def head(self) -> _Head:
        if not self._rows:
            async for rows in self._portions:
                self._rows = rows
                break
        place = _place(self._rows[0]) if self._rows else (float("inf"),)
        return _Head(self, self._rows, place)

    def drop(self, count: int) -> None:
        self._rows = self._rows[count:]
