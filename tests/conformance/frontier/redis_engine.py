"""Redis or Valkey under the suite: a name per crawl on one real server, and a server's clock that
stands still until it is moved."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path

from mannerly.clock import InlineExecutor, SystemClock, ThreadExecutor
from mannerly.frontier.conformance.engine import DEFAULT_CAPS, OldVersion
from mannerly.frontier.contract import Frontier
from mannerly.frontier.redis import RedisFrontier
from mannerly.frontier.redis.library import library
from mannerly.model import Caps
from tests.conformance.frontier.movable_clock import MovableClock
from tests.services import redis_cluster
from tests.services.redis import USUAL, shared

_NUMBERS = count(1)

CLOCK = {
    "10_clock.lua": """
local function server_ms(call)
  return tonumber(redis.call('GET', call.tag .. 'movable') or 1800000000000)
end
"""
}


class RedisEngine:
    """On a server, or (`is_cluster`) in a Cluster of six."""

    def __init__(self, folder: Path, program: str = USUAL, *, is_cluster: bool = False) -> None:
        """`folder` is not used: a server keeps its data itself. `program` is that of one server."""
        self._cluster = redis_cluster.shared() if is_cluster else None
        self._servers = self._cluster.nodes if self._cluster else [shared(program)]
        self._url = self._cluster.url if self._cluster else self._servers[0].url
        self._functions = library(CLOCK, in_cluster=is_cluster)
        self._name = f"crawl_{next(_NUMBERS)}"
        self._clock = MovableClock()
        self._handles = 0
        self._ms = 1_800_000_000_000

    def open(self, *, caps: Caps = DEFAULT_CAPS) -> AbstractAsyncContextManager[Frontier]:
        self._handles += 1
        return RedisFrontier(
            self._url,
            schema=self._name,
            clock=self._clock,
            executor=InlineExecutor(),
            random=random.Random(self._handles),
            caps=caps,
            functions=self._functions,
        )

    async def advance(self, seconds: float) -> None:
        self._clock.now_s += seconds
        await self.set_wall_clock(seconds)

    async def set_wall_clock(self, seconds: float) -> None:
        self._clock.wall_s += seconds
        self._ms += round(seconds * 1000)
        if self._cluster:
            self._cluster.set_in_each(self._name, "movable", self._ms)
        else:
            self._servers[0].execute("SET", f"{{mannerly:{self._name}}}:movable", self._ms)

    async def restart(self, away_s: float) -> None:
        """The server was away; this machine's clock is another one, too."""
        self._clock.now_s = 0.0
        await self.set_wall_clock(away_s)

    def address(self) -> str:
        return f"redis:{self._name}:{self._url}"

    def connections(self) -> int | None:
        return sum(it.connections(f"mannerly-{self._name}") for it in self._servers)

    def old_versions(self) -> Sequence[OldVersion]:
        """None yet: the first layout is the newest."""
        return []

    def close(self) -> None:
        """A crawl that is left behind is in nobody's way: the server ends with the tests."""


@asynccontextmanager
async def open_at(address: str) -> AsyncIterator[Frontier]:
    """A handle as the crawler has it: real time, durable, blocking work on its own thread."""
    _, name, url = address.split(":", 2)
    executor = ThreadExecutor("frontier")
    try:
        async with RedisFrontier(
            url,
            schema=name,
            clock=SystemClock(),
            executor=executor,
            random=random.SystemRandom(),
        ) as frontier:
            yield frontier
    finally:
        executor.close()
