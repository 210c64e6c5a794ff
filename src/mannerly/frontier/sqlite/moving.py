"""hand_over, clock, export, restore: a crawl that goes to another engine, or comes from one."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mannerly.errors import NoCrawlError
from mannerly.frontier.contract import MOVED_TO
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
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.model import QueuedUrl

PORTION = 2000
ROBOTS_PORTION = 50
"""A body may have half a megabyte."""
BEFORE_ALL = -(2**63)

Fields = Sequence[Any]


def hand_over(database: Database, to: str) -> None:
    with database.writing("hand over") as transaction:
        (created,) = transaction.execute(statements.CREATED).fetchone()
        if not created:
            raise NoCrawlError(f"there is no crawl in {database.path} to be handed over")
        transaction.execute(statements.FORGET_SETTING, (MOVED_TO,))
        if not to:
            return
        transaction.execute(statements.ADD_SETTING, (MOVED_TO, to))
        transaction.execute(statements.DISCHARGE_ALL)
        transaction.execute(statements.FORGET_ALL_CRAWLERS)
        transaction.execute(statements.END_LEASES)


def clock(database: Database) -> ClockReading:
    with database.reading("clock") as view:
        return ClockReading(view.now.at, view.now.up_at, view.rest_until)


def export(database: Database, part: Part) -> Iterator[list[Row]]:
    """Each portion is a view of its own: an old one would keep the log from being copied."""
    statement, width, make, limit = _EXPORTS[part]
    after: Fields = (BEFORE_ALL,) * width
    while True:
        with database.reading("export", rows=limit) as view:
            found = view.execute(statement, (*after, limit)).fetchall()
        if found:
            yield [make(fields) for fields in found]
        if len(found) < limit:
            return
        after = found[-1][-width:]


def _waiting(fields: Fields, *, is_spilt: bool) -> Row:
    key, *queued, site, _, _ = fields
    return WaitingRow(site, key, is_spilt, QueuedUrl._make(queued))


def _writer(fields: Fields) -> Row:
    writer, label, sequence, refused, _ = fields
    return WriterRow(writer, label, sequence, tuple(sorted(json.loads(refused))))


_EXPORTS: dict[Part, tuple[str, int, Callable[[Fields], Row], int]] = {
    Part.SITES: (statements.EXPORT_SITES, 1, lambda it: SiteRow(*it[:-1]), PORTION),
    Part.PENDING: (
        statements.EXPORT_PENDING, 3, lambda it: _waiting(it, is_spilt=False), PORTION),
    Part.SPILT: (statements.EXPORT_SPILT, 3, lambda it: _waiting(it, is_spilt=True), PORTION),
    Part.SETTLED: (statements.EXPORT_SETTLED, 2, lambda it: SettledRow(*it[:3]), PORTION),
    Part.ROBOTS: (statements.EXPORT_ROBOTS, 1, lambda it: RobotsRow(*it[:-1]), ROBOTS_PORTION),
    Part.WRITERS: (statements.EXPORT_WRITERS, 1, _writer, PORTION),
}  # fmt: skip
"""The statement, how many of its last columns say where it goes on, what is made of a row, and how
many rows make a portion."""


def restore(transaction: Transaction, rows: Sequence[Row]) -> None:
    many = transaction.executemany
    match rows[0]:
        case SiteRow():
            sites = [row for row in rows if isinstance(row, SiteRow)]
            many(statements.RESTORE_SITE, [(row.site,) for row in sites])
            many(statements.RESTORE_CLOCK, [(*row[1:], row.has_work, row.site) for row in sites])
        case WaitingRow():
            _restore_waiting(transaction, [row for row in rows if isinstance(row, WaitingRow)])
        case SettledRow():
            ids = _ids(transaction, rows)
            settled = [(ids[it.site], *it[1:]) for it in rows if isinstance(it, SettledRow)]
            many(statements.RESTORE_SETTLED, settled)
        case RobotsRow():
            ids = _ids(transaction, rows)
            records = [(ids[it.site], *it[1:]) for it in rows if isinstance(it, RobotsRow)]
            many(statements.LEARN_ROBOTS, records)
        case WriterRow():
            writers = [(*it[:3], json.dumps(it[3])) for it in rows if isinstance(it, WriterRow)]
            many(statements.RESTORE_WRITER, writers)
        case CountRow():
            transaction.execute(statements.FORGET_TALLY)
            for row in rows:
                assert isinstance(row, CountRow)
                count(transaction, NOBODY, Name(row.name), row.total, row.part)
                if row.name == "spilt_excluded":
                    # Those of excluded sites are among the spilt ones here, and are taken off.
                    count(transaction, NOBODY, Name.URLS_SPILT, row.total)


def _restore_waiting(transaction: Transaction, rows: Sequence[WaitingRow]) -> None:
    ids = _ids(transaction, rows)
    seen, queue, spill = [], [], []
    for _, key, is_spilt, it in rows:
        site = ids[key]
        row = (site, it.priority, it.seq, it.hash, it.url, it.depth, it.source, it.referrer)
        if is_spilt:
            spill.append(row)
        else:
            queue.append((*row, it.tries))
            seen.append((site, it.hash))
    many = transaction.executemany
    many(statements.SEE, sorted(seen))
    many(statements.RESTORE_QUEUED, queue)
    many(statements.SPILL, spill)
    transaction.next_seq = max(transaction.next_seq, rows[-1].queued.seq + 1)


def _ids(transaction: Transaction, rows: Sequence[Row]) -> dict[str, int]:
    keys = {row.site for row in rows if isinstance(row, WaitingRow | SettledRow | RobotsRow)}
    return dict(transaction.execute(statements.FIND_SITES, (json.dumps(sorted(keys)),)))
