"""The only place that chooses implementations and puts them together."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from mannerly import __version__
from mannerly.clock import Clock, Executor
from mannerly.config import Config
from mannerly.datadir import FRONTIER, SUFFIXES
from mannerly.dburl import sqlite_path
from mannerly.engine.checkpoint import Checkpointer
from mannerly.engine.claims import FrontierClaims
from mannerly.engine.crawler import Crawler
from mannerly.engine.ledger import Ledger
from mannerly.engine.page import PageReader
from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import Sieve
from mannerly.engine.visit import Visitor
from mannerly.engine.workbench import Workbench
from mannerly.errors import ConfigError
from mannerly.fetch.contract import Transport
from mannerly.fetch.dns import CaresResolver
from mannerly.fetch.http import HttpTransport
from mannerly.frontier.contract import Frontier
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Caps
from mannerly.observe.tally import Tally
from mannerly.politeness.gate import RobotsCache
from mannerly.politeness.pacing import PacePolicy
from mannerly.store.contract import Store
from mannerly.timing import Timings
from mannerly.url import Exclusions, SiteKey, suffix_list


@dataclass(frozen=True, slots=True)
class World:
    """What the crawler lives in: time, threads and chance. Simulation gives it another one."""

    clock: Clock
    frontier_executor: Executor
    store_executor: Executor
    random: random.Random
    timings: Timings = field(default_factory=Timings)
    """How long the frontier takes; real time, also in simulation."""


def frontier_path(config: Config) -> Path | None:
    """The file that the frontier is in; None if it is on a server."""
    url = config.crawl.db_url
    return sqlite_path(url) if url else config.crawl.data_dir / FRONTIER


def check_database(config: Config) -> None:
    """`ConfigError` if the options that name the database do not fit together."""
    if "db_schema" in config.given and frontier_path(config) is not None:
        raise ConfigError("--db-schema is for --db-url postgresql://USER@HOST/NAME; leave it out")


def make_frontier(config: Config, world: World) -> Frontier:
    crawl = config.crawl
    caps = Caps(
        pending=crawl.max_pending_per_site,
        spilt=crawl.max_spilt_per_site,
        pages=crawl.max_pages_per_site,
    )
    path = frontier_path(config)
    if path is None:
        # Here and not above, so that a crawl on SQLite needs no driver and starts without it.
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
    return SqliteFrontier(
        path,
        clock=world.clock,
        executor=world.frontier_executor,
        random=world.random,
        synchronous=cast("Literal['FULL', 'NORMAL']", config.engine.sqlite_sync),
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


def user_agent(config: Config) -> str:
    """The User-Agent header: who is calling, and where to complain."""
    page, email = config.crawl.contact_url, config.crawl.email
    contact = f"{page}; {email}" if page else f"mailto:{email}"
    return config.fetch.user_agent or f"mannerly/{__version__} (+{contact})"


def agent_token(config: Config) -> str:
    """The name that robots.txt rules are matched with."""
    return user_agent(config).split("/", 1)[0].split(" ", 1)[0]


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
    fetched_before: int,
) -> Crawler:
    """One process's crawler over an open frontier and an open store."""
    plan = EnginePlan.of(config, workers)
    agent = agent_token(config)
    sieve = Sieve(plan, site_key, exclusions)
    tally.left_out = sieve.left_out
    if sieve.guard is not None:
        tally.closed = sieve.guard.closed
    bench = Workbench()
    ledger = Ledger()
    visitor = Visitor(
        plan=plan,
        pace=pace_policy(config),
        transport=transport,
        robots=RobotsCache(agent),
        sieve=sieve,
        reader=PageReader(plan, sieve, agent),
        ledger=ledger,
        claims=FrontierClaims(plan, frontier, writer, tally),
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
    )
    return Crawler(
        plan=plan,
        frontier=frontier,
        writer=writer,
        visitor=visitor,
        checkpointer=checkpointer,
        bench=bench,
        ledger=ledger,
        tally=tally,
        clock=world.clock,
        fetched_before=fetched_before,
    )
