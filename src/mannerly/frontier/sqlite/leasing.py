"""Lease: the sites that may be visited now, their ready times moved in the same transaction."""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from operator import attrgetter

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Leased
from mannerly.frontier.leases import duration_ms, tokens
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.adding import make_sites
from mannerly.frontier.sqlite.counts import Counts, counts_of
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.spill import refill
from mannerly.frontier.sqlite.tally import Name, count
from mannerly.frontier.sqlite.writers import enlisted_state
from mannerly.model import Caps, Lease, QueuedUrl, RobotsRecord, RobotsState
from mannerly.url import origin_of


def lease(
    database: Database,
    writer: int,
    want: int,
    *,
    ttl_s: float,
    urls_per_site: int,
    leased_at: float,
    chance: random.Random,
    limits: Caps,
) -> Leased:
    # Most questions of an idle crawler have the answer "not yet". It takes no turn.
    with database.reading("look for ready sites") as view:
        wait_s = _next_ready_in_s(view)
    if want <= 0 or wait_s is None or wait_s > 0:
        return Leased([], wait_s)
    with database.writing("lease", sites=want) as transaction:
        _require_enlisted(transaction, writer)
        leases: list[Lease] = []
        while len(leases) < want and transaction.now.at >= transaction.rest_until:
            picked = _pick(transaction, want - len(leases), urls_per_site, leased_at, chance)
            if not picked:
                break
            given = [lease for lease in picked if lease.urls]
            _stamp(transaction, writer, given, ttl_s)
            leases += given
            if len(given) < len(picked):
                _refill(transaction, limits, [it.handle for it in picked if not it.urls])
        _recall_robots(transaction, leases)
        count(transaction, writer, Name.LEASES, len(leases))
        return Leased(leases, _next_ready_in_s(transaction))


def claim(
    database: Database,
    writer: int,
    key: str,
    *,
    ttl_s: float,
    leased_at: float,
    chance: random.Random,
) -> Lease | None:
    with database.writing("claim") as transaction:
        _require_enlisted(transaction, writer)
        site = make_sites(transaction, [key])[key]
        row = transaction.execute(statements.CLAIMABLE, (site, transaction.now.at)).fetchone()
        if row is None or transaction.now.at < transaction.rest_until:
            return None
        (token,) = tokens(chance, 1)
        lease = Lease(key, site, token, [], [], row[0], leased_at)
        _stamp(transaction, writer, [lease], ttl_s)
        count(transaction, writer, Name.LEASES, 1)
        return lease


def _next_ready_in_s(view: Transaction) -> float | None:
    earliest_at: int | None
    (earliest_at,) = view.execute(statements.EARLIEST).fetchone()
    if earliest_at is None:
        return None
    return max(0, max(earliest_at, view.rest_until) - view.now.at) / 1000


def _require_enlisted(transaction: Transaction, writer: int) -> None:
    """A retired writer's sites are given to others: it must not collect new ones."""
    _, enlisted = enlisted_state(transaction, writer)
    if not enlisted:
        raise FrontierMisuseError(f"writer {writer} was retired; enlist again")


def _pick(
    transaction: Transaction, want: int, urls: int, leased_at: float, chance: random.Random
) -> list[Lease]:
    """The sites that have been ready longest, with the heads of their queues."""
    given = tokens(chance, want)
    leases: list[Lease] = []
    last = None
    for row in transaction.execute(statements.READY, (transaction.now.at, want, urls)):
        site, key, failures = row[:3]
        if site != last:
            leases.append(Lease(key, site, given[len(leases)], [], [], failures, leased_at))
            last = site
        if row[3] is not None:
            leases[-1].urls.append(QueuedUrl._make(row[3:]))
    if urls > 1:
        for lease in leases:
            lease.urls.sort(key=attrgetter("priority", "seq"))
    return leases


def _stamp(transaction: Transaction, writer: int, given: Sequence[Lease], ttl_s: float) -> None:
    ready_at = transaction.now.up_at + max(1, duration_ms(ttl_s))
    stamps = [(ready_at, lease.token, writer, lease.handle) for lease in given]
    transaction.executemany(statements.STAMP, stamps)


def _refill(transaction: Transaction, limits: Caps, sites: Sequence[int]) -> None:
    """Give sites with an empty queue what they have spilt; park those that have nothing.

    A site has work and an empty queue if its holder settled everything and never released it. The
    holder keeps its token: if there is nothing spilt, nobody else wants the site.
    """
    after = [Counts(*row) for row in counts_of(transaction, sites)]
    for counts in after:
        refill(transaction, limits, counts)
    transaction.executemany(statements.RECOUNT, [counts.row() for counts in after])


def _recall_robots(transaction: Transaction, leases: Sequence[Lease]) -> None:
    origins = {(lease.handle, origin_of(url.url)) for lease in leases for url in lease.urls}
    wanted = json.dumps(sorted(origins))
    records: dict[int, list[RobotsRecord]] = defaultdict(list)
    for site, origin, state, body, fetched_at, failures in transaction.execute(
        statements.ROBOTS, (wanted,)
    ):
        age_s = max(0, transaction.now.at - fetched_at) / 1000
        records[site].append(RobotsRecord(origin, RobotsState(state), body, age_s, failures))
    for lease in leases:
        lease.robots = records.get(lease.handle, lease.robots)
