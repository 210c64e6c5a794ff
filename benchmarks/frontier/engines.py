"""The engines under test: opened, weighed, and the CPU of all their processes counted."""

import asyncio
import os
import random
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from os import sysconf
from pathlib import Path
from typing import Protocol

import psycopg
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

from benchmarks.frontier import bulk
from benchmarks.frontier.workload import fill
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.contract import Frontier
from mannerly.frontier.postgres import PostgresFrontier
from mannerly.frontier.redis import RedisFrontier
from mannerly.frontier.redis.connection import Connection, TimeOuts
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Caps

SCHEMA = "benchmark"
SERVER_SETTINGS = {
    "shared_buffers": "2GB",
    "effective_cache_size": "12GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "'15min'",
    "maintenance_work_mem": "512MB",
    "autovacuum_naptime": "'15s'",
}
"""As docs/postgresql.md recommends for a machine of this size."""
CAPS = Caps(pending=0, spilt=0, pages=0)
"""No limits: the shape of the frontier is the workload's."""
TICKS_A_SECOND = sysconf("SC_CLK_TCK")


class Engine(Protocol):
    name: str
    address: str
    """What `engine_at` takes to open the same database in another process."""

    def open(self) -> Frontier: ...

    def server_cpu_s(self) -> float:
        """CPU time so far of the database's own processes."""

    def load(self, first: int, urls_a_site: int) -> int:
        """Give every site so many URLs more, from number `first` on; how many in all."""

    def settle(self) -> None:
        """Do now what the database would do later because of what was written so far, so that it
        is not counted as the cost of what comes next."""

    def disk_bytes(self) -> int:
        """After `settle`. Of an engine that keeps everything in memory: bytes of that."""

    def drop(self) -> None:
        """Remove the frontier, so that its room can be used by something else."""


class SqliteEngine:
    name = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)

    def open(self) -> Frontier:
        return SqliteFrontier(
            self.path,
            clock=SystemClock(),
            executor=InlineExecutor(),
            random=random.Random(),
            caps=CAPS,
        )

    def server_cpu_s(self) -> float:
        return 0.0

    def load(self, first: int, urls_a_site: int) -> int:
        return bulk.into_sqlite(self.path, first, urls_a_site)

    def settle(self) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        os.sync()

    def disk_bytes(self) -> int:
        return self.path.stat().st_size

    def drop(self) -> None:
        for path in self.path.parent.glob(f"{self.path.name}*"):
            path.unlink()


class PostgresEngine:
    name = "postgres"

    def __init__(self, url: str) -> None:
        self.address = url
        with psycopg.connect(url) as connection:
            backend = connection.info.backend_pid
            self._postmaster = _stat(backend).parent

    def open(self) -> Frontier:
        return PostgresFrontier(
            self.address,
            schema=SCHEMA,
            clock=SystemClock(),
            executor=InlineExecutor(),
            random=random.Random(),
            caps=CAPS,
        )

    def server_cpu_s(self) -> float:
        """The postmaster's, its living children's (backends, writers, autovacuum), and, in the
        postmaster's own account, that of the children that ended."""
        while True:
            before = _stat(self._postmaster)
            ticks = before.own_ticks + before.ended_children_ticks
            children = Path(f"/proc/{self._postmaster}/task/{self._postmaster}/children")
            for child in children.read_text().split():
                with suppress(FileNotFoundError, ProcessLookupError):
                    ticks += _stat(int(child)).own_ticks
            # One that ended meanwhile would be counted twice, or not at all.
            if _stat(self._postmaster).ended_children_ticks == before.ended_children_ticks:
                return ticks / TICKS_A_SECOND

    def load(self, first: int, urls_a_site: int) -> int:
        return bulk.into_postgres(self.address, SCHEMA, first, urls_a_site)

    def settle(self) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")

    def disk_bytes(self) -> int:
        with psycopg.connect(self.address) as connection:
            row = connection.execute(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = %s AND c.relkind = 'r'",
                (SCHEMA,),
            ).fetchone()
        assert row is not None
        return int(row[0])

    def drop(self) -> None:
        with psycopg.connect(self.address) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


class RedisEngine:
    name = "redis"

    def __init__(self, url: str) -> None:
        self.address = url
        facts = self._facts()
        self._server = int(facts["process_id"])
        self._empty_bytes = int(facts["used_memory"])

    def _ask(self, *command: str) -> bytes:
        connection = Connection(self.address, "benchmark", TimeOuts(answer_s=600))
        (reply,) = connection.ask(command)
        connection.close()
        assert isinstance(reply, bytes), reply
        return reply

    def _facts(self) -> dict[str, str]:
        lines = self._ask("INFO").decode().splitlines()
        return {name: value for name, _, value in (line.partition(":") for line in lines)}

    def open(self) -> Frontier:
        return RedisFrontier(
            self.address,
            schema=SCHEMA,
            clock=SystemClock(),
            executor=InlineExecutor(),
            random=random.Random(),
            caps=CAPS,
        )

    def server_cpu_s(self) -> float:
        return cpu_s_of(self._server)

    def load(self, first: int, urls_a_site: int) -> int:
        """Through `add`: there are no tables to write into."""

        async def grow() -> int:
            added = 0
            async with self.open() as frontier:
                sites = (await frontier.stats()).sites
                for batch in fill(sites, first, urls_a_site):
                    added += (await frontier.add(batch)).new
            return added

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, grow()).result()

    def settle(self) -> None:
        """Nothing is put off: the private server does not rewrite its log by itself."""

    def disk_bytes(self) -> int:
        return int(self._facts()["used_memory"]) - self._empty_bytes

    def drop(self) -> None:
        self._ask("FLUSHDB")


class _stat:  # noqa: N801 - reads as the file it stands for
    """/proc/PID/stat: who started it, and its CPU time, which is added up as whole ticks: sums of
    fractions would be smaller or larger by the order of the processes."""

    def __init__(self, pid: int) -> None:
        # The name in brackets may hold anything; what follows it is numbers.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        self.parent = int(fields[1])
        self.own_ticks = int(fields[11]) + int(fields[12])
        self.ended_children_ticks = int(fields[13]) + int(fields[14])


def cpu_s_of(pid: int) -> float:
    """CPU time so far of a process and of its children that ended."""
    found = _stat(pid)
    return (found.own_ticks + found.ended_children_ticks) / TICKS_A_SECOND


@contextmanager
def engine_in(name: str, directory: Path, *, url: str = "") -> Iterator[Engine]:
    """An engine with an empty database; a private server if none is named with `url`."""
    if name == "sqlite":
        yield SqliteEngine(directory / "frontier.db")
    elif name == "redis" and url:
        yield RedisEngine(url)
    elif name == "redis":
        with RedisServer(auto_aof_rewrite_percentage="0") as redis_server:
            yield RedisEngine(redis_server.url)
    elif url:
        yield PostgresEngine(url)
    else:
        with PostgresServer(**SERVER_SETTINGS) as server:
            yield PostgresEngine(server.url)


def engine_at(name: str, address: str) -> Engine:
    """The engine that another process has made."""
    match name:
        case "sqlite":
            return SqliteEngine(Path(address))
        case "redis":
            return RedisEngine(address)
        case _:
            return PostgresEngine(address)
