"""The only place that chooses implementations and puts them together."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from mannerly import __version__
from mannerly.clock import Clock, Executor
from mannerly.config import Config
from mannerly.datadir import FRONTIER
from mannerly.engine.checkpoint import Checkpointer
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
from mannerly.observe.tally import Tally
from mannerly.politeness.gate import RobotsCache
from mannerly.politeness.pacing import PacePolicy
from mannerly.store.contract import Store
from mannerly.url import Exclusions, SiteKey


@dataclass(frozen=True, slots=True)
class World:
    """What the crawler lives in: time, threads and chance. Simulation gives it another one."""

    clock: Clock
    frontier_executor: Executor
    store_executor: Executor
    random: random.Random


def frontier_path(config: Config) -> Path:
    """The file of the SQLite frontier that the configuration names."""
    url = config.crawl.db_url
    if not url:
        return config.crawl.data_dir / FRONTIER
    if not url.startswith("sqlite:///") or url == "sqlite:///":
        raise ConfigError(
            f"--db-url {url!r} does not fit: sqlite:///PATH is needed (sqlite:////PATH for an "
            "absolute path)"
        )
    return Path(url.removeprefix("sqlite:///"))


def make_frontier(config: Config, world: World) -> Frontier:
    return SqliteFrontier(
        frontier_path(config),
        clock=world.clock,
        executor=world.frontier_executor,
        random=world.random,
        synchronous=cast("Literal['FULL', 'NORMAL']", config.engine.sqlite_sync),
    )


def user_agent(config: Config) -> str:
    """The User-Agent header: who is calling, and where to complain."""
    return config.fetch.user_agent or f"mannerly/{__version__} (+mailto:{config.crawl.email})"


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


def make_site_key(config: Config) -> SiteKey:
    return SiteKey(by=cast("Literal['domain', 'host']", config.politeness.site_by))


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
