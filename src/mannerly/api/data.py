"""`mannerly.open`: what a crawl has, for programs that are not asynchronous. Reads only."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar

import duckdb

from mannerly import checking, explaining
from mannerly.api.options import config_of
from mannerly.api.page import STORED, Page
from mannerly.checking import Report
from mannerly.config import Config
from mannerly.errors import UsageError
from mannerly.explaining import Explanation
from mannerly.model import FrontierStats
from mannerly.opening import existing_crawl
from mannerly.reading.export import FORMATS, TEXTS, Exported, export, place_for
from mannerly.reading.looking import Found, look_up
from mannerly.reading.opening import open_reading, roots_of
from mannerly.reading.searching import Hits, search
from mannerly.reading.selection import Selection

T = TypeVar("T")

ROWS_AT_A_TIME = 1_000
EVERYTHING = Selection()


def open_data(data_dir: str | PathLike[str], **options: object) -> "CrawlData":
    """The data of a crawl, for reading; it may be running. `options`: `db_url` and `db_schema`,
    where the frontier is not in the directory. `NoCrawlError` if there is no crawl."""
    return CrawlData(config_of({"data_dir": Path(data_dir), **options}))


class CrawlData:
    """What a crawl has. Every call sees what is settled when it is made."""

    def __init__(self, config: Config) -> None:
        self._config = config
        roots_of([config.crawl.data_dir])

    def pages(self, where: str = "", parameters: Sequence[object] = ()) -> Iterator[Page]:
        """The stored pages, one after the other, in no particular order: all of them, or those
        that an SQL condition on `pages` selects (`"site = ?", ["example.org"]`)."""
        columns = ", ".join(f"pages.{name}" for name in STORED)
        condition = f"WHERE {where}" if where else ""
        sql = (
            f"SELECT {columns}, extracts.data "  # noqa: S608 - the condition is the caller's own
            f"FROM (SELECT * FROM pages {condition}) AS pages "
            "LEFT JOIN extracts USING (url_hash, url)"
        )
        with self._result(sql, parameters) as found:
            while rows := found.fetchmany(ROWS_AT_A_TIME):
                for *values, data in rows:
                    yield Page.of_row(dict(zip(STORED, values, strict=True)), data)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Any SQL over the tables (DuckDB's dialect), a dict a row. `UsageError` if it does not
        fit."""
        with self._result(sql, parameters) as found:
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    @contextmanager
    def _result(
        self, sql: str, parameters: Sequence[object]
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        # A connection each: the rows of one query may be read while the next one is made.
        with open_reading([self._config.crawl.data_dir]) as store:
            try:
                yield store.execute(sql, list(parameters))
            except duckdb.Error as exc:
                raise UsageError(str(exc).split("\n", 1)[0]) from exc

    def show(self, url: str) -> Found | None:
        """What is stored of a URL, however it is spelt: pages, fetches, extracts, as dicts by
        column; None if nothing is."""
        with open_reading([self._config.crawl.data_dir]) as store:
            return look_up(store, url)

    def search(self, words: str, *, limit: int = 10, sites: Sequence[str] = ()) -> Hits:
        """The pages that have all the words, best first (`hits.best`), and how many there are
        (`hits.total`). The first search makes the index, later ones add what is new."""
        data_dir = self._config.crawl.data_dir
        return search([data_dir], words, limit=limit, sites=sites, tell=lambda _: None)

    def export(
        self,
        output: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - as the command line calls it
        text: str | None = None,
        selection: Selection = EVERYTHING,
    ) -> Exported:
        """Write pages to `output`, which is there when it is complete: how many, and a note. The
        name tells the format (`.jsonl`, `.csv`, `.wet.gz`, `.warc.gz`, `.txt`, `.md`) where
        `format` does not; `text` is `main` or `all`, as for `mannerly export`."""
        layout, place = place_for(format, str(output))
        if layout not in FORMATS:
            raise UsageError(f"there is no format {layout!r}; choose one of {', '.join(FORMATS)}")
        if text not in (None, *TEXTS):
            raise UsageError(f"text={text!r} is neither 'main' nor 'all'")
        return export([self._config.crawl.data_dir], selection, layout, place, text)

    def explain(self, url: str) -> Explanation:
        """Why this URL was crawled, or was not."""
        return _aside(explaining.explain(self._config, url))

    def stats(self) -> FrontierStats:
        """The crawl's counts."""
        return _aside(_stats(self._config))

    def check(self) -> Report:
        """Whether every file is whole, and frontier and store agree; `report.problems` is empty
        then. Reads everything."""
        return _aside(checking.check(self._config))

    def settings(self) -> Mapping[str, str]:
        """The options that the crawl was started with."""
        return _aside(_settings(self._config))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Nothing is held between two calls; a `with` reads well, and costs nothing."""


async def _stats(config: Config) -> FrontierStats:
    async with existing_crawl(config) as (frontier, _):
        return await frontier.stats()


async def _settings(config: Config) -> Mapping[str, str]:
    async with existing_crawl(config) as (_, settings):
        return settings


def _aside(work: Coroutine[Any, Any, T]) -> T:
    """Run it on a thread of its own: the caller may be inside an event loop (a notebook is)."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(asyncio.run(work))
        except BaseException as exc:  # noqa: BLE001 - handed on to whoever waits
            answer.set_exception(exc)

    threading.Thread(target=run, name="mannerly-look", daemon=True).start()
    return answer.result()
