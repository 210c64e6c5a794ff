"""The contract's verbs on one SQLite file. What each of them guarantees: `frontier.contract`."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from mannerly.clock import Clock, Executor, system_boot_id
from mannerly.frontier.contract import (
    Added,
    Beat,
    Committed,
    CrawlerFacts,
    Cursor,
    Excluded,
    Forgotten,
    Kind,
    Leased,
    Pulse,
    SiteOrder,
    SitePortion,
    UrlPortion,
    WriterState,
)
from mannerly.frontier.rows import ClockReading, Part, Row
from mannerly.frontier.site_ids import SiteIds
from mannerly.frontier.sqlite import (
    beginning,
    committing,
    crawlers,
    excluding,
    forgetting,
    leasing,
    looking,
    moving,
    tally,
    writers,
)
from mannerly.frontier.sqlite.adding import Batch, total
from mannerly.frontier.sqlite.beginning import Beginning
from mannerly.frontier.sqlite.database import Database, Synchronous
from mannerly.model import (
    Caps,
    Commit,
    FrontierStats,
    Lease,
    NewUrl,
    RobotsRecord,
    SiteFacts,
    UrlFacts,
)
from mannerly.timing import Timings

T = TypeVar("T")


class SqliteFrontier:
    """One crawl's frontier in one file, opened by one process.

    All SQL runs on `executor`; this class only carries arguments there. The executor stays the
    caller's: it is not closed here. `synchronous="NORMAL"` gives up durability over a power cut
    (not over a crash of the process) for one fsync less per transaction.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        executor: Executor,
        random: random.Random,
        synchronous: Synchronous = "FULL",
        boot_id: str | None = None,
        caps: Caps | None = None,
        timings: Timings | None = None,
    ) -> None:
        self._path = path
        self._clock = clock
        self._executor = executor
        self._chance = random
        self._synchronous: Synchronous = synchronous
        self._boot_id = boot_id
        self._caps = caps or Caps()
        self._timings = timings or Timings()
        self._database: Database | None = None
        self._ids = SiteIds()
        self._beginning = Beginning(random)

    async def __aenter__(self) -> Self:
        self._database = await self._executor.run(self._open)
        return self

    def _open(self) -> Database:
        boot_id = system_boot_id() if self._boot_id is None else self._boot_id
        return Database(
            self._path,
            clock=self._clock,
            boot_id=boot_id,
            synchronous=self._synchronous,
            timings=self._timings,
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._run(Database.close)
        self._beginning.close()
        self._database = None

    async def create(self, settings: Mapping[str, str]) -> None:
        wall_s = self._clock.wall()
        await self._run(lambda database: self._beginning.create(database, settings, wall_s))

    async def clear(self) -> None:
        await self._run(self._beginning.clear)
        self._ids.forget()

    async def settings(self) -> dict[str, str] | None:
        return await self._run(beginning.settings)

    async def enlist(self, label: str) -> int:
        return await self._run(lambda database: writers.enlist(database, label, self._chance))

    async def writer_state(self, writer: int) -> WriterState | None:
        return await self._run(lambda database: writers.writer_state(database, writer))

    async def retire(self, writer: int, rest_s: float) -> int:
        return await self._run(lambda database: writers.retire(database, writer, rest_s))

    async def beat(self, writer: int, beat: Beat) -> Pulse:
        return await self._run(lambda database: crawlers.beat(database, writer, beat))

    async def crawlers(self) -> list[CrawlerFacts]:
        return await self._run(crawlers.crawlers)

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        batch = await self._run(
            lambda database: Batch(database, self._ids, self._caps, urls, new_sites=new_sites)
        )
        # Submitted all at once, and each a piece of work of its own, so that a lease of this
        # process comes in between. A piece that finds nothing left to do returns at once.
        pieces = (partial(batch.apply, self._executor.pressed) for _ in range(batch.pieces))
        added = await asyncio.gather(*map(self._executor.run, pieces))
        return total(added)._replace(foreign=batch.foreign)

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        leased_at = self._clock.now()
        return await self._run(
            lambda database: leasing.lease(
                database,
                writer,
                want,
                ttl_s=ttl_s,
                urls_per_site=urls_per_site,
                leased_at=leased_at,
                chance=self._chance,
                limits=self._caps,
            ),
            urgent=True,
        )

    async def claim(self, writer: int, site: str, *, ttl_s: float) -> Lease | None:
        leased_at = self._clock.now()
        return await self._run(
            lambda database: leasing.claim(
                database, writer, site, ttl_s=ttl_s, leased_at=leased_at, chance=self._chance
            ),
            urgent=True,
        )

    async def commit(self, writer: int, commit: Commit) -> Committed:
        return await self._run(
            lambda database: committing.commit(database, writer, commit, self._caps)
        )

    async def exclude(self, sites: Sequence[str]) -> Excluded:
        return await self._run(lambda database: excluding.exclude(database, sites))

    async def forget(self, site: str) -> Forgotten:
        return await self._run(lambda database: forgetting.forget(database, site))

    async def explain(self, site: str, hash_: int) -> UrlFacts:
        return await self._run(lambda database: looking.explain(database, site, hash_))

    async def robots_of(self, site: str, origin: str) -> RobotsRecord | None:
        return await self._run(lambda database: looking.robots_of(database, site, origin))

    async def iterate(
        self, kind: Kind, *, after: Cursor | None = None, limit: int = 1000
    ) -> UrlPortion:
        return await self._run(lambda database: looking.urls(database, kind, after, limit))

    async def iterate_sites(self, *, after: Cursor | None = None, limit: int = 1000) -> SitePortion:
        return await self._run(lambda database: looking.sites(database, after, limit))

    async def find_sites(
        self, *, begins: str = "", order: SiteOrder = SiteOrder.NAME, skip: int = 0, limit: int = 50
    ) -> list[SiteFacts]:
        return await self._run(
            lambda database: looking.find_sites(database, begins, order, skip, limit)
        )

    async def stats(self) -> FrontierStats:
        return await self._run(tally.stats)

    async def hand_over(self, to: str) -> None:
        await self._run(lambda database: moving.hand_over(database, to))

    async def clock(self) -> ClockReading:
        return await self._run(moving.clock)

    async def export(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        portions = await self._run(lambda database: moving.export(database, part))
        while (rows := await self._executor.run(lambda: next(portions, None))) is not None:
            yield rows

    async def restore(self, rows: Sequence[Row]) -> None:
        await self._run(lambda database: self._beginning.restore(database, rows))

    async def _run(self, work: Callable[[Database], T], *, urgent: bool = False) -> T:
        database = self._database
        assert database is not None, "the frontier is used outside its `async with`"
        return await self._executor.run(lambda: work(database), urgent=urgent)
