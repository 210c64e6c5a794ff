"""Commit: what one checkpoint tells the frontier, in one transaction.

The tokens are judged first, all at once; what belongs to a stale one is left out as a whole. The
rest is applied in the order settle, defer, robots, release.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Committed
from mannerly.frontier.leases import duration_ms, require_final
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counts import Counts
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.front import dequeue, exactly, make_way, require_live
from mannerly.frontier.sqlite.spill import refill
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
        done, put_off = _of(live, refused, commit.settled), _of(live, refused, commit.deferred)
        given_back = _of(live, refused, commit.released)
        _settle(transaction, writer, done, counts)
        _defer(transaction, put_off, counts)
        _learn_robots(transaction, [part for part in commit.robots if part[:2] in live])
        _release(transaction, given_back, counts, limits)
        touched = {part.handle for part in done} | {part.handle for part in put_off}
        _go_on(transaction, touched, given_back, counts)
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
    if not parts:
        return
    outcomes = Counter([part.outcome for part in parts])
    require_final(parts)
    dequeue(transaction, parts, counts)
    rows = [(outcome, site, hash_) for site, _, _, _, hash_, outcome in parts]
    exactly(len(rows), transaction.executemany(statements.SETTLE, rows).rowcount)
    for outcome, urls in outcomes.items():
        count(transaction, writer, Name.SETTLED, urls, outcome.value)
    for part in parts:
        if part.outcome is Outcome.FETCHED:
            counts[part.handle].pages += 1


def _defer(transaction: Transaction, parts: list[Deferred], counts: dict[int, Counts]) -> None:
    first_seq = transaction.reserve(len(parts))
    rows = []
    for seq, part in enumerate(parts, first_seq):
        after = counts[part.handle]
        require_live(after, part.priority, part.seq)
        make_way(transaction, after, part.new_priority, seq)
        rows.append((part.new_priority, seq, part.tries, part.handle, part.priority, part.seq))
    exactly(len(rows), transaction.executemany(statements.DEFER, rows).rowcount)


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
    transaction: Transaction, touched: set[int], released: list[Released], counts: dict[int, Counts]
) -> None:
    """Write the counts of sites in whose queues something changed and whose leases go on."""
    going_on = sorted(touched.difference([part.handle for part in released]))
    transaction.executemany(statements.SETTLED_COUNTS, [counts[site].row() for site in going_on])
