"""Asking DuckDB: one statement that only reads, its rows as a stream, its errors in one line."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import duckdb

from mannerly.errors import StoreError, UsageError

T = TypeVar("T")

_ROWS_AT_A_TIME = 64
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?(\([^)]*\)\s*)?", re.IGNORECASE)
_PIVOT = re.compile(r"\bPIVOT\b", re.IGNORECASE)


def single_query(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """`sql` without what surrounds it, if it is exactly one statement and only reads; else
    `UsageError`."""
    with told_plainly():
        statements = connection.extract_statements(sql)
    if not statements:
        raise UsageError("the query is empty; run `mannerly query` to see tables and examples")
    if len(statements) > 1:
        raise UsageError(f"one statement at a time, please: these are {len(statements)}")
    text = _without_end(connection, sql.strip())
    if not _reads(connection, statements[0].type, text):
        raise UsageError("only queries are possible (SELECT …): the store is not changed by SQL")
    return text


def _without_end(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Up to the semicolon that ends the statement: behind it stand comments at most. It is not
    looked for in the text, because a string may hold anything: DuckDB is asked of each."""
    for mark in re.finditer(";", sql):
        try:
            rest = connection.extract_statements(sql[mark.end() :])
            if not rest and len(connection.extract_statements(sql[: mark.start()])) == 1:
                return sql[: mark.start()]
        except duckdb.Error:
            continue
    return sql


def _reads(connection: duckdb.DuckDBPyConnection, kind: "duckdb.StatementType", text: str) -> bool:
    if kind == duckdb.StatementType.SELECT:
        return True
    if kind == duckdb.StatementType.MULTI:
        # What PIVOT becomes: an enumeration of the new columns, and a SELECT.
        return _PIVOT.search(text) is not None
    if kind == duckdb.StatementType.EXPLAIN:
        # EXPLAIN ANALYZE runs what it explains, COPY included.
        head = _EXPLAIN.match(text)
        inner = connection.extract_statements(text[head.end() :]) if head else []
        return len(inner) == 1 and inner[0].type == duckdb.StatementType.SELECT
    return False


def interruptibly(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Let DuckDB work so that Ctrl-C ends it. Python hears of a signal when the main thread is back
    from what it called, and DuckDB may not come back for hours: so another thread calls it, and
    this one tells it to stop."""
    with ThreadPoolExecutor(1) as other:
        working = other.submit(work)
        try:
            return working.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


class Answer:
    """The result of a query, row by row; read once, never whole in memory.

    Two columns of one name would be one in JSON: the second `a` is called `a_1`.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[object] = ()
    ) -> None:
        self._connection = connection
        with told_plainly():
            interruptibly(connection, lambda: connection.execute(sql, list(values)))
        self.names = _distinct([str(column[0]) for column in connection.description or []])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while True:
            with told_plainly():
                rows = interruptibly(
                    self._connection, lambda: self._connection.fetchmany(_ROWS_AT_A_TIME)
                )
            if not rows:
                return
            yield from rows


@contextmanager
def told_plainly() -> Iterator[None]:
    """What DuckDB raises, as one of our errors. An interrupt stays one."""
    try:
        yield
    except duckdb.InterruptException as exc:
        raise KeyboardInterrupt from exc
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InternalException) as exc:
        raise StoreError(one_line(exc)) from exc
    except duckdb.Error as exc:
        raise UsageError(one_line(exc)) from exc
    except RuntimeError as exc:
        if "interrupted" not in str(exc).lower():
            raise
        raise KeyboardInterrupt from exc


def one_line(error: Exception) -> str:
    """DuckDB's message without the lines that point into the query."""
    told = re.split(r"\n\s*LINE \d+:", str(error))[0]
    return " ".join(told.split())


def _distinct(names: list[str]) -> list[str]:
    taken: set[str] = set()
    found = []
    for name in names:
        free, count = name, 0
        while free in taken:
            count += 1
            free = f"{name}_{count}"
        taken.add(free)
        found.append(free)
    return found
