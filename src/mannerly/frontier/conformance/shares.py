"""Many workers, few sites with most of the URLs: nobody gets one twice, and all get their share."""

import asyncio
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from itertools import pairwise

from mannerly.frontier.conformance.engine import Engine, opener_named
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.contract import Frontier

WORKERS = 50
HANDLES = 5
URLS = 1000
SITES = 100

OVERTAKEN = 3
"""How many visits more another site may have had than one that waits: one, and what may be under
way or on its way back while the order of the answers is noted."""

HEAVY = 10
HEAVY_SHARE = 0.8
DELAY_S = 15.0
STEP_S = 10.0
WANT = 20


class Log:
    """Which site was leased when, by whom."""

    def __init__(self) -> None:
        self.by_url: Counter[tuple[str, int]] = Counter()
        self.by_worker: Counter[int] = Counter()
        self.by_site: Counter[str] = Counter()
        self.held: set[str] = set()
        self.spread = 0
        """By how many visits a site that waited was ever behind another."""

    def lease(self, worker: int, site: str, hash_: int, left: Counter[str]) -> None:
        assert site not in self.held, "leased while leased"
        self.held.add(site)
        self.by_url[site, hash_] += 1
        self.by_worker[worker] += 1
        self.by_site[site] += 1
        waiting = [self.by_site[it] for it in left if left[it] and it not in self.held]
        if waiting:
            self.spread = max(self.spread, self.by_site[site] - min(waiting))


async def _work(frontier: Frontier, number: int, log: Log, left: Counter[str]) -> None:
    worker = await Worker.enlist(frontier, f"worker {number}")
    while True:
        leases, wait_s = await frontier.lease(worker.writer, 1, ttl_s=600, urls_per_site=1)
        for lease in leases:
            log.lease(number, lease.site, lease.urls[0].hash, left)
            left[lease.site] -= 1
            # Not in the same turn of the loop, so that others come in between.
            await asyncio.sleep(0)
            log.held.remove(lease.site)
            assert await worker.commit(settled(lease), released(lease, 0)) == frozenset()
        if wait_s is None:
            return
        if not leases:
            await asyncio.sleep(0.05)


async def test_fifty_workers_share_a_thousand_urls_of_a_hundred_sites(
    engine: Engine, opener: str
) -> None:
    """No URL twice and none left. Fair means: no site that waits falls far behind another, and no
    worker gets less than half or more than twice of an equal share."""
    urls = [url(f"s{number % SITES}.example", number) for number in range(URLS)]
    log, left = Log(), Counter(it.site for it in urls)
    async with AsyncExitStack() as stack:
        handles = [
            await stack.enter_async_context(opener_named(opener)(engine.address()))
            for _ in range(HANDLES)
        ]
        await handles[0].add(urls)
        async with asyncio.TaskGroup() as group:
            for number in range(WORKERS):
                group.create_task(_work(handles[number % HANDLES], number, log, left))
        stats = await handles[0].stats()
    assert log.by_url == Counter(it[:2] for it in urls)
    assert log.spread <= OVERTAKEN
    share = URLS / WORKERS
    assert len(log.by_worker) == WORKERS
    assert share / 2 <= min(log.by_worker.values())
    assert max(log.by_worker.values()) <= share * 2
    assert (stats.urls_pending, stats.fetched, stats.refused) == (0, URLS, 0)
    assert (stats.leases, stats.sites_ready, stats.sites_waiting) == (URLS, 0, 0)


async def test_ten_sites_with_most_of_the_urls_neither_rush_nor_starve_the_others(
    engine: Engine, worker: Worker
) -> None:
    """Each turn visits `WANT` sites. A site that is ready is visited before every other site could
    have been twice, and no site before its delay is over."""
    heavy = int(URLS * HEAVY_SHARE)
    urls = [url(f"s{number % HEAVY}.example", number) for number in range(heavy)]
    urls += [url(f"s{HEAVY + n % (SITES - HEAVY)}.example", n) for n in range(heavy, URLS)]
    await worker.frontier.add(urls)
    visits: dict[str, list[int]] = defaultdict(list)
    turn = 0
    while True:
        leases, wait_s = await worker.frontier.lease(
            worker.writer, WANT, ttl_s=600, urls_per_site=1
        )
        for lease in leases:
            visits[lease.site].append(turn)
        parts = [part for it in leases for part in (settled(it), released(it, DELAY_S))]
        assert await worker.commit(*parts) == frozenset()
        if wait_s is None:
            break
        await engine.advance(STEP_S)
        turn += 1
    assert sum(len(turns) for turns in visits.values()) == URLS
    gaps = [later - earlier for turns in visits.values() for earlier, later in pairwise(turns)]
    assert min(gaps) * STEP_S >= DELAY_S
    # A site waits for those that were ready longer: never more than one round of all.
    round_of_all = SITES // WANT + 2
    assert max(turns[0] for turns in visits.values()) <= round_of_all
    assert max(gaps) <= round_of_all + DELAY_S / STEP_S
    ends = {site: turns[-1] for site, turns in visits.items()}
    light = max(ends[f"s{number}.example"] for number in range(HEAVY, SITES))
    assert light <= 4 * round_of_all, "the small sites end early, not with the large ones"
    assert (await worker.frontier.stats()).urls_pending == 0
