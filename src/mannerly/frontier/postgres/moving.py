"""hand_over, clock, export, restore: a crawl that goes to another engine, or comes from one."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from mannerly.errors import NoCrawlError
from mannerly.frontier.contract import MOVED_TO
from mannerly.frontier.postgres import statements
from mannerly.frontier.postgres.adding import PLACES
from mannerly.frontier.postgres.arrays import Blobs, Bools, Ints, Texts, columns
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Session, Transaction
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
from mannerly.frontier.site_ids import SiteIds
from mannerly.model import QueuedUrl

R = TypeVar("R", SiteRow, WaitingRow, SettledRow, RobotsRow, WriterRow, CountRow)

PORTION = 2000
ROBOTS_PORTION = 50
"""A body may have half a megabyte."""
LOWEST = -(2**63)

Fields = Sequence[Any]


def hand_over(session: Session, to: str) -> None:
    with session.writing() as transaction:
        # Who enlists holds this row, so nobody does who has not seen the setting.
        if transaction.ask(statements.CREATED_LOCKED) != [(True,)]:
            raise NoCrawlError(f"there is no crawl in {session.where} to be handed over")
        with transaction.round():
            transaction.send(statements.FORGET_SETTING, MOVED_TO)
            if to:
                transaction.send(statements.ADD_SETTINGS, Texts([MOVED_TO]), Texts([to]))
                # Leases and commits hold their writer's row: they are over, or find it retired.
                transaction.send(statements.DISCHARGE_ALL)
                transaction.send(statements.FORGET_ALL_CRAWLERS)
                transaction.send(statements.READ_IN_A_ROW)
                transaction.send(statements.END_LEASES)
            transaction.commit()


def clock(session: Session) -> ClockReading:
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            view.commit()
        now = view.clock.read(asked)
        return ClockReading(now.at, now.up_at, now.up_at + view.clock.rest_ms())


def export(session: Session, part: Part) -> Iterator[list[Row]]:
    """Each portion is a view of its own: an old one would keep dead rows alive."""
    statement, first, make, limit = _EXPORTS[part]
    after: Fields = first
    while True:
        with session.reading() as view:
            found = view.ask(statement, *after, limit)
        rows = [row for row in map(make, found) if row is not None]
        if rows:
            yield rows
        if len(found) < limit:
            return
        after = found[-1][-len(first) :]


def _waiting(fields: Fields, *, is_spilt: bool) -> Row:
    key, *queued, site, _, _ = fields
    return WaitingRow(site, key, is_spilt, QueuedUrl._make(queued))


def _settled(fields: Fields) -> Row | None:
    """Pending ones stand among them, and no index tells them apart."""
    key, hash_, outcome, _, _ = fields
    return SettledRow(key, hash_, outcome) if outcome else None


def _robots(fields: Fields) -> Row:
    key, origin, state, body, fetched_at, failures, _, _ = fields
    return RobotsRow(key, origin, state, bytes(body), fetched_at, failures)


def _writer(fields: Fields) -> Row:
    writer, label, sequence, refused, _ = fields
    return WriterRow(writer, label, sequence, tuple(sorted(refused)))


_PLACE = (LOWEST, LOWEST, LOWEST)
_EXPORTS: dict[Part, tuple[str, Fields, Callable[[Fields], Row | None], int]] = {
    Part.SITES: (statements.EXPORT_SITES, (LOWEST,), lambda it: SiteRow(*it[:-1]), PORTION),
    Part.PENDING: (
        statements.EXPORT_PENDING, _PLACE, lambda it: _waiting(it, is_spilt=False), PORTION),
    Part.SPILT: (statements.EXPORT_SPILT, _PLACE, lambda it: _waiting(it, is_spilt=True), PORTION),
    Part.SETTLED: (statements.EXPORT_SEEN, (LOWEST, LOWEST), _settled, PORTION),
    Part.ROBOTS: (statements.EXPORT_ROBOTS, (LOWEST, ""), _robots, ROBOTS_PORTION),
    Part.WRITERS: (statements.EXPORT_WRITERS, (LOWEST,), _writer, PORTION),
}  # fmt: skip
"""The statement, where it begins (its last columns say where it goes on), what is made of a row,
and how many rows make a portion."""


def restore(ids: SiteIds, transaction: Transaction, rows: Sequence[Row]) -> None:
    match rows[0]:
        case SiteRow():
            _restore_sites(transaction, _only(SiteRow, rows))
        case WaitingRow():
            _restore_waiting(transaction, _only(WaitingRow, rows), _sites(ids, transaction, rows))
        case SettledRow():
            sites = _sites(ids, transaction, rows)
            settled = sorted((sites[it.site], *it[1:]) for it in _only(SettledRow, rows))
            _send(transaction, statements.RESTORE_SETTLED, *columns(settled, 3))
        case RobotsRow():
            _restore_robots(transaction, _only(RobotsRow, rows), _sites(ids, transaction, rows))
        case WriterRow():
            with transaction.round():
                for it in _only(WriterRow, rows):
                    transaction.send(statements.RESTORE_WRITER, *it[:3], Ints(it.refused))
        case CountRow():
            _restore_counts(transaction, _only(CountRow, rows))


def _only(kind: type[R], rows: Sequence[Row]) -> list[R]:
    return [row for row in rows if isinstance(row, kind)]


def _sites(ids: SiteIds, transaction: Transaction, rows: Sequence[Row]) -> dict[str, int]:
    """All were restored before."""
    keys = {row.site for row in rows if isinstance(row, WaitingRow | SettledRow | RobotsRow)}
    found = {key: ids.get(key) for key in keys}
    missing = sorted(key for key, site in found.items() if not site)
    if missing:
        stored: dict[str, int] = dict(transaction.ask(statements.FIND_SITES, Texts(missing)))
        ids.learn(stored)
        found |= stored
    return found


def _send(transaction: Transaction, statement: str, *parameters: object) -> None:
    with transaction.round():
        transaction.send(statement, *parameters)


def _restore_sites(transaction: Transaction, rows: Sequence[SiteRow]) -> None:
    with transaction.round():
        made = transaction.send(statements.ADD_SITES, Texts([row.site for row in rows]))
    ids: dict[str, int] = dict(made.fetchall())
    clocks = [(ids[row.site], row.ready_at) for row in rows]
    # site, pending, pages, spilt, dropped, failures, delay, state
    budgets = [
        (ids[it.site], it.pending, it.pages, it.spilt, it.dropped, it.failures, it.delay_ms,
         it.state)
        for it in rows
    ]  # fmt: skip
    with transaction.round():
        transaction.send(
            statements.RESTORE_CLOCKS, *columns(clocks, 2), Bools([row.has_work for row in rows])
        )
        transaction.send(statements.RESTORE_BUDGETS, *columns(budgets, 8))


def _restore_waiting(
    transaction: Transaction, rows: Sequence[WaitingRow], sites: dict[str, int]
) -> None:
    seen, numbers, texts = [], ([], []), ([], [])  # type: ignore[var-annotated]
    for _, key, is_spilt, it in rows:
        site = sites[key]
        row = (site, it.priority, it.seq, it.hash, it.depth, it.source, it.referrer, it.tries)
        numbers[is_spilt].append(row)
        texts[is_spilt].append(it.url)
        if not is_spilt:
            seen.append((site, it.hash))
    with transaction.round():
        transaction.send(statements.SEE, *columns(sorted(seen), 2))
        transaction.send(statements.RESTORE_QUEUED, *columns(numbers[0], 8), Texts(texts[0]))
        spilt = columns(numbers[1], 8)
        transaction.send(statements.SPILL, *spilt[:7], Texts(texts[1]))
        transaction.send(statements.PLACES_BEHIND, rows[-1].queued.seq // PLACES + 1)


def _restore_robots(
    transaction: Transaction, rows: Sequence[RobotsRow], sites: dict[str, int]
) -> None:
    _send(
        transaction,
        statements.LEARN_ROBOTS,
        Ints([sites[it.site] for it in rows]),
        Texts([it.origin for it in rows]),
        Ints([it.state for it in rows]),
        Blobs([it.body for it in rows]),
        Ints([it.fetched_at for it in rows]),
        Ints([it.failures for it in rows]),
    )


def _restore_counts(transaction: Transaction, rows: Sequence[CountRow]) -> None:
    counts = Counts()
    for name, part, number in rows:
        if name.endswith("_excluded") and name != Name.SITES_EXCLUDED:
            counts.add(Name.URLS_EXCLUDED, number)
        if name != "spilt_excluded":
            counts.add(Name(name), number, part)
    with transaction.round():
        transaction.send(statements.FORGET_TALLY)
        counts.send(transaction)
