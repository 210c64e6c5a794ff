"""Commit: what one checkpoint tells the frontier, in one transaction of two round trips.

The first locks: the writer, then the sites, then their clocks. Then the tokens are judged, all at
once; what belongs to a stale one is left out as a whole. The second applies the rest, in the order
settle, defer, robots, release, and commits.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Committed
from mannerly.frontier.leases import duration_ms, require_final
from mannerly.frontier.postgres import budgets, statements
from mannerly.frontier.postgres.adding import PLACES
from mannerly.frontier.postgres.arrays import Blobs, Bools, Ints, Texts, columns
from mannerly.frontier.postgres.budgets import Budgets, Refill
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Session, Transaction
from mannerly.frontier.postgres.writers import require_known, state_of
from mannerly.frontier.server_clock import Instant, rested
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

Part = TypeVar("Part", Settled, Deferred, Released)


def commit(session: Session, caps: Caps, writer: int, commit: Commit) -> Committed:
    require_final(commit.settled)
    given: Leases = set()
    for parts in (commit.settled, commit.deferred, commit.released, commit.robots):
        given |= {part[:2] for part in parts}
    handles = Ints(sorted({handle for handle, _ in given}))
    with session.writing() as transaction:
        with transaction.round():
            found = transaction.send(statements.LOCK_WRITER, writer)
            locked = transaction.send(statements.LOCK_SITES, handles)
            tokens = transaction.send(statements.TOKENS, handles)
            place = transaction.send(statements.NEXT_PLACE) if commit.deferred else None
            asked = transaction.moment()
        now = transaction.clock.read(asked)
        state = state_of(require_known(writer, found.fetchall()))
        if commit.sequence == state.sequence:
            return Committed(state.refused)
        if commit.sequence != state.sequence + 1:
            raise FrontierMisuseError(
                f"writer {writer} sent commit {commit.sequence} after {state.sequence}; "
                "two processes write under one id, or one goes on from an old copy"
            )
        held: set[tuple[int, ...]] = set(tokens.fetchall())
        live = {lease for lease in given if lease in held and lease[1] != 0}
        refused = frozenset(token for _, token in given - live)
        applying = _Applying(transaction, budgets.locked(locked), caps, now)
        first_seq = place.fetchall()[0][0] * PLACES if place else 0
        with transaction.round():
            applying.settle(_of(live, commit.settled))
            applying.defer(_of(live, commit.deferred), first_seq)
            applying.learn_robots([part for part in commit.robots if part[:2] in live])
            applying.release(_of(live, commit.released))
            applying.finish({handle for handle, _ in live}, len(refused))
            transaction.send(statements.ADVANCE, commit.sequence, Ints(sorted(refused)), writer)
            transaction.commit()
        return Committed(refused)


Leases = set[tuple[int, int]]
"""(handle, token) of leases."""


def _of(live: Leases, parts: Iterable[Part]) -> list[Part]:
    """The parts under live leases, in the order of the tables."""
    return sorted(part for part in parts if part[:2] in live)


class _Applying:
    """The second round of a commit. Everything is sent, nothing is waited for."""

    def __init__(self, transaction: Transaction, locked: Budgets, caps: Caps, now: Instant) -> None:
        self._send = transaction.send
        self._transaction = transaction
        self._budgets = locked
        self._now = now
        self._counts = Counts()
        self._refill = Refill(caps, self._counts)

    def settle(self, parts: list[Settled]) -> None:
        if not parts:
            return
        for handle, _, _, _, _, outcome in parts:
            budget = self._budgets[handle]
            budget.pending -= 1
            budget.pages += outcome is Outcome.FETCHED
        sites, _, priorities, seqs, hashes, outcomes = zip(*parts, strict=True)
        for outcome, count in Counter(outcomes).items():
            self._counts.add(Name.SETTLED, count, outcome)
        place = (Ints(sites), Ints(priorities), Ints(seqs), Ints(hashes))
        self._send(statements.DEQUEUE, *place, len(parts))
        self._send(statements.SETTLE, Ints(sites), Ints(hashes), Ints(outcomes), len(parts))

    def defer(self, parts: list[Deferred], first_seq: int) -> None:
        if not parts:
            return
        rows = [
            (part.handle, part.priority, part.seq, part.new_priority, seq, part.tries)
            for seq, part in enumerate(parts, first_seq)
        ]
        self._send(statements.DEFER, *columns(rows, 6), len(rows))

    def learn_robots(self, parts: list[RobotsSeen]) -> None:
        if not parts:
            return
        # Of two records of one origin the later one counts: a statement may write a row only once.
        records = {(part.handle, part.record.origin): part.record for part in parts}
        self._send(
            statements.LEARN_ROBOTS,
            Ints([site for site, _ in records]),
            Texts([origin for _, origin in records]),
            Ints([record.state for record in records.values()]),
            Blobs([record.body for record in records.values()]),
            Ints([self._now.at - duration_ms(record.age_s) for record in records.values()]),
            Ints([record.failures for record in records.values()]),
        )

    def release(self, parts: list[Released]) -> None:
        if not parts:
            return
        for part in parts:
            budget = self._budgets[part.handle]
            budget.failures = part.failures
            budget.delay = duration_ms(part.delay_s) or budget.delay
            if budget.state != SiteState.OPEN:
                continue  # abandoned before, and claimed since
            if part.abandoned:
                budget.state = SiteState.ABANDONED
                self._counts.add(Name.SITES_ABANDONED, 1)
                self._counts.add(Name.URLS_ABANDONED, budget.pending)
            else:
                self._refill.decide(budget)
        self._refill.send(self._transaction)
        self._send(
            statements.RELEASE,
            Ints([part.handle for part in parts]),
            Ints([rested(self._now, duration_ms(part.rest_s)) for part in parts]),
            Bools([self._budgets[part.handle].waits for part in parts]),
        )

    def finish(self, sites: set[int], refused: int) -> None:
        self._counts.add(Name.REFUSED, refused)
        budgets.write(self._transaction, [self._budgets[site] for site in sorted(sites)])
        self._counts.send(self._transaction)
