"""A crawl on this machine from start to end: check, join or create, seed, recover, run, leave.

Everything that can be wrong with what the user gave is found before anything is changed.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from mannerly import assemble, joining, memory, running
from mannerly.assemble import World
from mannerly.config import Config
from mannerly.dashboard import dashboard_at
from mannerly.datadir import SUFFIXES, held
from mannerly.engine.consumer import NOBODY, Consumer
from mannerly.engine.crawler import Crawler
from mannerly.engine.plan import parameter_rules
from mannerly.errors import ConfigError, FrontierError
from mannerly.fetch import descriptors
from mannerly.fetch.contract import Transport
from mannerly.frontier.contract import Frontier
from mannerly.joining import CRAWL_ID
from mannerly.model import FrontierStats
from mannerly.observe import operations
from mannerly.observe.progress import View
from mannerly.observe.tally import Tally
from mannerly.reviving import bring_back_the_dead
from mannerly.running import threads
from mannerly.seeding import Seeding, load_seeds
from mannerly.showing import shown
from mannerly.steering import Steering
from mannerly.supervise import shares
from mannerly.supervise.supervisor import Supervisor
from mannerly.url import Exclusions, SiteKey
from mannerly.watching import Watch, counted

log = logging.getLogger(__name__)

LAST_STATS_S = 1.0
"""What the last look at the frontier gets, for the summary."""
HEARD_OF_S = 30.0
"""A process that told of itself within this time is crawling; they do so every few seconds."""
ORPHANS_S = 3.0
"""How long a directory that is in use is waited for: the processes of a crawler that was killed end
by themselves within moments."""


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
    """Run a crawl: in this process if it has a host or one process is asked for, else in several.
    `UsageError` before anything was changed."""
    source = (host.seeds if host is not None else None) or config.crawl.seed_file
    _check_input(config, source, resume=resume)
    memory.give_back()
    with threads(config) as world:
        stored = await assemble.stored_settings(config, world)
        resume = resume or (stored is not None and await _is_running(config, world))
        config = joining.joined(config, stored, resume=resume)
        site_key = assemble.make_site_key(config, new=stored is None)
        joining.check_suffixes(stored, site_key)
        exclusions = _exclusions(config)
        with held(config.crawl.data_dir, ORPHANS_S) as lock:
            joining.check_directory(config.crawl.data_dir, stored)
            async with assemble.make_frontier(config, world) as frontier:
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
                operations.clear(config.crawl.data_dir)
                run = _Run(config, world, frontier, transport, site_key, exclusions, view)
                return await run.to_the_end(host, lock)


@dataclass(frozen=True, slots=True)
class _Run:
    """A crawl that is there, and is now run."""

    config: Config
    world: World
    frontier: Frontier
    transport: Transport
    site_key: SiteKey
    exclusions: Exclusions
    view: View

    async def to_the_end(self, host: Host | None, lock: int) -> Ended:
        if self.config.fetch.allow_private_addresses:
            log.warning("private addresses may be connected to: --allow-private-addresses is on")
        count = shares.process_count(self.config) if host is None else 1
        if count > 1:
            await self.transport.aclose()
            because, tally = await self._by_several(count, lock)
        else:
            because, tally = await self._alone(host)
        elapsed_s = self.world.clock.now() - tally.started_at
        return Ended(because, elapsed_s, tally, await _last_stats(self.frontier))

    async def _alone(self, host: Host | None) -> tuple[str, Tally]:
        """In this process."""
        workers = _budgeted(self.config.fetch.max_workers)

        @asynccontextmanager
        async def attended(crawler: Crawler, tally: Tally, watch: Watch) -> AsyncIterator[None]:
            if host is not None:
                host.on_start(crawler)
            obeyed = _signals(crawler, self._reread) if host is None else nullcontext()
            with obeyed, dashboard_at(self.config, watch.snapshot, self._steering(crawler)):
                async with (
                    shown(self.view, watch.snapshot),
                    counted(self.frontier, watch),
                ):
                    yield

        return await running.run(
            self.config,
            self.world,
            self.frontier,
            self.transport,
            site_key=self.site_key,
            exclusions=self.exclusions,
            workers=workers,
            attended=attended,
            consumer=host.consumer if host is not None else NOBODY,
        )

    async def _by_several(self, count: int, lock: int) -> tuple[str, Tally]:
        """In processes of their own, which inherit the limit on open files and the directory."""
        parts = shares.shares(self.config, count)
        most = _budgeted(parts[0].fetch.max_workers)
        workers = [min(most, part.fetch.max_workers) for part in parts]
        supervisor = Supervisor(self.config, self.world, self.frontier, keep=[lock])

        def reread() -> None:
            self._reread()
            supervisor.reread()

        page = dashboard_at(self.config, supervisor.snapshot, self._steering(supervisor))
        with _signals(supervisor, reread, supervisor.kill), page:
            async with (
                shown(self.view, supervisor.snapshot),
                counted(self.frontier, supervisor),
            ):
                return await supervisor.run(parts, workers), supervisor.tally

    def _steering(self, steered: Crawler | Supervisor) -> Steering:
        return Steering(self.config, steered, self.frontier, self.site_key, self.exclusions)

    def _reread(self) -> None:
        _reread(self.exclusions, self.config.crawl.exclude_file)


def _budgeted(workers: int) -> int:
    """How many fetches a process can have in flight of as many as are wanted."""
    budget = descriptors.apply(workers)
    if budget.message:
        log.warning("%s", budget.message)
    return budget.workers


async def _is_running(config: Config, world: World) -> bool:
    """Is somebody crawling there, so that the same command means to join? Only on a server: there
    a second machine is nothing unusual, in a file it is a mistake more often than not."""
    if assemble.frontier_path(config) is not None:
        return False
    async with assemble.make_frontier(config, world) as frontier:
        running = any(it.silent_s < HEARD_OF_S for it in await frontier.crawlers())
    if running:
        log.info("joining the crawl that is running in %s", joining.place_text(config))
    return running


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


async def _last_stats(frontier: Frontier) -> FrontierStats:
    """For the summary; a database that does not answer must not hold up the end."""
    with suppress(FrontierError, TimeoutError):
        async with asyncio.timeout(LAST_STATS_S):
            return await frontier.stats()
    return FrontierStats()


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
def _signals(
    crawler: Crawler | Supervisor,
    reread: Callable[[], None],
    at_the_last: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops cleanly; a second SIGINT quits at once, which loses nothing
    either: it is what a kill does. SIGHUP has the exclusions read again."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if crawler.ended_because:
            at_the_last()
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
