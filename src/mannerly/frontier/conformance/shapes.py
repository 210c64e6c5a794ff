"""Short names for what the tests send."""

import asyncio

from mannerly.frontier.contract import Cursor, Frontier, Kind
from mannerly.model import (
    Commit,
    Deferred,
    Lease,
    ListedUrl,
    NewUrl,
    Outcome,
    Priority,
    Released,
    RobotsRecord,
    RobotsSeen,
    Settled,
    SiteFacts,
    Source,
)

TTL_S = 65.0
REST_S = 15.0

DRAIN_S = 60.0
LOOK_AGAIN_S = 0.01


def url(site: str, number: int, priority: int = Priority.LINK) -> NewUrl:
    text = f"https://{site}/{number}"
    return NewUrl(site, number, text, number % 7, priority, Source.LINK, number * 3)


def settled(lease: Lease, index: int = 0, outcome: Outcome = Outcome.FETCHED) -> Settled:
    queued = lease.urls[index]
    return Settled(lease.handle, lease.token, queued.priority, queued.seq, queued.hash, outcome)


def deferred(lease: Lease, index: int = 0, priority: int = Priority.RETRY) -> Deferred:
    queued = lease.urls[index]
    tries = queued.tries + 1
    return Deferred(lease.handle, lease.token, queued.priority, queued.seq, priority, tries)


def released(
    lease: Lease, rest_s: float = REST_S, failures: int = 0, *, abandoned: bool = False
) -> Released:
    return Released(lease.handle, lease.token, rest_s, failures, abandoned)


def robots(lease: Lease, record: RobotsRecord) -> RobotsSeen:
    return RobotsSeen(lease.handle, lease.token, record)


class Worker:
    """A handle with a writer that counts its commits."""

    def __init__(self, frontier: Frontier, writer: int) -> None:
        self.frontier = frontier
        self.writer = writer
        self.sequence = 0

    @classmethod
    async def enlist(cls, frontier: Frontier, label: str = "a worker") -> "Worker":
        return cls(frontier, await frontier.enlist(label))

    async def lease(self, want: int = 100, *, urls: int = 1, ttl_s: float = TTL_S) -> list[Lease]:
        leased = await self.frontier.lease(self.writer, want, ttl_s=ttl_s, urls_per_site=urls)
        return leased.leases

    async def next_ready_in_s(self) -> float | None:
        leased = await self.frontier.lease(self.writer, 0, ttl_s=TTL_S, urls_per_site=1)
        assert leased.leases == []
        return leased.next_ready_in_s

    async def commit(
        self,
        *parts: Settled | Deferred | Released | RobotsSeen,
    ) -> frozenset[int]:
        """Send the next commit; the tokens that were refused."""
        self.sequence += 1
        commit = Commit(self.sequence)
        for part in parts:
            match part:
                case Settled():
                    commit.settled.append(part)
                case Deferred():
                    commit.deferred.append(part)
                case Released():
                    commit.released.append(part)
                case RobotsSeen():
                    commit.robots.append(part)
        return (await self.frontier.commit(self.writer, commit)).refused


def names(leases: list[Lease]) -> list[str]:
    return [lease.site for lease in leases]


def hashes(lease: Lease) -> list[int]:
    return [queued.hash for queued in lease.urls]


async def everything(frontier: Frontier, kind: Kind, limit: int = 1000) -> list[ListedUrl]:
    """All that `iterate` gives, portion by portion; each must be as long as it promises."""
    listed: list[ListedUrl] = []
    after: Cursor | None = None
    while True:
        urls, after = await frontier.iterate(kind, after=after, limit=limit)
        assert len(urls) <= limit
        listed += urls
        if after is None:
            return listed
        assert urls, "an empty portion that is not the last"


async def every_site(frontier: Frontier, limit: int = 1000) -> list[SiteFacts]:
    listed: list[SiteFacts] = []
    after: Cursor | None = None
    while True:
        sites, after = await frontier.iterate_sites(after=after, limit=limit)
        assert len(sites) <= limit
        listed += sites
        if after is None:
            return listed
        assert sites, "an empty portion that is not the last"


async def facts_of(frontier: Frontier, site: str) -> SiteFacts:
    """What is known of a site that must be known."""
    facts = (await frontier.explain(site, 0)).site
    assert facts is not None
    return facts


async def listed(frontier: Frontier, kind: Kind) -> list[int]:
    """The hashes of all URLs of a kind, as they are listed."""
    return [it.hash for it in await everything(frontier, kind)]


async def drained(frontier: Frontier) -> list[tuple[str, int]]:
    """Settle all there is, without rests, in real time; what it was."""
    worker = await Worker.enlist(frontier, "drain")
    found: list[tuple[str, int]] = []
    async with asyncio.timeout(DRAIN_S):
        while True:
            leases, wait_s = await frontier.lease(worker.writer, 100, ttl_s=600, urls_per_site=1000)
            if wait_s is None and not leases:
                return found
            for lease in leases:
                parts = [settled(lease, index) for index in range(len(lease.urls))]
                found += [(lease.site, queued.hash) for queued in lease.urls]
                assert await worker.commit(*parts, released(lease, 0)) == frozenset()
            if not leases:
                await asyncio.sleep(LOOK_AGAIN_S)
