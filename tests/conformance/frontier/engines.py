"""The engines under test, and what the suite may ask of each."""

import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from mannerly.clock import InlineExecutor, SystemClock, ThreadExecutor
from mannerly.frontier.contract import Frontier
from mannerly.frontier.sqlite import SqliteFrontier

NAMES = ["sqlite"]


class Engine(Protocol):
    """One empty crawl of one engine."""

    def open(self) -> AbstractAsyncContextManager[Frontier]:
        """Another handle on the crawl, as another process would have it, on a clock that only
        `advance` moves (or that runs on by itself, besides)."""

    async def advance(self, seconds: float) -> None:
        """So much time passes on the frontier's clock, for all handles."""

    async def restart(self, away_s: float) -> None:
        """Whatever keeps the frontier's clock (machine, server) was restarted and away so long.
        Every handle was closed before."""

    def address(self) -> str:
        """For `open_at` in other processes. Not to be mixed with handles of `open`."""


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 5000.0
        self.wall_s = 1_800_000_000.0

    def now(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return self.wall_s

    def move(self, seconds: float) -> None:
        self.now_s += seconds
        self.wall_s += seconds


class SqliteEngine:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "frontier.db"
        self._clock = MovableClock()
        self._boots = 1
        self._handles = 0

    def open(self) -> AbstractAsyncContextManager[Frontier]:
        self._handles += 1
        return SqliteFrontier(
            self._path,
            clock=self._clock,
            executor=InlineExecutor(),
            random=random.Random(self._handles),
            synchronous="NORMAL",
            boot_id=f"boot {self._boots}",
        )

    async def advance(self, seconds: float) -> None:
        self._clock.move(seconds)

    async def restart(self, away_s: float) -> None:
        self._boots += 1
        self._clock.now_s = 0.0
        self._clock.wall_s += away_s

    def address(self) -> str:
        return f"sqlite:{self._path}"


def make(name: str, folder: Path) -> Engine:
    """A new, empty crawl. What it keeps on disk, it keeps in `folder`."""
    match name:
        case "sqlite":
            return SqliteEngine(folder)
        case _:
            raise ValueError(f"no engine {name}")


@asynccontextmanager
async def open_at(address: str) -> AsyncIterator[Frontier]:
    """A handle as the crawler has it: real time, durable, SQL on its own thread."""
    scheme, _, path = address.partition(":")
    assert scheme == "sqlite"
    executor = ThreadExecutor("frontier")
    try:
        async with SqliteFrontier(
            Path(path), clock=SystemClock(), executor=executor, random=random.SystemRandom()
        ) as frontier:
            yield frontier
    finally:
        executor.close()
