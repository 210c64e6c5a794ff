"""One crawl process from start to end: check, join or create, seed, recover, run, leave.

Everything that can be wrong with what the user gave is found before anything is changed.
"""

import asyncio
import dataclasses
import logging
import os
import random
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import SystemClock, ThreadExecutor
from mannerly.config import OPTIONS, Config, as_text, build
from mannerly.datadir import held
from mannerly.engine.crawler import Crawler
from mannerly.errors import (
    ConfigError,
    CrawlExistsError,
    FrontierError,
    MannerlyError,
    NoCrawlError,
    SettingsDifferError,
)
from mannerly.fetch import descriptors
from mannerly.fetch.contract import Transport
from mannerly.frontier.contract import Frontier, WriterState
from mannerly.model import FrontierStats
from mannerly.observe.progress import Progress, RateMeter, View
from mannerly.observe.tally import Tally
from mannerly.seeding import Seeding, load_seeds
from mannerly.store import JournalStore, dead_writers, recover
from mannerly.url import Exclusions, SiteKey

log = logging.getLogger(__name__)

MUST_AGREE = ("delay", "site_by", "scope", "seeded_urls_only", "max_depth")
"""Options on which all crawlers of one crawl agree; they live in the frontier."""
OF_ONE_RUN = frozenset(
    {"seed_file", "data_dir", "db_url", "max_pages", "max_duration", "log_level", "progress"}
)
"""Options of a run. All others are the crawl's: kept with it, and used again when it is resumed."""
STATS_EVERY_S = 2.0
LAST_STATS_S = 2.0
"""What the last look at the frontier gets, for the summary."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of the crawler ended."""

    because: str
    elapsed_s: float
    tally: Tally
    stats: FrontierStats


async def crawl(
    config: Config,
    *,
    resume: bool,
    view: View,
    on_seeding: Callable[[Seeding], None] = lambda _: None,
) -> Ended:
    """Run a crawl in this process. `UsageError` before anything was changed."""
    _check_input(config, resume=resume)
    with _threads() as world, held_for(config, resume=resume):
        async with assemble.make_frontier(config, world) as frontier:
            config = await _join(frontier, config, resume=resume)
            exclusions = _exclusions(config)
            site_key = assemble.make_site_key(config)
            await _agree_on_suffixes(frontier, site_key)
            budget = descriptors.apply(config.fetch.max_workers)
            transport = assemble.make_transport(config, world.clock)
            if not resume:
                await frontier.clear()
            if config.crawl.seed_file is not None:
                await load_seeds(config.crawl.seed_file, frontier, site_key, exclusions, on_seeding)
            if not resume:
                await frontier.create(_settings(config, site_key))
            await _bring_back_the_dead(frontier, config)
            return await _run(
                config, world, frontier, transport, budget, site_key, exclusions, view
            )


def _check_input(config: Config, *, resume: bool) -> None:
    """Everything that can be checked without touching the crawl."""
    seed_file = config.crawl.seed_file
    if seed_file is None and not resume:
        raise ConfigError("a file of seeds is needed: --seed-file FILE (one domain or URL a line)")
    if seed_file is not None and str(seed_file) != "-":
        try:
            with seed_file.open("rb"):
                pass
        except OSError as exc:
            raise ConfigError(f"--seed-file {seed_file}: {exc.strerror}") from exc
    if not config.crawl.email and not resume:
        raise ConfigError(
            "a contact address is needed, for the owners of the sites: --email you@example.org"
        )
    _exclusions(config)
    assemble.frontier_path(config)


def _exclusions(config: Config) -> Exclusions:
    exclude_file = config.crawl.exclude_file
    return Exclusions.read(exclude_file) if exclude_file is not None else Exclusions()


@contextmanager
def _threads() -> Iterator[World]:
    world = World(
        clock=SystemClock(),
        frontier_executor=ThreadExecutor("frontier"),
        store_executor=ThreadExecutor("store"),
        random=random.SystemRandom(),
    )
    try:
        yield world
    finally:
        world.store_executor.close()
        world.frontier_executor.close()


@contextmanager
def held_for(config: Config, *, resume: bool) -> Iterator[None]:
    """Hold the data directory; with `resume`, only if there is something to resume."""
    database = assemble.frontier_path(config)
    if resume and not database.exists():
        raise NoCrawlError(
            f"there is no crawl to resume at {database}; leave out --resume to start one"
        )
    with held(config.crawl.data_dir):
        yield


async def _join(frontier: Frontier, config: Config, *, resume: bool) -> Config:
    """The configuration with what the crawl has settled before filled in."""
    stored = await frontier.settings()
    where = config.crawl.db_url or config.crawl.data_dir
    if not resume:
        if stored is not None:
            raise CrawlExistsError(
                f"there is a crawl in {where} already; add --resume to go on with it, or choose "
                "another --data-dir"
            )
        return config
    if stored is None:
        raise NoCrawlError(
            f"there is no crawl to resume in {where}; leave out --resume to start one"
        )
    values: dict[str, object] = {
        name: getattr(getattr(config, OPTIONS[name].section), name) for name in config.given
    }
    for name in OPTIONS.keys() - OF_ONE_RUN:
        text = stored.get(name, "")
        if name in MUST_AGREE and name in config.given and as_text(values[name]) != text:
            raise SettingsDifferError(
                f"{OPTIONS[name].flag} is {text} in this crawl and cannot be changed; "
                f"leave {OPTIONS[name].flag} out"
            )
        if text and name not in values and text != as_text(OPTIONS[name].default):
            values[name] = OPTIONS[name].parse(text)
    return dataclasses.replace(build(values), given=config.given)


def _settings(config: Config, site_key: SiteKey) -> dict[str, str]:
    """What the frontier keeps: the crawl's options, and what its clock and its sites depend on."""
    settings = {
        name: as_text(getattr(getattr(config, option.section), name))
        for name, option in OPTIONS.items()
        if name not in OF_ONE_RUN
    }
    exclude_file = config.crawl.exclude_file
    settings["exclude_file"] = str(exclude_file.resolve()) if exclude_file else ""
    settings["suffix_list"] = site_key.version
    settings["delay_s"] = str(config.politeness.delay)
    return settings


async def _agree_on_suffixes(frontier: Frontier, site_key: SiteKey) -> None:
    stored = await frontier.settings()
    if stored is not None and stored["suffix_list"] != site_key.version:
        raise SettingsDifferError(
            f"this crawl uses the public suffix list {stored['suffix_list']}, the installed one is "
            f"{site_key.version}; install the publicsuffixlist release that has the former"
        )


async def _bring_back_the_dead(frontier: Frontier, config: Config) -> None:
    """Finish what processes left that died here: their pages count or are void, as the frontier
    says, and their sites come back after a delay."""
    data_dir = config.crawl.data_dir
    dead = dead_writers(data_dir)
    if not dead:
        return
    states: dict[int, WriterState | None] = {}
    for writer in dead:
        await frontier.retire(writer, config.politeness.delay)
        states[writer] = await frontier.writer_state(writer)
    recovered = recover(data_dir, states.get, writers=dead)
    log.info(
        "an earlier run was cut off: %d pages recovered, what was in flight is fetched again",
        recovered.pages,
    )
    for path in recovered.set_aside:
        log.warning("nobody can vouch for %s; it was set aside", path)


async def _run(
    config: Config,
    world: World,
    frontier: Frontier,
    transport: Transport,
    budget: descriptors.Budget,
    site_key: SiteKey,
    exclusions: Exclusions,
    view: View,
) -> Ended:
    workers = budget.workers
    if budget.message:
        log.warning("%s", budget.message)
    if config.fetch.allow_private_addresses:
        log.warning("private addresses may be connected to: --allow-private-addresses is on")
    writer = await frontier.enlist(_label())
    tally = Tally(world.clock.now())
    store = JournalStore(
        config.crawl.data_dir,
        writer,
        clock=world.clock,
        segment_bytes=config.engine.segment_size,
        segment_age_s=config.engine.segment_age,
    )
    crawler = assemble.make_crawler(
        config,
        world,
        frontier=frontier,
        transport=transport,
        store=store,
        writer=writer,
        site_key=site_key,
        exclusions=exclusions,
        workers=workers,
        tally=tally,
        fetched_before=(await frontier.stats()).fetched,
    )
    try:
        with _signals(crawler):
            async with _shown(view, tally, frontier, world, workers):
                because = await crawler.run()
    except BaseExceptionGroup as group:
        ours, others = group.split(MannerlyError)
        if ours is None or others is not None:
            raise
        # What our services could not do is one line for the user, not a tree of tasks.
        raise MannerlyError("; ".join(str(exc) for exc in _leaves(ours))) from group
    finally:
        await transport.aclose()
        await world.store_executor.run(store.close)
    elapsed_s = world.clock.now() - tally.started_at
    return Ended(because, elapsed_s, tally, await _last_stats(frontier))


async def _last_stats(frontier: Frontier) -> FrontierStats:
    """For the summary; a database that does not answer must not hold up the end."""
    with suppress(FrontierError, TimeoutError):
        async with asyncio.timeout(LAST_STATS_S):
            return await frontier.stats()
    return FrontierStats()


def _leaves(group: BaseExceptionGroup[MannerlyError]) -> Iterator[MannerlyError]:
    for exc in group.exceptions:
        if isinstance(exc, BaseExceptionGroup):
            yield from _leaves(exc)
        else:
            yield exc


def _label() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@contextmanager
def _signals(crawler: Crawler) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops cleanly; a second SIGINT quits at once, which loses nothing
    either: it is what a kill does."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if crawler.ended_because:
            os._exit(130)
        print("\nstopping; Ctrl-C again quits at once", file=sys.stderr)
        crawler.stop("stopped by Ctrl-C")

    loop.add_signal_handler(signal.SIGINT, interrupt)

    def terminate() -> None:
        log.info("stopping, as SIGTERM asks")
        crawler.stop("stopped by SIGTERM")

    loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)


@asynccontextmanager
async def _shown(
    view: View, tally: Tally, frontier: Frontier, world: World, workers: int
) -> AsyncIterator[None]:
    """Show progress while the body runs."""
    with view:
        task = asyncio.create_task(_show(view, tally, frontier, world, workers), name="progress")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()


async def _show(view: View, tally: Tally, frontier: Frontier, world: World, workers: int) -> None:
    meter = RateMeter(tally.started_at)
    stats = FrontierStats()
    asked_at = -STATS_EVERY_S
    while True:
        now = world.clock.now()
        if now - asked_at >= STATS_EVERY_S:
            asked_at = now
            # The engine notices trouble and says so; here the last known numbers will do.
            with suppress(FrontierError):
                stats = await frontier.stats()
        view.show(
            Progress(
                elapsed_s=now - tally.started_at,
                rate=meter.rate(now, tally.fetched),
                mean_rate=meter.mean(now, tally.fetched),
                tally=tally,
                stats=stats,
                workers=workers,
            )
        )
        await asyncio.sleep(view.interval_s)
