"""Mistakes that a crawler could have, put into the real code on purpose: each must be found.

An invariant that finds nothing is worth nothing. Each of these is the smallest change to the code
that makes the mistake, so that all else works as it should.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from mannerly.engine import crawler, gatekeeper, robots
from mannerly.engine.checkpoint import Checkpointer
from mannerly.engine.visit import Visitor
from mannerly.fetch import guard
from mannerly.fetch.contract import Fetched
from mannerly.frontier.contract import Committed, Leased
from mannerly.frontier.sqlite import committing, leasing, writers
from mannerly.frontier.sqlite.committing import Leases
from mannerly.frontier.sqlite.counts import Counts
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.model import Caps, Commit, RobotsRecord, RobotsState
from mannerly.store import segments
from tests.simulation.faults.disk import BorderDisk

Patch = pytest.MonkeyPatch


def no_token_check(patch: Patch) -> None:
    """A commit counts, whoever holds the lease by now."""
    real = committing._judge

    def judge(
        transaction: Transaction, commit: Commit
    ) -> tuple[Leases, dict[int, Counts], frozenset[int]]:
        _, counts, _ = real(transaction, commit)
        return _leases_of(commit), counts, frozenset()

    patch.setattr(committing, "_judge", judge)


def settled_before_durable(patch: Patch) -> None:
    """The frontier is told first, and then the journal is written."""

    async def run(self: Checkpointer) -> frozenset[int] | None:
        batch = self._ledger.take()
        if batch.empty:
            self.last_at = self._clock.now()
            return None
        self._sequence += 1
        sequence = self._sequence
        await self._add(batch)
        committed = await self._patience.until_done(
            lambda: self._frontier.commit(self._writer, batch.commit(sequence, self._clock.now()))
        )
        await self._patience.until_done(
            lambda: self._store_executor.run(lambda: self._store.write(sequence, batch.rows))
        )
        await self._patience.until_done(
            lambda: self._store_executor.run(lambda: self._settle(sequence, committed.refused))
        )
        self._tally.checkpoints += 1
        self.last_at = self._clock.now()
        return committed.refused

    patch.setattr(Checkpointer, "run", run)


def journal_not_synced(patch: Patch) -> None:
    """The journal is written, and settled before the disk has it."""
    patch.setattr(BorderDisk, "sync", lambda *_: None)


def delay_from_the_start(patch: Patch) -> None:
    """A site rests from the start of the last fetch on, not from its end."""
    real = Visitor._conclude

    def conclude(
        self: Visitor, seat: Any, url: Any, origin: str, fetched: Fetched, *rest: Any
    ) -> float | None:
        fetched.ended_at = fetched.started_at or fetched.ended_at
        return real(self, seat, url, origin, fetched, *rest)

    patch.setattr(Visitor, "_conclude", conclude)


def robots_failure_allows(patch: Patch) -> None:
    """A robots.txt that cannot be read is taken for one that is not there."""
    real = robots.robots_record

    def record(origin: str, fetched: Fetched, failures: int) -> RobotsRecord:
        found = real(origin, fetched, failures)
        if found.state is RobotsState.UNREACHABLE:
            return found._replace(state=RobotsState.ABSENT, failures=0)
        return found

    patch.setattr(gatekeeper, "robots_record", record)


def removed_at_lease(patch: Patch) -> None:
    """What is leased leaves the queue, and is back only when its holder commits something."""
    popped: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    lease, commit = leasing.lease, committing.commit
    count = "UPDATE clock SET pending = pending + ? WHERE site = ?"

    def pop(database: Database, *args: Any, **named: Any) -> Leased:
        leased = lease(database, *args, **named)
        with database.writing("pop") as transaction:
            for it in leased.leases:
                for url in it.urls:
                    row = (it.handle, url.priority, url.seq)
                    transaction.execute(
                        "DELETE FROM queue WHERE site = ? AND priority = ? AND seq = ?", row
                    )
                    popped[it.token].append(
                        (*row, url.hash, url.url, url.depth, url.source, url.referrer, url.tries)
                    )
                transaction.execute(count, (-len(it.urls), it.handle))
        return leased

    def push(database: Database, writer: int, given: Commit, limits: Caps) -> Committed:
        with database.writing("push") as transaction:
            for site, token in _leases_of(given):
                rows = popped.pop(token, [])
                marks = ", ".join("?" * 9)
                transaction.executemany(f"INSERT INTO queue VALUES ({marks})", rows)
                transaction.execute(count, (len(rows), site))
        return commit(database, writer, given, limits)

    patch.setattr(leasing, "lease", pop)
    patch.setattr(committing, "commit", push)


def no_fence(patch: Patch) -> None:
    """A request is sent, however old its lease is."""
    patch.setattr(crawler, "HOLD_S", 1e9)


def no_rest_after_death(patch: Patch) -> None:
    """The sites of a dead process are ready at once."""
    real = writers.retire
    patch.setattr(writers, "retire", lambda database, writer, _rest_s: real(database, writer, 0.0))


def uncommitted_counts(patch: Patch) -> None:
    """Whatever a dead process left in its journal counts, committed or not."""
    real = segments.vouched_by_frontier
    patch.setattr(
        segments, "vouched_by_frontier", lambda journal, _sequence, refused: real(
            journal, 1 << 60, refused
        ),
    )  # fmt: skip


def no_address_guard(patch: Patch) -> None:
    """Private addresses are like any others."""
    patch.setattr(guard, "refusal", lambda _: "")


def _leases_of(commit: Commit) -> Leases:
    return {
        (part.handle, part.token)
        for parts in (commit.settled, commit.deferred, commit.released, commit.robots)
        for part in parts
    }


MUTATIONS: dict[str, Callable[[Patch], None]] = {
    make.__name__: make
    for make in (
        no_token_check,
        settled_before_durable,
        journal_not_synced,
        delay_from_the_start,
        robots_failure_allows,
        removed_at_lease,
        no_fence,
        no_rest_after_death,
        uncommitted_counts,
        no_address_guard,
    )
}
FIRST_SEED = {"no_token_check": 6, "settled_before_durable": 4, "removed_at_lease": 4,
              "no_fence": 10, "no_rest_after_death": 8, "uncommitted_counts": 12}  # fmt: skip
"""Where the search begins, if not at 0: one in ten seeds finds the rarest, and a test is short."""
