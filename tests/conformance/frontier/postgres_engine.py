"""PostgreSQL under the suite: a schema per crawl on one real server, and a server's clock that
stands still until it is moved."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

from mannerly.clock import InlineExecutor, SystemClock, ThreadExecutor
from mannerly.frontier.conformance.engine import DEFAULT_CAPS, OldVersion
from mannerly.frontier.contract import Frontier
from mannerly.frontier.postgres import PostgresFrontier, schema
from mannerly.model import Caps
from tests.conformance.frontier import postgres_old_schema
from tests.conformance.frontier.movable_clock import MovableClock
from tests.services.postgres import shared

_NUMBERS = count(1)

MOVABLE = """
CREATE TABLE movable (ms double precision NOT NULL);
INSERT INTO movable VALUES (1800000000000);
CREATE OR REPLACE FUNCTION now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
$$ SELECT ms FROM movable $$;
"""


class PostgresEngine:
    def __init__(self, folder: Path) -> None:
        """`folder` is not used: a server keeps its data itself."""
        self._server = shared()
        self._schema = f"crawl_{next(_NUMBERS)}"
        self._clock = MovableClock()
        self._handles = 0
        self._is_movable = False
        # What is killed on a disk is tested elsewhere: see tests/crash/test_postgres.py.
        self._connection = psycopg.connect(
            self._server.url, autocommit=True, options=f"-c search_path={self._schema}"
        )

    def open(self, *, caps: Caps = DEFAULT_CAPS) -> AbstractAsyncContextManager[Frontier]:
        self._make_movable()
        self._handles += 1
        return PostgresFrontier(
            f"{self._server.url}?options=-c%20synchronous_commit%3Doff",
            schema=self._schema,
            clock=self._clock,
            executor=InlineExecutor(),
            random=random.Random(self._handles),
            caps=caps,
        )

    def _make_movable(self, number: int | None = None) -> None:
        """Of an earlier schema, if its number is given."""
        if not self._is_movable:
            self._is_movable = True
            schema.migrate(self._connection, self._schema, schema.migrations()[:number])
            self._connection.execute(MOVABLE)

    async def advance(self, seconds: float) -> None:
        self._clock.now_s += seconds
        await self.set_wall_clock(seconds)

    async def set_wall_clock(self, seconds: float) -> None:
        self._clock.wall_s += seconds
        self._make_movable()
        self._connection.execute("UPDATE movable SET ms = ms + %s", (round(seconds * 1000),))

    async def restart(self, away_s: float) -> None:
        """The server was away; this machine's clock is another one, too."""
        self._clock.now_s = 0.0
        await self.set_wall_clock(away_s)

    def address(self) -> str:
        return f"postgres:{self._schema}:{self._server.url}"

    def connections(self) -> int | None:
        row = self._connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s",
            (f"mannerly {self._schema}",),
        ).fetchone()
        assert row is not None
        return int(row[0])

    def old_versions(self) -> Sequence[OldVersion]:
        def version(number: int) -> OldVersion:
            async def make() -> None:
                self._make_movable(number)
                row = self._connection.execute("SELECT now_ms()").fetchone()
                assert row is not None
                postgres_old_schema.write(self._connection, int(row[0]), self._clock.wall())

            return OldVersion(f"schema {number}", make)

        return [version(1)]

    def close(self) -> None:
        name = sql.Identifier(self._schema)
        self._connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))
        self._connection.close()


@asynccontextmanager
async def open_at(address: str) -> AsyncIterator[Frontier]:
    """A handle as the crawler has it: real time, durable, SQL on its own thread."""
    _, name, url = address.split(":", 2)
    executor = ThreadExecutor("frontier")
    try:
        async with PostgresFrontier(
            url,
            schema=name,
            clock=SystemClock(),
            executor=executor,
            random=random.SystemRandom(),
        ) as frontier:
            yield frontier
    finally:
        executor.close()
