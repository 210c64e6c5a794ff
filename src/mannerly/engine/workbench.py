"""The workbench: leased sites in memory, by the time at which each may be visited.

A **seat** is one leased site. It is *ready*, *resting* (its small delay has not passed yet), or
away being served. The workbench holds no site that is not leased, so it is as large as the lease
loop lets it get, whatever the size of the crawl.
"""

import heapq
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from mannerly.engine.requests import Visit
from mannerly.fetch.contract import Channel
from mannerly.model import Lease, QueuedUrl


@dataclass(slots=True)
class Seat:
    lease: Lease
    start_by_at: float
    """The fence: no request of this lease is written later."""
    next_url: int = 0
    """Index of the lease's next URL."""
    visit: Visit = field(default_factory=Visit)
    """What was asked in the visit that is being made."""
    not_before_at: float = 0.0
    """What is known of the site's rest so far; the release passes it on."""
    began_at: float = 0.0
    """When the last visit began."""
    decided: int = 0
    """URLs that were settled or deferred under this lease."""
    revoked: bool = False
    """The frontier refused the token: the site is somebody else's now."""
    channel: Channel | None = None
    """An open connection that the next visit may go on with."""
    channel_origin: str = ""
    admitted: list[str] = field(default_factory=list)
    """IP addresses at which the visit has a slot."""
    turned_away: str = ""
    """The first IP address that had no slot for it."""
    more: bool = True
    """As far as is known, the site has more to visit than this lease brought."""

    @property
    def has_url(self) -> bool:
        return self.next_url < len(self.lease.urls)

    def close_channel(self) -> None:
        if self.channel is not None:
            self.channel.close()
            self.channel = None


def by_origin(urls: list[QueuedUrl]) -> list[QueuedUrl]:
    """The URLs of a lease, those of one origin and priority side by side, since each origin takes a
    connection of its own. The oldest stays the first: where a lease ends after a visit or two, any
    other order could keep it waiting for ever."""
    groups: dict[tuple[int, str], list[QueuedUrl]] = {}
    for url in urls:
        origin = url.url[: url.url.find("/", len("https://"))]
        groups.setdefault((url.priority, origin), []).append(url)
    alike = sorted(groups.items(), key=lambda group: group[0][0])  # keeps the order of the others
    return [url for _, group in alike for url in group]


class Workbench:
    def __init__(self) -> None:
        self._ready: deque[Seat] = deque()
        self._resting: list[tuple[float, int, Seat]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._ready) + len(self._resting)

    def sit(self, seat: Seat, ready_at: float, now: float) -> None:
        if ready_at <= now:
            self._ready.append(seat)
        else:
            self._count += 1  # ties are broken by order of arrival, never by comparing seats
            heapq.heappush(self._resting, (ready_at, self._count, seat))

    def take(self, now: float) -> Seat | None:
        """The seat that has been ready longest, or None."""
        self._wake(now)
        return self._ready.popleft() if self._ready else None

    def ready(self, now: float) -> int:
        self._wake(now)
        return len(self._ready)

    def next_ready_at(self) -> float | None:
        """When the next resting seat becomes ready; None if none rests."""
        return self._resting[0][0] if self._resting else None

    def revoke(self, tokens: Collection[int]) -> None:
        """Mark the seats of these leases; whoever takes them drops them."""
        for seat in self.seats():
            if seat.lease.token in tokens:
                seat.revoked = True

    def seats(self) -> list[Seat]:
        return [*self._ready, *(seat for _, _, seat in self._resting)]

    def shed(self, most: int) -> list[Seat]:
        """Take off the bench those whose turn would come last, until so many are left."""
        surplus = len(self) - most
        if surplus <= 0:
            return []
        self._resting.sort()  # which is a heap again
        kept = max(0, len(self._resting) - surplus)
        taken = [seat for _, _, seat in self._resting[kept:]]
        del self._resting[kept:]
        while len(taken) < surplus and self._ready:
            taken.append(self._ready.pop())
        return taken

    def drain(self) -> list[Seat]:
        """Take everybody off the bench."""
        seats = self.seats()
        self._ready.clear()
        self._resting.clear()
        return seats

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._ready.append(heapq.heappop(self._resting)[2])
