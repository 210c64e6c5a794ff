"""One crawl process over an open frontier: enlist, take a journal, crawl, leave everything durable.

The same whether it is the only one or one of several (`mannerly.supervise`): who attends to it is
given from outside.
"""

import os
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import SystemClock, ThreadExecutor, system_boot_id
from mannerly.config import Config
from mannerly.engine.consumer import NOBODY, Consumer
from mannerly.engine.crawler import Crawler
from mannerly.engine.lag import PROBE_S
from mannerly.errors import MannerlyError
from mannerly.fetch.contract import Transport
from mannerly.frontier.contract import Frontier
from mannerly.observe.operations import OperationsFile
from mannerly.observe.tally import Tally
from mannerly.store import JournalStore
from mannerly.store.deaths import ReadingNote
from mannerly.timing import Timings
from mannerly.url import Exclusions, SiteKey
from mannerly.watching import Watch

Attended = Callable[[Crawler, Tally, Watch], AbstractAsyncContextManager[None]]
"""Who shows how a crawler does, and can tell it to stop, for as long as it runs."""


@contextmanager
def threads(config: Config) -> Iterator[World]:
    """The real world, with threads for what blocks."""
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


async def run(
    config: Config,
    world: World,
    frontier: Frontier,
    transport: Transport,
    *,
    site_key: SiteKey,
    exclusions: Exclusions,
    workers: int,
    attended: Attended,
    consumer: Consumer = NOBODY,
) -> tuple[str, Tally]:
    """Crawl until the crawl is over or somebody says stop: why it ended, and what was done. Closes
    the transport."""
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
    note = ReadingNote(data_dir, writer)
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
        consumer=watch,
        note=note,
    )
    try:
        with note, OperationsFile(data_dir, writer, label, world.timings, tally):
            async with attended(crawler, tally, watch):
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
    return because, tally


def _leaves(group: BaseExceptionGroup[MannerlyError]) -> Iterator[MannerlyError]:
    for exc in group.exceptions:
        if isinstance(exc, BaseExceptionGroup):
            yield from _leaves(exc)
        else:
            yield exc
