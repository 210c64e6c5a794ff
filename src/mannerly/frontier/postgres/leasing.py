"""Lease: the sites that may be visited now, their ready times moved in the same transaction.

First a question without locks: most of an idle crawler's have the answer "not yet". Then the
clocks of ready sites are locked, passing over what others have locked; a second statement, which
sees what others committed until then, reads the heads of the queues; a third moves the clocks.
"""

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from mannerly.frontier.contract import Leased
from mannerly.frontier.leases import duration_ms, tokens
from mannerly.frontier.postgres import budgets, statements
from mannerly.frontier.postgres.arrays import Ints, Texts
from mannerly.frontier.postgres.budgets import Refill
from mannerly.frontier.postgres.connection import Row
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.floor import LOWEST, Floor
from mannerly.frontier.postgres.session import Session, Transaction
from mannerly.frontier.postgres.sites import id_of, require_all
from mannerly.frontier.postgres.writers import require_enlisted
from mannerly.frontier.server_clock import Instant, rested
from mannerly.frontier.site_ids import SiteIds
from mannerly.model import Caps, Lease, QueuedUrl, RobotsRecord, RobotsState, SiteState
from mannerly.url import origin_of


class Leaser:
    """The lease verb of one open handle."""

    def __init__(self, session: Session, caps: Caps, chance: random.Random) -> None:
        self._session = session
        self._caps = caps
        self._chance = chance
        self._floor = Floor()

    def lease(
        self, writer: int, want: int, *, ttl_s: float, urls_per_site: int, leased_at: float
    ) -> Leased:
        seen = self._look(writer)
        now = seen.now
        wait_s = _wait_s(seen.earliest_at, now, seen.rest_ms)
        if want <= 0 or wait_s is None or wait_s > 0:
            return Leased([], wait_s)
        with self._session.writing() as transaction:
            visit = _Visit(transaction, self._caps, self._chance, urls_per_site, leased_at)
            visit.hold(writer)
            while len(visit.leases) < want and visit.pick(
                seen.floor_at, now.at, want - len(visit.leases)
            ):
                pass
            ready_at = rested(now, max(1, duration_ms(ttl_s)))
            earliest_at = visit.finish(writer, ready_at, seen.floor_at, now)
        return Leased(visit.leases, _wait_s(earliest_at, now, seen.rest_ms))

    def claim(
        self, writer: int, key: str, ids: SiteIds, *, ttl_s: float, leased_at: float
    ) -> Lease | None:
        """One site, if it is ready. Without waiting: whoever has its clock locked just now is
        leasing it, or about to let it rest."""
        site = id_of(self._session, ids, key)
        with self._session.writing() as transaction:
            with transaction.round():
                held = transaction.send(statements.HOLD_WRITER, writer)
                asked = transaction.moment()
            now = transaction.clock.read(asked)
            require_enlisted(writer, held.fetchall())
            with transaction.round():
                clock = transaction.send(statements.CLAIM, site, now.at)
                state = transaction.send(statements.CLAIMED, site)
            budget = state.fetchall()
            require_all(self._session, ids, [site], budget)
            ((failures, site_state),) = budget
            if (
                clock.fetchone() is None
                or site_state == SiteState.EXCLUDED
                or transaction.clock.rest_ms()
            ):
                return None
            (token,) = tokens(self._chance, 1)
            lease = Lease(key, site, token, [], [], failures, leased_at)
            ready_at = rested(now, max(1, duration_ms(ttl_s)))
            counts = Counts()
            counts.add(Name.LEASES, 1)
            with transaction.round():
                stamp = (Ints([site]), Ints([lease.token]))
                transaction.send(statements.STAMP, ready_at, writer, *stamp)
                counts.send(transaction)
                transaction.commit()
            return lease

    def _look(self, writer: int) -> "_Seen":
        floor = self._floor
        due = floor.is_due()
        floor_at = LOWEST if due else floor.at
        with self._session.reading() as view:
            with view.round():
                asked = view.moment()
                earliest = view.send(statements.EARLIEST, floor_at)
                state = view.send(statements.WRITER, writer)
            now = view.clock.read(asked)
            require_enlisted(writer, state.fetchall())
            rows = earliest.fetchall()
            if not rows and floor_at != LOWEST:
                # Whoever was woken may stand below the floor, and "nothing" ends a crawl.
                floor_at = LOWEST
                rows = view.ask(statements.EARLIEST, floor_at)
            earliest_at = rows[0][0] if rows else None
            if due:
                floor.walked(_way_ms(view), now.at if earliest_at is None else earliest_at, now)
            elif earliest_at is not None and floor_at != LOWEST:
                floor.moved(earliest_at, now)
            return _Seen(now, earliest_at, floor_at, view.clock.rest_ms())


class _Seen(NamedTuple):
    """What a look without locks tells."""

    now: Instant
    earliest_at: int | None
    """When the first site with work is ready."""
    floor_at: int
    rest_ms: int
    """How long this process leases nothing yet."""


def _way_ms(view: Transaction) -> float:
    """How long the server takes for the whole way to the first site."""
    shortest_ms = math.inf
    for _ in range(Floor.TIMES):
        ((plans,),) = view.ask(statements.WAY)
        shortest_ms = min(shortest_ms, plans[0]["Execution Time"])
        if shortest_ms <= Floor.LONG_MS:
            break
    return shortest_ms


def _wait_s(earliest_at: int | None, now: Instant, rest_ms: int) -> float | None:
    if earliest_at is None:
        return None
    return max(0, earliest_at - now.at, rest_ms) / 1000


class _Visit:
    """One lease that finds something, in one transaction."""

    def __init__(
        self,
        transaction: Transaction,
        caps: Caps,
        chance: random.Random,
        urls_per_site: int,
        leased_at: float,
    ) -> None:
        self._transaction = transaction
        self._chance = chance
        self._urls_per_site = urls_per_site
        self._leased_at = leased_at
        self._looked_at: list[int] = []
        """Every site that was picked, whether it is leased or not."""
        self._parked: list[int] = []
        self._caps = caps
        self._counts = Counts()
        self.leases: list[Lease] = []

    def hold(self, writer: int) -> None:
        """A retired writer's sites are given to others: it must not collect new ones."""
        require_enlisted(writer, self._transaction.ask(statements.HOLD_WRITER, writer))

    def pick(self, floor_at: int, now_at: int, want: int) -> bool:
        """Take sites that have been ready longest. False: there are no more."""
        rows = self._transaction.ask(statements.PICK, floor_at, now_at, Ints(self._looked_at), want)
        sites = [site for site, _ in rows]
        if not sites:
            return False
        self._looked_at += sites
        empty = self._read_heads(sites)
        if empty:
            self._read_heads(self._refill(empty))
        return True

    def _read_heads(self, sites: Sequence[int]) -> list[int]:
        """Lease the sites that have something queued; those that have not."""
        if not sites:
            return []
        empty: list[int] = []
        lease: Lease | None = None
        rows: list[Row] = self._transaction.ask(statements.HEADS, Ints(sites), self._urls_per_site)
        for row in rows:
            site = row[0]
            if row[3] is None:
                empty.append(site)
                continue
            if lease is None or lease.handle != site:
                (token,) = tokens(self._chance, 1)
                lease = Lease(row[1], site, token, [], [], row[2], self._leased_at)
                self.leases.append(lease)
            lease.urls.append(QueuedUrl._make(row[3:]))
        return empty

    def _refill(self, empty: Sequence[int]) -> list[int]:
        """Bring back what is spilt of sites without a queue: their holder settled everything and
        never released them. Those that have work then; the others are parked where they are, and
        their holder keeps its token: nobody else wants the site.

        Whoever adds to a site at this moment holds its lock. Then it is left as it is: parked by
        us, it might have work that nobody sees.
        """
        answer = self._transaction.ask(statements.LOCK_FREE_SITES, Ints(sorted(empty)))
        free = [budgets.Budget(*row) for row in answer]
        refill = Refill(self._caps, self._counts)
        for budget in free:
            refill.decide(budget)
        with self._transaction.round():
            refill.send(self._transaction)
            budgets.write(self._transaction, free)
        self._parked += [budget.site for budget in free if not budget.pending]
        return [budget.site for budget in free if budget.pending]

    def finish(self, writer: int, ready_at: int, floor_at: int, now: Instant) -> int | None:
        """Move the clocks, recall robots records, commit. When the next site is ready."""
        leases = self.leases
        origins = [
            (lease.handle, origin)
            for lease in leases
            for origin in sorted({origin_of(url.url) for url in lease.urls})
        ]
        self._counts.add(Name.LEASES, len(leases))
        transaction = self._transaction
        with transaction.round():
            sites, tokens = Ints([it.handle for it in leases]), Ints([it.token for it in leases])
            transaction.send(statements.STAMP, ready_at, writer, sites, tokens)
            if self._parked:
                transaction.send(statements.PARK, Ints(self._parked))
            robots = transaction.send(
                statements.ROBOTS,
                Ints([site for site, _ in origins]),
                Texts([origin for _, origin in origins]),
            )
            self._counts.send(transaction)
            earliest = transaction.send(statements.EARLIEST, floor_at)
            transaction.commit()
        records: dict[int, list[RobotsRecord]] = defaultdict(list)
        for site, origin, state, body, fetched_at, failures in robots.fetchall():
            age_s = max(0, now.at - fetched_at) / 1000
            record = RobotsRecord(origin, RobotsState(state), bytes(body), age_s, failures)
            records[site].append(record)
        for lease in leases:
            lease.robots = records.get(lease.handle, lease.robots)
        row = earliest.fetchone()
        if row is None and floor_at != LOWEST:
            return now.at  # there may be one below the floor: ask again
        return None if row is None else row[0]
