"""The only place that chooses implementations and puts them together."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from mannerly import __version__
from mannerly.clock import Clock, Executor
from mannerly.config import Config
from mannerly.datadir import FRONTIER, SUFFIXES
from mannerly.dburl import is_redis, sqlite_path
from mannerly.engine.admission import Admission
from mannerly.engine.careful import Note
from mannerly.engine.checkpoint import Checkpointer
from mannerly.engine.claims import FrontierClaims
from mannerly.engine.consumer import NOBODY, Consumer
from mannerly.engine.crawler import Crawler
from mannerly.engine.lag import LagWatch
from mannerly.engine.ledger import Ledger
from mannerly.engine.limits import Limits
from mannerly.engine.overload import Overload
from mannerly.engine.page import PageReader
from mannerly.engine.plan import EnginePlan
from mannerly.engine.requests import RequestBook
from mannerly.engine.resources import Resources
from mannerly.engine.sieve import Sieve
from mannerly.engine.visit import Visitor
from mannerly.engine.workbench import Workbench
from mannerly.errors import ConfigError
from mannerly.evidence import RunRecord
from mannerly.fetch.contract import Transport
from mannerly.fetch.dns import CaresResolver
from mannerly.fetch.http import HttpTransport
from mannerly.frontier.contract import Frontier
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.frontier.sqlite.checking import compact, quick_check
from mannerly.model import Caps
from mannerly.observe.tally import Tally
from mannerly.parse.charset import load_detector
from mannerly.politeness.addresses import AddressSlots
from mannerly.politeness.gate import RobotsCache
from mannerly.politeness.pacing import PacePolicy
from mannerly.store.contract import Store
from mannerly.timing import Timings
from mannerly.url import Exclusions, SiteKey, suffix_list

WARC_SPECIFICATION = (
    "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
)


@dataclass(frozen=True, slots=True)
class World:
    """What the crawler lives in: time, threads and chance. Simulation gives it another one."""

    clock: Clock
    frontier_executor: Executor
    store_executor: Executor
    random: random.Random
    clock_id: str = ""
    """Which clock it is, for records: the same for all processes of one boot; '' if not known."""
    timings: Timings = field(default_factory=Timings)
    """How long the frontier takes; real time, also in simulation."""
    lag_probe_s: float = 0.0
    """How often the event loop is looked at for being late; 0: never, as time is virtual."""


def frontier_path(config: Config) -> Path | None:
    """The file that the frontier is in; None if it is on a server."""
    url = config.crawl.db_url
    return sqlite_path(url) if url else config.crawl.data_dir / FRONTIER


def resources(config: Config) -> Resources:
    """What a crawl may take of this machine."""
    path = frontier_path(config)
    folders = {config.crawl.data_dir, *([path.parent] if path is not None else [])}
    return Resources(config.engine.memory_limit, config.store.min_free_disk, sorted(folders))


def check_database(config: Config) -> None:
    """`ConfigError` if the options that name the database do not fit together."""
    if "db_schema" in config.given and frontier_path(config) is not None:
        raise ConfigError(
            "--db-schema is for --db-url postgresql://USER@HOST/NAME and redis://HOST/NUMBER; "
            "leave it out"
        )


def make_frontier(config: Config, world: World) -> Frontier:
    crawl = config.crawl
    caps = Caps(
        pending=crawl.max_pending_per_site,
        spilt=crawl.max_spilt_per_site,
        pages=crawl.max_pages_per_site,
    )
    path = frontier_path(config)
    if path is None:
        return _on_a_server(config, world, caps)
    return SqliteFrontier(
        path,
        clock=world.clock,
        executor=world.frontier_executor,
        random=world.random,
        synchronous=cast("Literal['FULL', 'NORMAL']", config.engine.sqlite_sync),
        caps=caps,
        timings=world.timings,
    )


def _on_a_server(config: Config, world: World, caps: Caps) -> Frontier:
    crawl = config.crawl
    # Imported here and not above, so that a crawl on SQLite needs no driver and starts without it.
    if is_redis(crawl.db_url):
        from mannerly.frontier.redis import RedisFrontier  # noqa: PLC0415

        return RedisFrontier(
            crawl.db_url,
            schema=crawl.db_schema,
            clock=world.clock,
            executor=world.frontier_executor,
            random=world.random,
            caps=caps,
            timings=world.timings,
        )
    from mannerly.frontier.postgres import PostgresFrontier  # noqa: PLC0415

    return PostgresFrontier(
        crawl.db_url,
        schema=crawl.db_schema,
        clock=world.clock,
        executor=world.frontier_executor,
        random=world.random,
        caps=caps,
        timings=world.timings,
    )


async def stored_settings(config: Config, world: World) -> dict[str, str] | None:
    """The settings of the crawl that is there; None if none is. No file is made by asking."""
    path = frontier_path(config)
    if path is not None and not path.exists():
        return None
    async with make_frontier(config, world) as frontier:
        return await frontier.settings()


def damage_of_frontier(config: Config) -> list[str]:
    """What is wrong with the file that the frontier is in; nothing if it is whole. A server looks
    after its own files."""
    path = frontier_path(config)
    return quick_check(path) if path is not None and path.exists() else []


def compact_frontier(config: Config) -> bool:
    """Make the frontier's file anew, so that nothing which was deleted is left in it. False where
    that is not ours to do: on a server, or in a file that other directories may use as well."""
    path = config.crawl.data_dir / FRONTIER
    is_ours = path.exists() and frontier_path(config) == path
    return is_ours and compact(path)


def user_agent(config: Config) -> str:
    """The User-Agent header: who is calling, and where to complain."""
    page, email = config.crawl.contact_url, config.crawl.email
    contact = f"{page}; {email}" if page else f"mailto:{email}"
    return config.fetch.user_agent or f"mannerly/{__version__} (+{contact})"


def agent_token(config: Config) -> str:
    """The name that robots.txt rules are matched with."""
    return user_agent(config).split("/", 1)[0].split(" ", 1)[0]


def crawl_facts(config: Config, label: str) -> list[tuple[str, str]]:
    """Who crawls, with what and how: what the WARC files of the crawl begin with."""
    return [
        ("software", f"mannerly/{__version__}"),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", WARC_SPECIFICATION),
        ("hostname", label.partition(":")[0]),
        ("operator", config.crawl.email),
        ("http-header-user-agent", user_agent(config)),
        ("http-header-from", config.crawl.email),
        ("robots", "obey"),
        ("delay", f"{config.politeness.delay:g} s between visits to a site"),
        ("scope", config.crawl.scope),
    ]


def make_transport(config: Config, clock: Clock) -> Transport:
    fetch = config.fetch
    return HttpTransport(
        clock=clock,
        user_agent=user_agent(config),
        contact=config.crawl.email,
        resolver=CaresResolver(clock=clock, servers=fetch.resolver),
        allow_private=fetch.allow_private_addresses,
        ports=fetch.ports,
        connect_to=fetch.connect_to,
        verify_tls=fetch.verify_tls,
        connect_timeout_s=fetch.connect_timeout,
    )


def make_site_key(config: Config, *, new: bool = False) -> SiteKey:
    """By the list that is asked for, else by the one that the crawl has kept, else (and for a `new`
    crawl) by the packaged one."""
    by = cast("Literal['domain', 'host']", config.politeness.site_by)
    kept = config.crawl.data_dir / SUFFIXES
    path = config.urls.suffix_file or (kept if kept.exists() and not new else None)
    return SiteKey(by) if path is None else SiteKey(by, suffix_list(path).splitlines())


def pace_policy(config: Config) -> PacePolicy:
    manners = config.politeness
    return PacePolicy(
        delay_s=manners.delay,
        crawl_delay_ceiling_s=manners.crawl_delay_ceiling,
        retry_delay_s=manners.retry_delay,
        retry_ceiling_s=manners.retry_ceiling,
        max_tries=manners.max_tries,
        max_failures=manners.max_failures,
        robots_ttl_s=manners.robots_ttl,
    )


def run_record(config: Config, world: World, writer: int) -> RunRecord:
    """What the records say of this process and of the terms that it keeps to."""
    now, wall = world.clock.now(), world.clock.wall()
    return RunRecord(
        writer=writer,
        begun_at=wall,
        clock=world.clock_id,
        clock_offset_s=wall - now,
        version=__version__,
        agent=agent_token(config),
        delay_s=config.politeness.delay,
        robots_ttl_s=config.politeness.robots_ttl,
        visit_timeout_s=config.fetch.visit_timeout,
        guarded=not config.fetch.allow_private_addresses and config.fetch.connect_to is None,
    )


def make_crawler(
    config: Config,
    world: World,
    *,
    frontier: Frontier,
    transport: Transport,
    store: Store,
    writer: int,
    site_key: SiteKey,
    exclusions: Exclusions,
    workers: int,
    tally: Tally,
    consumer: Consumer = NOBODY,
    note: Note | None = None,
) -> Crawler:
    """One process's crawler over an open frontier and an open store."""
    plan = EnginePlan.of(config, workers)
    agent = agent_token(config)
    sieve = Sieve(plan, site_key, exclusions)
    watch = LagWatch(world.clock, world.lag_probe_s)
    overload = Overload(plan, watch, tally, world.clock, resources(config))
    tally.left_out = sieve.left_out
    if sieve.guard is not None:
        tally.closed = sieve.guard.closed
    load_detector()
    bench = Workbench()
    ledger = Ledger(keeps_exchanges="warc" in config.store.keep)
    run = run_record(config, world, writer)
    visitor = Visitor(
        plan=plan,
        pace=pace_policy(config),
        transport=transport,
        robots=RobotsCache(agent),
        admission=Admission(plan, AddressSlots(config.politeness.address_delay), world.clock),
        overload=overload,
        sieve=sieve,
        reader=PageReader(plan, sieve, agent, consumer, note),
        ledger=ledger,
        claims=FrontierClaims(plan, frontier, writer, tally),
        book=RequestBook(run, ledger, world.clock),
        tally=tally,
        clock=world.clock,
    )
    checkpointer = Checkpointer(
        plan=plan,
        ledger=ledger,
        frontier=frontier,
        store=store,
        store_executor=world.store_executor,
        writer=writer,
        known=sieve.known,
        tally=tally,
        clock=world.clock,
        consumer=consumer,
    )
    return Crawler(
        plan=plan,
        frontier=frontier,
        writer=writer,
        visitor=visitor,
        checkpointer=checkpointer,
        overload=overload,
        bench=bench,
        ledger=ledger,
        tally=tally,
        clock=world.clock,
        limits=Limits(plan, frontier, writer, tally, world.clock),
    )
