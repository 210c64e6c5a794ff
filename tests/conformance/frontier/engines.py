"""The engines that the suite runs on, by name, and how their addresses are opened."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.contract import Frontier
from tests.conformance.frontier import postgres_engine, redis_engine, sqlite_engine
from tests.services.redis import VALKEY

NAMES = ["sqlite", "postgres", "redis", "redis-cluster", "valkey"]

OPENER = f"{__name__}:open_at"


def make(name: str, folder: Path) -> Engine:
    """A new, empty crawl. What it keeps on disk, it keeps in `folder`."""
    match name:
        case "sqlite":
            return sqlite_engine.SqliteEngine(folder)
        case "postgres":
            return postgres_engine.PostgresEngine(folder)
        case "redis":
            return redis_engine.RedisEngine(folder)
        case "redis-cluster":
            return redis_engine.RedisEngine(folder, is_cluster=True)
        case "valkey":
            return redis_engine.RedisEngine(folder, VALKEY)
        case _:
            raise ValueError(f"no engine {name}")


def open_at(address: str) -> AbstractAsyncContextManager[Frontier]:
    """The opener of all engines: the scheme of an address tells which."""
    if address.startswith("sqlite:"):
        return sqlite_engine.open_at(address)
    if address.startswith("redis:"):
        return redis_engine.open_at(address)
    return postgres_engine.open_at(address)
