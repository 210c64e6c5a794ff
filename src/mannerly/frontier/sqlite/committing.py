"""Commit: what one checkpoint tells the frontier, in one transaction.

The tokens are judged first, all at once; what belongs to a stale one is left out as a whole. The
rest is applied in the order settle, defer, robots, release.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Committed
from mannerly.frontier.leases import duration_ms, require_final
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counts import Counts, refill
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.frontier.sqlite.writers import enlisted_state
from mannerly.model import (
    Caps,
    Commit,
    Deferred,
    Outcome,
    Released,
    RobotsSeen,
    Settled,
    SiteState,
)

Part = TypeVar("Part", Settled, Deferred, Released, RobotsSeen)


def commit(database: Database, writer: int, commit: Commit, limits: Caps) -> Committed:
    settled, released = len(commit.settled), len(commit.released)
    with database.writing("commit", settled=settled, released=released) as transaction:
        state, _ = enlisted_state(transaction, writer)
        if commit.sequence == state.sequence:
            return Committed(state.refused)
        if commit.sequence != state.sequence + 1:
            raise FrontierMisuseError(
                f"writer {writer} sent commit {commit.sequence} after {state.sequence}; "
                "two processes write under one id, or one goes on from an old copy"
            )
        live, counts, refused = _judge(transaction, commit)
        done, given_back = _of(live, refused, commit.settled), _of(live, refused, commit.released)
        _settle(transaction, writer, done, counts)
        _defer(transaction, _of(live, refused, commit.deferred))
        _learn_robots(transaction, [part for part in commit.robots if part[:2] in live])
        _release(transaction, given_back, counts, limits)
        _go_on(transaction, {part.handle for part in done}, given_back, counts)
        count(transaction, writer, Name.REFUSED, len(refused))
        transaction.execute(
            statements.ADVANCE, (commit.sequence, json.dumps(sorted(refused)), writer)
        )
        return Committed(refused)


Leases = set[tuple[int, int]]
"""(handle, token) of leases."""


def _judge(
    transaction: Transaction, commit: Commit
) -> tuple[Leases, dict[int, Counts], frozenset[int]]:
    """The leases of a commit that are still held, with their sites' counts, and the tokens of
    those that are not."""
    given = {
        part[:2]
        for parts in (commit.settled, commit.deferred, commit.released, commit.robots)
        for part in parts
    }
    counts = {}
    held = set()
    handles = json.dumps([handle for handle, _ in given])
    for token, site, *fields in transaction.execute(statements.HELD_COUNTS, (handles,)):
        counts[site] = Counts(site, *fields)
        if token:
            held.add((site, token))
    live = given & held
    return live, counts, frozenset(token for _, token in given - live)


def _of(live: Leases, stale: frozenset[int], parts: Iterable[Part]) -> list[Part]:
    """The parts under live leases, in the order of the tables."""
    return sorted(part for part in parts if part[:2] in live) if stale else sorted(parts)


def _settle(
    transaction: Transaction, writer: int, parts: list[Settled], counts: dict[int, Counts]
) -> None:
    by_outcome: dict[Outcome, list[Settled]] = defaultdict(list)
    for part in parts:
        by_outcome[part.outcome].append(part)
    require_final(parts)
    dequeued = [(part.handle, part.priority, part.seq, part.hash) for part in parts]
    _exactly(len(parts), transaction.executemany(statements.DEQUEUE, dequeued).rowcount)
    for outcome, same in by_outcome.items():
        rows = [(outcome.value, part.handle, part.hash) for part in same]
        _exactly(len(rows), transaction.executemany(statements.SETTLE, rows).rowcount)
        count(transaction, writer, Name.SETTLED, len(rows), outcome.value)
        pages = int(outcome is Outcome.FETCHED)
        for part in same:
            after = counts[part.handle]
            after.pending -= 1
            after.pages += pages


def _defer(transaction: Transaction, parts: list[Deferred]) -> None:
    seq = transaction.reserve(len(parts))
    rows = [
        (part.new_priority, place, part.tries, part.handle, part.priority, part.seq)
        for place, part in enumerate(parts, seq)
    ]
    _exactly(len(rows), transaction.executemany(statements.DEFER, rows).rowcount)


def _exactly(expected: int, rowcount: int) -> None:
    """A live lease's URLs are where they were when it was given, unless it moved them itself."""
    if expected != max(0, rowcount):
        raise FrontierMisuseError(
            "a commit settles or defers a URL that is not at its place in the queue (twice, or "
            "after it was deferred); nothing of it was applied"
        )


def _learn_robots(transaction: Transaction, parts: list[RobotsSeen]) -> None:
    now_at = transaction.now.at
    rows = [
        (
            part.handle,
            part.record.origin,
            part.record.state.value,
            part.record.body,
            now_at - duration_ms(part.record.age_s),
            part.record.failures,
        )
        for part in parts
    ]
    transaction.executemany(statements.LEARN_ROBOTS, rows)


def _release(
    transaction: Transaction, parts: list[Released], counts: dict[int, Counts], limits: Caps
) -> None:
    now_at = transaction.now.up_at
    rows = []
    for part in parts:
        after = counts[part.handle]
        if part.abandoned and after.state != SiteState.ABANDONED:
            after.state = SiteState.ABANDONED.value
            count(transaction, NOBODY, Name.SITES_ABANDONED, 1)
            count(transaction, NOBODY, Name.URLS_ABANDONED, after.pending)
        elif after.spilt:
            refill(transaction, limits, after)
        ready_at = now_at + duration_ms(part.rest_s)
        rows.append((*after.row(), ready_at, part.failures, duration_ms(part.delay_s)))
    transaction.executemany(statements.RELEASE, rows)


def _go_on(
    transaction: Transaction, settled: set[int], released: list[Released], counts: dict[int, Counts]
) -> None:
    """Write the counts of sites of which something was settled and whose leases go on."""
    going_on = sorted(settled.difference([part.handle for part in released]))
    rows = [(counts[site].pending, counts[site].pages, site) for site in going_on]
    transaction.executemany(statements.SETTLED_COUNTS, rows)
