"""One process watched from inside: its tally, its recent pages and what it takes from the machine,
as a snapshot for whoever shows it."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from mannerly.clock import Clock
from mannerly.config import Config
from mannerly.engine.consumer import Consumer, Response
from mannerly.errors import FrontierError
from mannerly.frontier.contract import Frontier
from mannerly.model import FrontierStats
from mannerly.observe import process
from mannerly.observe.recent import Recent
from mannerly.observe.snapshot import Counts, Snapshot
from mannerly.observe.tally import Tally
from mannerly.records import FetchRecord, PageRecord
from mannerly.store.contract import Rows
from mannerly.timing import Timings

COUNT_EVERY_S = 3.0
"""How often the frontier is asked for its counts."""
COUNT_SHARE = 0.01
"""Of the time that it may take: with a million sites a look takes 80 ms."""
COUNT_AT_LEAST_EVERY_S = 30.0
LAST_COUNT_S = 0.5
"""What the last one gets: a database that does not answer must not hold up the end."""
NOT_WORK = frozenset({"wait for turn", "held"})
"""Operations that contain others, or only wait."""
OBSERVING = ("operations", "dashboard")
"""How the names of threads begin that only look."""


class Watch:
    """Takes part in the crawl as a consumer beside the one it is given, and sees what is settled.

    Costs two microseconds a page, and half a millisecond a snapshot.
    """

    def __init__(
        self, config: Config, tally: Tally, timings: Timings, clock: Clock, consumer: Consumer
    ) -> None:
        """To be made on the thread that the crawl runs on."""
        self._tally = tally
        self._timings = timings
        self._clock = clock
        self._consumer = consumer
        self._limits = (config.crawl.max_pages, config.crawl.max_duration)
        self._recent = Recent()
        self.counts = Counts()
        self._loop_thread = threading.current_thread().name
        self._stages_s: dict[str, float] = {}
        self.ended = False

    # -- as a consumer -------------------------------------------------------------------------

    @property
    def extracts(self) -> bool:
        return self._consumer.extracts

    def extract(self, response: Response) -> str:
        return self._consumer.extract(response)

    def settled(self, rows: Rows, refused: Collection[int]) -> None:
        self._recent.note(rows.of(FetchRecord), rows.of(PageRecord), refused)
        self._consumer.settled(rows, refused)

    @property
    def behind(self) -> bool:
        return self._consumer.behind

    # -- as a source of snapshots --------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """For any thread: what the engine counts on with is copied in one step each."""
        tally, recent = self._tally, self._recent
        operations = {
            name: (it.count, it.total_s, it.slowest_s)
            for name, it in self._timings.operations().items()
        }
        max_pages, max_duration_s = self._limits
        return Snapshot(
            at=self._clock.wall(),
            elapsed_s=self._clock.now() - tally.started_at,
            workers=tally.workers,
            visit_limit=tally.visit_limit,
            in_flight=tally.in_flight,
            seats=tally.seats,
            unsettled=tally.unsettled,
            limited_by=tally.limited_by,
            paused=tally.paused,
            trouble=tally.trouble,
            ending=tally.ending,
            ended=self.ended,
            max_pages=max_pages,
            max_duration_s=max_duration_s,
            visits=tally.visits,
            robots_requests=tally.robots_requests,
            page_requests=tally.page_requests,
            pages_stored=tally.pages_stored,
            wire_bytes=tally.wire_bytes,
            links_seen=tally.links_seen,
            urls_new=tally.urls_new,
            leases=tally.leased,
            refused=tally.refused,
            checkpoints=tally.checkpoints,
            settled={outcome.name.lower(): n for outcome, n in dict(tally.settled).items() if n},
            deferred=dict(tally.deferred),
            leases_unused=dict(tally.leases_unused),
            excused=dict(tally.excused),
            left_out={str(cause): n for cause, n in dict(tally.left_out).items()},
            statuses=dict(recent.statuses),
            durations=recent.durations.copy(),
            dns_s=recent.dns_s,
            lag_s=tally.lag_s,
            cpu_s=self._cpu_by_stage(),
            memory_bytes=process.memory_bytes(),
            open_files=process.open_files(),
            operations=operations,
            database_s=sum(it[1] for name, it in operations.items() if name not in NOT_WORK),
            store_s=tally.store_s,
            counts=self.counts,
            latest=recent.pages(),
            examples=recent.examples(),
        )

    def _cpu_by_stage(self) -> dict[str, float]:
        """The crawl's own thread fetches and parses; the database and the store have one each."""
        threads = process.cpu_by_thread()
        parse_s = self._tally.parse_s
        stages = {
            "fetch": max(0.0, threads.pop(self._loop_thread, 0.0) - parse_s),
            "parse": parse_s,
            "frontier": threads.pop("frontier", 0.0),
            "store": threads.pop("store", 0.0),
            "observe": sum(
                threads.pop(name) for name in list(threads) if name.startswith(OBSERVING)
            ),
        }
        # A thread that has ended is among the others from then on: what it took stays its stage's.
        ended_s = 0.0
        for name, spent_s in stages.items():
            kept_s = self._stages_s[name] = max(spent_s, self._stages_s.get(name, 0.0))
            ended_s += kept_s - spent_s
        return {**self._stages_s, "other": max(0.0, sum(threads.values()) - ended_s)}


class Counted(Protocol):
    """Who shows what the frontier counts."""

    counts: Counts
    ended: bool


@asynccontextmanager
async def counted(frontier: Frontier, by: Counted) -> AsyncIterator[None]:
    """Ask the frontier for its counts now and then while the body runs, and at its end."""
    task = asyncio.create_task(_count_on(frontier, by), name="counts")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        with suppress(FrontierError, TimeoutError):
            async with asyncio.timeout(LAST_COUNT_S):
                by.counts = counts_of(await frontier.stats())
        by.ended = True


async def _count_on(frontier: Frontier, by: Counted) -> None:
    while True:
        began_s = time.perf_counter()
        # The engine notices trouble and says so; here the last known numbers will do.
        with suppress(FrontierError):
            by.counts = counts_of(await frontier.stats())
        took_s = time.perf_counter() - began_s
        await asyncio.sleep(min(max(COUNT_EVERY_S, took_s / COUNT_SHARE), COUNT_AT_LEAST_EVERY_S))


def counts_of(stats: FrontierStats) -> Counts:
    return Counts(
        sites=stats.sites,
        sites_ready=stats.sites_ready,
        sites_waiting=stats.sites_waiting,
        sites_abandoned=stats.sites_abandoned,
        sites_excluded=stats.sites_excluded,
        urls_known=stats.urls_known,
        urls_pending=stats.urls_pending,
        urls_abandoned=stats.urls_abandoned,
        urls_spilt=stats.urls_spilt,
        urls_dropped=sum(stats.dropped.values()),
        pages=stats.fetched,
        writers=stats.writers,
    )
