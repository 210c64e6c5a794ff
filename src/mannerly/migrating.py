"""`mannerly migrate`: a crawl that nobody runs goes from one database to another.

In this order, so that it may be cut off anywhere and be run again:

1. What dead processes left in the data directory is finished, as at `--resume`.
2. The crawl is handed over: nobody can crawl where it is any more.
3. All of it is restored where it goes, read back from there and compared. No crawl is there yet.
4. It is created there.

Cut off before the last step, the same command clears what was restored and begins again; cut off
after it, it finds the crawl there and says so. At no moment could both be crawled.
"""

import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import OPTIONS, Config
from mannerly.datadir import held
from mannerly.dburl import database_url, schema_name, sqlite_path, without_password
from mannerly.errors import (
    ConfigError,
    CrawlBusyError,
    CrawlExistsError,
    FrontierError,
    NoCrawlError,
    UsageError,
)
from mannerly.frontier.contract import MOVED_TO, Frontier
from mannerly.frontier.leases import moved_error
from mannerly.frontier.moving import Weight, copy, judge, shift_between, weighed
from mannerly.joining import CRAWL_ID, place_text, require_directory
from mannerly.model import FrontierStats
from mannerly.reviving import bring_back_the_dead

SILENT_S = 60.0
"""A process that was heard of within this time is taken to be crawling."""

Told = Callable[[str, int, int], None]
"""What is being done, and how many rows of how many it is done with."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a crawl is or goes."""

    url: str
    schema: str

    @classmethod
    def of(cls, url: str, schema: str) -> "Place":
        """`ConfigError` where nothing can be there. A file is known by its whole path."""
        try:
            url, schema = database_url(url), schema_name(schema)
        except ValueError as exc:
            raise ConfigError(f"{without_password(url)}: {exc}") from None
        path = sqlite_path(url)
        return cls(f"sqlite:///{path.resolve()}" if path is not None else url, schema)

    @property
    def path(self) -> Path | None:
        return sqlite_path(self.url)

    @property
    def words(self) -> str:
        """The options that name it."""
        words = f"--db-url {without_password(self.url)}"
        if self.path is not None or self.schema == OPTIONS["db_schema"].default:
            return words
        return f"{words} --db-schema {self.schema}"

    def config(self, config: Config) -> Config:
        return replace(config, crawl=replace(config.crawl, db_url=self.url, db_schema=self.schema))


@dataclass(frozen=True, slots=True)
class Migrated:
    """How it ended."""

    weight: Weight | None
    """None: it was done before."""


async def migrate(config: Config, source: Place, target: Place, told: Told) -> Migrated:
    """Move the crawl of `config`'s data directory. `UsageError`: nothing was moved, and where it is
    said so, the crawl can be gone on with where it was."""
    async with AsyncExitStack() as stack:
        here, settings = await _opened(stack, config, source, target)
        await _require_stopped(config, source, here, float(settings["delay_s"]))
        there = await stack.enter_async_context(_frontier(target.config(config)))
        stored = await there.settings()
        moved_to = settings.pop(MOVED_TO, "")
        if moved_to and moved_to != target.words:
            raise moved_error(place_text(source.config(config)), moved_to)
        if stored is not None:
            if moved_to and stored.get(CRAWL_ID) == settings[CRAWL_ID]:
                return Migrated(None)
            raise _exists(target.config(config), stored)
        await there.clear()
        await here.hand_over(target.words)
        weight = await _carry(here, there, told)
        await there.create(settings)
        return Migrated(weight)


async def undo(config: Config, source: Place, target: Place) -> None:
    """Take back a move that was cut off: what was restored is removed, and the crawl is gone on
    with where it was."""
    async with AsyncExitStack() as stack:
        here, settings = await _opened(stack, config, source, target)
        if settings.get(MOVED_TO) != target.words:
            raise UsageError(f"{place_text(source.config(config))} was not moved to {target.words}")
        there = await stack.enter_async_context(_frontier(target.config(config)))
        stored = await there.settings()
        if stored is not None and stored.get(CRAWL_ID) == settings[CRAWL_ID]:
            raise CrawlExistsError(
                f"the crawl has arrived in {place_text(target.config(config))}, and may have gone "
                "on there; migrate it from there to an empty place"
            )
        if stored is None:
            await there.clear()
        await here.hand_over("")


async def _opened(
    stack: AsyncExitStack, config: Config, source: Place, target: Place
) -> tuple[Frontier, dict[str, str]]:
    """The crawl that is to go, with its data directory held."""
    if source.words == target.words:
        raise UsageError(f"{source.words} is where the crawl is already; name another place")
    at = source.config(config)
    missing = NoCrawlError(f"there is no crawl in {place_text(at)} to be moved")
    if source.path is not None and not source.path.exists():
        raise missing
    frontier = await stack.enter_async_context(_frontier(at))
    settings = await frontier.settings()
    if settings is None:
        raise missing
    require_directory(config.crawl.data_dir, settings)
    stack.enter_context(held(config.crawl.data_dir))
    return frontier, settings


def _frontier(config: Config) -> Frontier:
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
    return assemble.make_frontier(config, world)


async def _require_stopped(
    config: Config, source: Place, frontier: Frontier, delay_s: float
) -> None:
    await bring_back_the_dead(frontier, config.crawl.data_dir, delay_s)
    for crawler in await frontier.crawlers():
        if crawler.silent_s < SILENT_S:
            raise CrawlBusyError(
                f"{crawler.label} crawls in {place_text(source.config(config))} (heard of "
                f"{crawler.silent_s:.0f} s ago); stop it first. One that was killed on another "
                f"machine counts as stopped after {SILENT_S:.0f} s"
            )


def _exists(config: Config, stored: dict[str, str]) -> CrawlExistsError:
    left = " (one that was moved away from there)" if MOVED_TO in stored else ""
    return CrawlExistsError(
        f"there is a crawl in {place_text(config)} already{left}; remove it first "
        "(docs/migrate.md), or name an empty place"
    )


async def _carry(here: Frontier, there: Frontier, told: Told) -> Weight:
    """Restore and compare. Each raises before there is a crawl `there`."""
    before = await here.stats()
    total = _rows_of(before)
    shift = shift_between(await here.clock(), await there.clock())
    left = await copy(here, there, shift, _counting(told, "carried over", total))
    wrong = left.contradiction()
    if not wrong and _lasting(await here.stats()) != _lasting(before):
        wrong = "it changed meanwhile"
    if wrong:
        raise FrontierError(
            f"the crawl that is to be moved is not in order ({wrong}); make sure that nobody uses "
            "it, and run this again"
        )
    arrived = await weighed(there, _counting(told, "compared", total))
    wrong = left.difference(arrived)
    if not wrong and _lasting(await there.stats()) != _lasting(before):
        wrong = "its counts differ"
    if wrong:
        raise FrontierError(
            f"what arrived is not what was sent ({wrong}); nothing is lost where it was: run this "
            "again, or take it back with --undo"
        )
    judge(shift, await here.clock(), await there.clock())
    return left


def _lasting(stats: FrontierStats) -> FrontierStats:
    """Without what changes with time alone."""
    return replace(stats, sites_ready=0, sites_waiting=0)


def _rows_of(stats: FrontierStats) -> int:
    return stats.sites + stats.urls_known + stats.urls_spilt


def _counting(told: Told, what: str, total: int) -> Callable[[int], None]:
    done = 0

    def count(rows: int) -> None:
        nonlocal done
        done += rows
        told(what, done, max(total, done))

    return count
