"""One crawl process from start to end: check, join or create, seed, recover, run, leave.

Everything that can be wrong with what the user gave is found before anything is changed.
"""

import asyncio
import logging
import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mannerly import assemble, joining, memory
from mannerly.assemble import World
from mannerly.clock import SystemClock, ThreadExecutor, system_boot_id
from mannerly.config import Config
from mannerly.dashboard import dashboard_at
from mannerly.datadir import SUFFIXES, held
from mannerly.engine.consumer import NOBODY, Consumer
from mannerly.engine.crawler import Crawler
from mannerly.engine.lag import PROBE_S
from mannerly.engine.plan import parameter_rules
from mannerly.errors import ConfigError, FrontierError, MannerlyError
from mannerly.fetch import descriptors
from mannerly.fetch.contract import Transport
from mannerly.frontier.contract import Frontier
from mannerly.joining import CRAWL_ID
from mannerly.model import FrontierStats
from mannerly.observe import operations
from mannerly.observe.operations import OperationsFile
from mannerly.observe.progress import View
from mannerly.observe.tally import Tally
from mannerly.reviving import bring_back_the_dead
from mannerly.seeding import Seeding, load_seeds
from mannerly.showing import shown
from mannerly.steering import Steering
from mannerly.store import JournalStore
from mannerly.timing import Timings
from mannerly.url import Exclusions, SiteKey
from mannerly.watching import Watch

log = logging.getLogger(__name__)

LAST_STATS_S = 2.0
"""What the last look at the frontier gets, for the summary."""


@dataclass(frozen=True, slots=True)
class Host:
    """A program that has a crawl run inside it, and decides itself when it ends."""

    seeds: Iterable[str] = ()
    """In place of a file; may be empty where the crawl goes on."""
    consumer: Consumer = NOBODY
    on_start: Callable[[Crawler], None] = lambda _: None
    """Called when it can be stopped. Signals are the host's own business."""


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
    host: Host | None = None,
) -> Ended:
    """Run a crawl in this process. `UsageError` before anything was changed."""
    source = (host.seeds if host is not None else None) or config.crawl.seed_file
    _check_input(config, source, resume=resume)
    memory.give_back()
    with _threads(config) as world:
        stored = await assemble.stored_settings(config, world)
        config = joining.joined(config, stored, resume=resume)
        site_key = assemble.make_site_key(config, new=stored is None)
        joining.check_suffixes(stored, site_key)
        exclusions = _exclusions(config)
        with held(config.crawl.data_dir):
            joining.check_directory(config.crawl.data_dir, stored)
            async with assemble.make_frontier(config, world) as frontier:
                budget = descriptors.apply(config.fetch.max_workers)
                transport = assemble.make_transport(config, world.clock)
                if stored is None:
                    await frontier.clear()
                if source:
                    await load_seeds(
                        source,
                        frontier,
                        site_key,
                        exclusions,
                        on_seeding,
                        parameters=parameter_rules(config),
                    )
                await _begin(frontier, config, world, site_key, stored)
                await bring_back_the_dead(frontier, config.crawl.data_dir, config.politeness.delay)
                return await _run(
                    config, world, frontier, transport, budget, site_key, exclusions, view, host
                )


async def _begin(
    frontier: Frontier,
    config: Config,
    world: World,
    site_key: SiteKey,
    stored: Mapping[str, str] | None,
) -> None:
    """From here on there is a crawl, and the data directory is its. The directory first: a crawl
    whose directory does not know it could be joined with a wrong one."""
    if stored is not None:
        joining.mark_directory(config.crawl.data_dir, stored.get(CRAWL_ID, ""))
        if not (config.crawl.data_dir / SUFFIXES).exists():
            joining.keep_suffixes(config)
        return
    joining.keep_suffixes(config)
    crawl_id = f"{world.random.getrandbits(64):016x}"
    joining.mark_directory(config.crawl.data_dir, crawl_id)
    await frontier.create(joining.settings_of(config, site_key, crawl_id))


def _check_input(config: Config, source: Path | Iterable[str] | None, *, resume: bool) -> None:
    """Everything that can be checked without touching the crawl."""
    seed_file = source if isinstance(source, Path) else None
    if not source and not resume:
        raise ConfigError("seeds are needed: --seed-file FILE (one domain or URL a line)")
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
    assemble.check_database(config)


def _exclusions(config: Config) -> Exclusions:
    exclude_file = config.crawl.exclude_file
    return Exclusions.read(exclude_file) if exclude_file is not None else Exclusions()


@contextmanager
def _threads(config: Config) -> Iterator[World]:
    world = World(
        clock=SystemClock(),
        clock_id=system_boot_id(),
        frontier_executor=ThreadExecutor("frontier"),
        store_executor=ThreadExecutor("store"),
        random=random.SystemRandom(),
        timings=Timings(slow_s=config.observe.slow_operation),
        lag_probe_s=PROBE_S,
    )
    try:
        yield world
    finally:
        world.store_executor.close()
        world.frontier_executor.close()


async def _run(
    config: Config,
    world: World,
    frontier: Frontier,
    transport: Transport,
    budget: descriptors.Budget,
    site_key: SiteKey,
    exclusions: Exclusions,
    view: View,
    host: Host | None,
) -> Ended:
    workers = budget.workers
    if budget.message:
        log.warning("%s", budget.message)
    if config.fetch.allow_private_addresses:
        log.warning("private addresses may be connected to: --allow-private-addresses is on")
    label = f"{socket.gethostname()}:{os.getpid()}"
    writer = await frontier.enlist(label)
    tally = Tally(world.clock.now())
    data_dir = config.crawl.data_dir
    store = JournalStore(
        data_dir,
        writer,
        clock=world.clock,
        segment_bytes=config.engine.segment_size,
        segment_age_s=config.engine.segment_age,
        facts=assemble.crawl_facts(config, label),
    )
    consumer = host.consumer if host is not None else NOBODY
    watch = Watch(config, tally, world.timings, world.clock, consumer)
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
        consumer=watch,
    )
    operations.clear(data_dir)
    try:
        reread = partial(_reread, exclusions, config.crawl.exclude_file)
        obeyed = _signals(crawler, reread) if host is None else nullcontext()
        if host is not None:
            host.on_start(crawler)
        written = OperationsFile(data_dir, writer, label, world.timings, tally)
        steering = Steering(config, crawler, frontier, site_key, exclusions)
        with obeyed, written, dashboard_at(config, watch.snapshot, steering):
            async with shown(view, tally, frontier, world.clock, workers), watch.counting(frontier):
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


def _reread(exclusions: Exclusions, exclude_file: Path | None) -> None:
    """What SIGHUP asks for. A file that is wrong changes nothing: the crawl goes on with the rules
    it has."""
    if exclude_file is None:
        log.warning("SIGHUP: there is no --exclude-file to read again")
        return
    try:
        exclusions.become(Exclusions.read(exclude_file))
    except ConfigError as exc:
        log.error("SIGHUP: the exclusions stay as they were: %s", exc)  # noqa: TRY400 - one line
    else:
        log.info("SIGHUP: %s was read again, %d rules", exclude_file, len(exclusions))


@contextmanager
def _signals(crawler: Crawler, reread: Callable[[], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops cleanly; a second SIGINT quits at once, which loses nothing
    either: it is what a kill does. SIGHUP has the exclusions read again."""
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
    loop.add_signal_handler(signal.SIGHUP, reread)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
