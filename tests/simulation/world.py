"""A world for the whole crawler: virtual time and the simulated web in memory.

Frontier, store, engine and manners are the production code; only the clock, the transport and the
executors are others. The same seed gives the same run.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import Executor, InlineExecutor, VirtualClock, VirtualRunner
from mannerly.config import Config, build
from mannerly.engine.crawler import Crawler
from mannerly.fetch.contract import Transport
from mannerly.model import FrontierStats, NewUrl, Priority, Source
from mannerly.observe.tally import Tally
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import Web
from mannerly.store import JournalStore
from mannerly.url import Exclusions, SiteKey, host_of, url_hash


@dataclass(slots=True)
class Lived:
    """What came of a simulated crawl."""

    because: str
    elapsed_s: float
    records: list[AccessRecord]
    tally: Tally
    stats: FrontierStats


def live(
    web: Web,
    data_dir: Path,
    *,
    seed: int = 0,
    exclusions: Exclusions | None = None,
    bare: bool = False,
    around: Callable[[SimTransport], Transport] = lambda transport: transport,
    steer: Callable[[Crawler], None] = lambda _: None,
    storing: Executor | None = None,
    **options: object,
) -> Lived:
    """Crawl `web` from the home pages of all its sites, given as bare domains or as URLs.

    `around` puts something between the crawler and the web. `steer` is given the crawler just
    before it starts, on its loop. `storing` does the store's work. `options` are configuration
    options.
    """
    values = {"email": "sim@example.org", "data_dir": data_dir, "sqlite_sync": "NORMAL", **options}
    config = build(values)
    with VirtualRunner() as runner:
        return runner.run(
            _crawl(
                web,
                config,
                runner.clock,
                seed,
                exclusions or Exclusions(),
                around,
                steer,
                storing or InlineExecutor(),
                bare=bare,
            )
        )


async def _crawl(
    web: Web,
    config: Config,
    clock: VirtualClock,
    seed: int,
    exclusions: Exclusions,
    around: Callable[[SimTransport], Transport],
    steer: Callable[[Crawler], None],
    storing: Executor,
    *,
    bare: bool,
) -> Lived:
    world = World(clock, InlineExecutor(), storing, random.Random(seed))
    config.crawl.data_dir.mkdir(parents=True, exist_ok=True)
    records: list[AccessRecord] = []
    transport = around(SimTransport(web, clock, records))
    site_key = assemble.make_site_key(config)
    async with assemble.make_frontier(config, world) as frontier:
        await frontier.add([_seed(web.home(n), site_key, bare) for n in range(web.spec.sites)])
        await frontier.create({"delay_s": str(config.politeness.delay)})
        writer = await frontier.enlist("simulation")
        store = JournalStore(config.crawl.data_dir, writer, clock=clock)
        tally = Tally(clock.now())
        crawler = assemble.make_crawler(
            config,
            world,
            frontier=frontier,
            transport=transport,
            store=store,
            writer=writer,
            site_key=site_key,
            exclusions=exclusions,
            workers=config.fetch.max_workers,
            tally=tally,
        )
        steer(crawler)
        because = await crawler.run()
        store.close()
        return Lived(
            because, clock.now() - tally.started_at, records, tally, await frontier.stats()
        )


def _seed(home: str, site_key: SiteKey, bare: bool) -> NewUrl:
    if bare:
        home = f"https://{host_of(home)}/"
    source = Source.BARE_SEED if bare else Source.SEED
    site = site_key.site_of(host_of(home))
    return NewUrl(site, url_hash(home), home, 0, Priority.SEED, source, 0)
