"""The design that the frontier replaces, on the same data: one table of URLs, claimed in the order
in which they were added, with a look at the time of the domain's last visit.

    urls(url, domain, added_at, claimed_at, status)    domains(domain, last_visit_at)

Measured twice: as it was, and with the index that one would add next (the unclaimed URLs by
`added_at`). A claim that takes longer than the limit is broken off and told as "over N s".
`usable` is how many of the claimed URLs are of different domains: the others had to be given back.
"""

import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.frontier.cost import Cost
from benchmarks.frontier.engines import Engine, PostgresEngine, SqliteEngine
from benchmarks.frontier.workload import ODD, OWN_LINKS, site_name, url_text

DELAY_S = 70.0
CLAIM = 500
ROUNDS = 5
LOAD_BATCH = 200_000
ADDED_FROM = 1_700_000_000.0
ADDED_WITHIN_S = 86_400.0

TABLES = (
    "CREATE TABLE urls (url TEXT PRIMARY KEY, domain TEXT NOT NULL,"
    " added_at DOUBLE PRECISION NOT NULL, claimed_at DOUBLE PRECISION, status INTEGER)",
    "CREATE TABLE domains (domain TEXT PRIMARY KEY, last_visit_at DOUBLE PRECISION NOT NULL)",
)
INDEX = "CREATE INDEX unclaimed ON urls (added_at) WHERE claimed_at IS NULL"

Row = tuple[str, str, float]
Figures = dict[str, object]


class TooSlowError(Exception):
    """The limit on a claim was reached."""


class Naive(ABC):
    """The design on one database: a connection, and what differs between the two."""

    mark: str
    """How a parameter is written."""
    connection: Any
    server_cpu_s = staticmethod(lambda: 0.0)

    @abstractmethod
    def load(self, rows: Sequence[Row]) -> None: ...

    @abstractmethod
    def claim_within(self, limit_s: float, now: float) -> list[tuple[str, str]]:
        """Select URLs to claim; `TooSlowError` when the limit is reached."""

    def select(self, now: float) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = self.connection.execute(
            "SELECT u.url, u.domain FROM urls u JOIN domains d ON d.domain = u.domain"
            f" WHERE u.claimed_at IS NULL AND d.last_visit_at <= {self.mark}"
            f" ORDER BY u.added_at LIMIT {CLAIM}",
            (now - DELAY_S,),
        ).fetchall()
        return found

    def many(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        with closing(self.connection.cursor()) as cursor:
            cursor.executemany(sql.replace("?", self.mark), list(rows))

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement)
        self.connection.commit()


class NaiveSqlite(Naive):
    mark = "?"

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA cache_size = -65536")

    def load(self, rows: Sequence[Row]) -> None:
        self.connection.executemany(
            "INSERT INTO urls (url, domain, added_at) VALUES (?, ?, ?)", rows
        )
        self.connection.commit()

    def claim_within(self, limit_s: float, now: float) -> list[tuple[str, str]]:
        timer = threading.Timer(limit_s, self.connection.interrupt)
        timer.start()
        try:
            return self.select(now)
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            raise TooSlowError from exc
        finally:
            timer.cancel()
            timer.join()


class NaivePostgres(Naive):
    mark = "%s"

    def __init__(self, engine: PostgresEngine) -> None:
        self.server_cpu_s = engine.server_cpu_s
        self.connection = psycopg.connect(engine.address)
        self.run(
            "DROP SCHEMA IF EXISTS naive CASCADE",
            "CREATE SCHEMA naive",
            "SET search_path = naive",
        )

    def load(self, rows: Sequence[Row]) -> None:
        with (
            closing(self.connection.cursor()) as cursor,
            cursor.copy("COPY urls (url, domain, added_at) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
        self.connection.commit()

    def claim_within(self, limit_s: float, now: float) -> list[tuple[str, str]]:
        self.connection.execute(f"SET statement_timeout = {round(limit_s * 1000)}")
        try:
            return self.select(now)
        except psycopg.errors.QueryCanceled as exc:
            self.connection.rollback()
            raise TooSlowError from exc
        finally:
            self.connection.execute("SET statement_timeout = 0")


def measure(
    engine: Engine, directory: Path, sites: int, sizes: list[int], limit_s: float
) -> Figures:
    """Cost of claiming and of marking as done, at each size, by size."""
    naive: Naive
    if isinstance(engine, PostgresEngine):
        naive = NaivePostgres(engine)
    else:
        assert isinstance(engine, SqliteEngine)
        naive = NaiveSqlite(directory / "naive.db")
    figures: Figures = {}
    with closing(naive.connection):
        naive.run(*TABLES)
        naive.many("INSERT INTO domains VALUES (?, 0)", ((site_name(n),) for n in range(sites)))
        filled = 0
        for size in sizes:
            naive.run("DROP INDEX IF EXISTS unclaimed")
            _fill(naive, sites, filled, round(size / sites))
            filled = round(size / sites)
            plain = _claims(naive, limit_s)
            naive.run(INDEX, "ANALYZE")
            figures[str(size)] = {"plain": plain, "indexed": _claims(naive, limit_s)}
    return figures


def _fill(naive: Naive, sites: int, first: int, last: int) -> None:
    rows: list[Row] = []
    for site in range(sites):
        rows += [
            (url_text(site, n), site_name(site), _added_at(site, n)) for n in range(first, last)
        ]
        if len(rows) >= LOAD_BATCH:
            naive.load(rows)
            rows.clear()
    naive.load(rows)
    naive.run("ANALYZE")


def _added_at(site: int, number: int) -> float:
    """Any time of a day, the same for what one page of a site linked to: what a crawl finds is
    found in no order of sites, but many URLs of one site at once."""
    mixed = (site * 1_009 + number // OWN_LINKS) * ODD % 2**64
    return ADDED_FROM + mixed / 2**64 * ADDED_WITHIN_S


def _claims(naive: Naive, limit_s: float) -> Figures:
    claiming, marking = Cost(naive.server_cpu_s), Cost(naive.server_cpu_s)
    urls = usable = 0
    for _ in range(ROUNDS):
        now = time.time()
        try:
            with claiming.spent():
                found = naive.claim_within(limit_s, now)
                naive.many(
                    "UPDATE urls SET claimed_at = ? WHERE url = ?", ((now, u) for u, _ in found)
                )
                naive.many(
                    "UPDATE domains SET last_visit_at = ? WHERE domain = ?",
                    ((now, domain) for domain in sorted({domain for _, domain in found})),
                )
                naive.connection.commit()
        except TooSlowError:
            return {"claim": f"over {limit_s:g} s"}
        with marking.spent():
            naive.many("UPDATE urls SET status = 200 WHERE url = ?", ((u,) for u, _ in found))
            naive.connection.commit()
        urls += len(found)
        usable += len({domain for _, domain in found})
    return {
        "urls": urls, "usable": usable, "claim": claiming.per(urls), "mark_done": marking.per(urls),
    }  # fmt: skip
