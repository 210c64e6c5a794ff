"""Short names for what the tests send."""

from mannerly.frontier.contract import Frontier
from mannerly.model import (
    Commit,
    Deferred,
    Lease,
    NewUrl,
    Outcome,
    Priority,
    Released,
    RobotsRecord,
    RobotsSeen,
    Settled,
    Source,
)

TTL_S = 65.0
REST_S = 15.0


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
