"""A crawl without a web: sites are leased, visited in no time, settled and released for a delay."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mannerly.clock import SystemClock
from mannerly.frontier.contract import Frontier
from mannerly.joining import CRAWL_ID, mark_directory
from mannerly.model import (
    Commit,
    Lease,
    NewUrl,
    Outcome,
    Priority,
    Released,
    RobotsRecord,
    RobotsSeen,
    RobotsState,
    Settled,
    Source,
)
from mannerly.url import url_hash

BATCH = 500
URLS_A_VISIT = 3
"""So that a million of them are done soon."""
VISIT_S = 5.0
"""A lease is longer than the delay by the time that a visit may take, as those of a crawl are: one
that is not given back lapses so long after it was asked for, not after the visit."""
CLOCK = SystemClock()
ROBOTS = b"User-agent: *\nDisallow: /private\n" * 8


def url(site: int, number: int) -> NewUrl:
    name = f"site{site:07d}.example"
    text = f"https://{name}/section/{number % 7}/a-page-with-a-title-{number:05d}.html"
    return NewUrl(name, url_hash(text), text, 1, Priority.LINK, Source.LINK, 0)


async def begin(
    data: Path,
    opening: AbstractAsyncContextManager[Frontier],
    sites: int,
    urls: int,
    delay_s: float,
) -> None:
    crawl_id = "0123456789abcdef"
    mark_directory(data, crawl_id)
    async with opening as frontier:
        await frontier.clear()
        at_once = 20_000
        for first in range(0, sites, at_once // urls):
            last = min(sites, first + at_once // urls)
            batch = [url(site, number) for site in range(first, last) for number in range(urls)]
            await frontier.add(batch)
        await frontier.create({"delay_s": str(delay_s), CRAWL_ID: crawl_id})


class Crawl:
    """What was visited when, over all the places that the crawl has been in."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._visited_at: dict[str, float] = {}
        self._seen: set[tuple[str, int]] = set()
        self.visits = 0
        self.repeats = 0
        self.shortest_gap_s = float("inf")

    async def go_on(self, frontier: Frontier, pages: int) -> int:
        """Visit so many more (0: until nothing is left); how many it were. Every fifth batch of
        leases is not given back, as if its holder had been killed."""
        writer = await frontier.enlist("benchmark")
        done = sequence = 0
        while not pages or done < pages:
            leases, wait_s = await frontier.lease(
                writer, BATCH, ttl_s=self._delay_s + VISIT_S, urls_per_site=URLS_A_VISIT
            )
            if wait_s is None and not leases:
                break
            if not leases:
                await asyncio.sleep(min(wait_s or 0.0, 1.0))
                continue
            sequence += 1
            commit = Commit(sequence)
            for lease in leases:
                key = (lease.handle, lease.token)
                self._note(lease)
                commit.settled += [
                    Settled(*key, it.priority, it.seq, it.hash, Outcome.FETCHED)
                    for it in lease.urls
                ]
                if not lease.robots:
                    origin = f"https://{lease.site}"
                    record = RobotsRecord(origin, RobotsState.FOUND, ROBOTS, 0.0, 0)
                    commit.robots.append(RobotsSeen(*key, record))
                if sequence % 5:
                    commit.released.append(Released(*key, self._delay_s, 0, False))
            await frontier.commit(writer, commit)
            done += len(commit.settled)
        return done

    def _note(self, lease: Lease) -> None:
        now_at = CLOCK.now()
        before_at = self._visited_at.get(lease.site)
        if before_at is not None:
            self.shortest_gap_s = min(self.shortest_gap_s, now_at - before_at)
        self._visited_at[lease.site] = now_at
        self.visits += 1
        for queued in lease.urls:
            self.repeats += (lease.site, queued.hash) in self._seen
            self._seen.add((lease.site, queued.hash))
