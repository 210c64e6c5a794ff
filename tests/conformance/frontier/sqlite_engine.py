"""SQLite under the suite: a file in a folder, and a boot clock that stands still until moved."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from mannerly.clock import InlineExecutor, SystemClock, ThreadExecutor
from mannerly.frontier.conformance.engine import DEFAULT_CAPS, OldVersion
from mannerly.frontier.contract import Frontier
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Caps
from tests.conformance.frontier import sqlite_old_file
from tests.conformance.frontier.movable_clock import MovableClock


class SqliteEngine:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "frontier.db"
        self._clock = MovableClock()
        self._boots = 1
        self._handles = 0

    def open(self, *, caps: Caps = DEFAULT_CAPS) -> AbstractAsyncContextManager[Frontier]:
        self._handles += 1
        return SqliteFrontier(
            self._path,
            clock=self._clock,
            executor=InlineExecutor(),
            random=random.Random(self._handles),
            synchronous="NORMAL",
            boot_id=self._boot_id(),
            caps=caps,
        )

    def _boot_id(self) -> str:
        return f"boot {self._boots}"

    async def advance(self, seconds: float) -> None:
        self._clock.now_s += seconds
        self._clock.wall_s += seconds

    async def set_wall_clock(self, seconds: float) -> None:
        self._clock.wall_s += seconds

    async def restart(self, away_s: float) -> None:
        self._boots += 1
        self._clock.now_s = 0.0
        self._clock.wall_s += away_s

    def address(self) -> str:
        return f"sqlite:{self._path}"

    def connections(self) -> None:
        return None

    def old_versions(self) -> Sequence[OldVersion]:
        def version(schema: int) -> OldVersion:
            async def make() -> None:
                now_s, wall_s = self._clock.now(), self._clock.wall()
                sqlite_old_file.write(self._path, schema, self._boot_id(), now_s, wall_s)

            return OldVersion(f"schema {schema}", make)

        return [version(1), version(2), version(3)]

    def close(self) -> None:
        """Nothing is outside the folder."""


@asynccontextmanager
async def open_at(address: str) -> AsyncIterator[Frontier]:
    """A handle as the crawler has it: real time, durable, SQL on its own thread."""
    executor = ThreadExecutor("frontier")
    try:
        async with SqliteFrontier(
            Path(address.removeprefix("sqlite:")),
            clock=SystemClock(),
            executor=executor,
            random=random.SystemRandom(),
        ) as frontier:
            yield frontier
    finally:
        executor.close()
