"""hand_over, clock, export, restore: a crawl that goes to another engine, or comes from one."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from mannerly.errors import NoCrawlError
from mannerly.frontier.contract import Cursor, Kind
from mannerly.frontier.redis import listing, packing, sites
from mannerly.frontier.redis.connection import Part as Argument
from mannerly.frontier.redis.packing import BUCKETS
from mannerly.frontier.redis.session import NOW, Covered, Session
from mannerly.frontier.rows import (
    ClockReading,
    CountRow,
    Part,
    RobotsRow,
    Row,
    SettledRow,
    SiteRow,
    WaitingRow,
    WriterRow,
)

PORTION = 1000
ROBOTS_PORTION = 50
"""A body may have half a megabyte."""


def hand_over(session: Session, to: str) -> None:
    for answer in session.crawl_first("hand_over", to):
        if not answer[3]:
            raise NoCrawlError(f"there is no crawl in {session.where} to be handed over")


def clock(session: Session) -> ClockReading:
    crawl, *buckets = session.crawl_first("clock")
    up_at, rest_until = map(int, crawl[3:])
    rest_until = max(rest_until, up_at + session.clock.rest_ms(), *(int(it[4]) for it in buckets))
    return ClockReading(int(crawl[NOW]), up_at, rest_until)


def export(session: Session, part: Part) -> Iterator[list[Row]]:
    match part:
        case Part.SITES:
            return _sites(session)
        case Part.PENDING | Part.SPILT:
            return _waiting(session, Kind(part.value))
        case Part.SETTLED:
            return _settled(session)
        case Part.ROBOTS:
            return _robots(session)
        case Part.WRITERS:
            return _writers(session)


def _sites(session: Session) -> Iterator[list[Row]]:
    cursor: Cursor | None = (0, 1)
    while cursor is not None:
        bucket, first, found = listing.from_bucket(session, "packed_sites", *cursor, PORTION)[3:]
        if found:
            yield [packing.site_row(packed) for packed in found]
        cursor = (bucket, first) if bucket < BUCKETS else None


def _waiting(session: Session, kind: Kind) -> Iterator[list[Row]]:
    is_spilt = kind is Kind.SPILT
    cursor: Cursor | None = (0, 1)
    while cursor is not None:
        found, cursor = listing.waiting(session, kind, cursor, PORTION, with_excluded=True)
        rows: list[Row] = [
            WaitingRow(number, site, is_spilt, queued)
            for number, site, urls in found
            for queued in urls
        ]
        if rows:
            yield rows


def _settled(session: Session) -> Iterator[list[Row]]:
    after: Cursor | None = None
    while True:
        urls, after = listing.iterate(session, Kind.SETTLED, after, PORTION)
        if urls:
            yield [SettledRow(it.site, it.hash, it.outcome.value) for it in urls]
        if after is None:
            return


def _robots(session: Session) -> Iterator[list[Row]]:
    for bucket in range(BUCKETS):
        given: set[tuple[bytes, bytes]] = set()
        cursor: Argument = "0"
        while True:
            cursor, found = session.at(bucket, "robots_in", bucket, cursor, ROBOTS_PORTION)[3:]
            new = {(name, origin): packed for name, origin, packed in found}
            rows: list[Row] = [
                RobotsRow(key[0].decode(), key[1].decode(), *packing.robots_fields(packed))
                for key, packed in new.items()
                if key not in given
            ]
            given.update(new)
            if rows:
                yield rows
            if cursor == b"0":
                break


def _writers(session: Session) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for writer, label, *_ in session.call("writers")[3]:
        # In a Cluster this brings its last commit to its end.
        state = sites.writer_state(session, int(writer))
        assert state is not None, "the crawl was handed over: nothing is cleared"
        refused = tuple(sorted(state.refused))
        rows.append(WriterRow(int(writer), label.decode(), state.sequence, refused))
    if rows:
        yield rows


def restore(session: Session, mine: str, rows: Sequence[Row]) -> None:
    """In slices, several of them in one round trip; each may be sent again."""
    function, arguments = _RESTORED[type(rows[0])]
    batch: list[tuple[Covered, list[Argument]]] = []
    for covers, part in _by_node(session, rows):
        slices = [part[at : at + SLICE] for at in range(0, len(part), SLICE)]
        batch += [(covers, [mine, *arguments(it)]) for it in slices]
    session.calls(function, batch)


def _by_node(session: Session, rows: Sequence[Row]) -> Iterator[tuple[Covered, Sequence[Row]]]:
    """Rows that may go in one call, in their order, and the buckets that they are for."""
    if isinstance(rows[0], WriterRow):
        yield (), rows
    elif isinstance(rows[0], CountRow):
        yield from ((group, rows) for group in session.groups())
    else:
        of_bucket: dict[int, list[Any]] = {}
        for row in rows:
            of_bucket.setdefault(packing.bucket_of(row.site), []).append(row)  # type: ignore[union-attr]
        for group in session.groups(list(of_bucket)):
            yield group, [row for bucket in group for row in of_bucket[bucket]]


SLICE = 500
"""Rows a call: a few milliseconds, in which the server does nothing else."""


def _site_arguments(rows: Sequence[Any]) -> list[Argument]:
    found: list[Argument] = [len(rows)]
    for row in rows:
        found += (packing.bucket_of(row.site), packing.site(row))
    return found


def _waiting_arguments(rows: Sequence[Any]) -> list[Argument]:
    groups = [(site, list(urls)) for site, urls in groupby(rows, attrgetter("site"))]
    found: list[Argument] = [max(row.queued.seq for row in rows), len(groups)]
    for site, urls in groups:
        found += (packing.bucket_of(site), site, len(urls))
        for row in urls:
            it = row.queued
            found += (int(row.is_spilt), packing.place(it.priority, it.seq), packing.member(it))
    return found


def _settled_arguments(rows: Sequence[Any]) -> list[Argument]:
    groups = [(site, list(urls)) for site, urls in groupby(rows, attrgetter("site"))]
    found: list[Argument] = [len(groups)]
    for site, urls in groups:
        entries = b"".join([packing.entry(row.hash, row.outcome) for row in urls])
        found += (packing.bucket_of(site), site, entries)
    return found


def _robots_arguments(rows: Sequence[Any]) -> list[Argument]:
    found: list[Argument] = [len(rows)]
    for row in rows:
        packed = packing.robots(row.state, row.fetched_at, row.failures, row.body)
        found += (packing.bucket_of(row.site), row.site, row.origin, packed)
    return found


def _writer_arguments(rows: Sequence[Any]) -> list[Argument]:
    found: list[Argument] = [len(rows)]
    for row in rows:
        found += (row.writer, row.label, packing.retired_writer(row.sequence, row.refused))
    return found


def _count_arguments(rows: Sequence[Any]) -> list[Argument]:
    totals = {f"{row.name}:{row.part}": row.total for row in rows if row.name != "spilt_excluded"}
    excluded = sum(it.total for it in rows if it.name in ("pending_excluded", "spilt_excluded"))
    totals["urls_excluded:0"] = excluded
    pairs = [part for pair in totals.items() for part in pair]
    return [len(totals), *pairs]


_RESTORED = {
    SiteRow: ("restore_sites", _site_arguments),
    WaitingRow: ("restore_waiting", _waiting_arguments),
    SettledRow: ("restore_settled", _settled_arguments),
    RobotsRow: ("restore_robots", _robots_arguments),
    WriterRow: ("restore_writers", _writer_arguments),
    CountRow: ("restore_counts", _count_arguments),
}
