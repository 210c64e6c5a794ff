"""The contract's verbs on a PostgreSQL schema. What they guarantee: `frontier.contract`."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from mannerly.clock import Clock, Executor
from mannerly.dburl import schema_name
from mannerly.errors import ConfigError, FrontierError
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
from mannerly.frontier.postgres import (
    beginning,
    committing,
    counting,
    crawlers,
    forgetting,
    listing,
    moving,
    sites,
    writers,
)
from mannerly.frontier.postgres.adding import Batch
from mannerly.frontier.postgres.beginning import Beginning
from mannerly.frontier.postgres.connection import TimeOuts
from mannerly.frontier.postgres.leasing import Leaser
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.postgres.trouble import AGAIN
from mannerly.frontier.rows import ClockReading, Part, Row
from mannerly.frontier.site_ids import SiteIds
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

TRIES = 5
"""Of a transaction that the server undid for reasons of its own."""


class PostgresFrontier:
    """One crawl's frontier in one schema of a database, opened by one process.

    A verb is one piece of blocking work on `executor` (each slice of an add is one), so no
    transaction, lock or connection ever waits for a busy event loop. One connection per process.
    The executor stays the caller's: it is not closed here.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str = "mannerly",
        clock: Clock,
        executor: Executor,
        random: random.Random,
        caps: Caps = Caps(),  # noqa: B008 - frozen
        timings: Timings | None = None,
        time_outs: TimeOuts = TimeOuts(),  # noqa: B008 - frozen
    ) -> None:
        try:
            name = schema_name(schema)
        except ValueError as exc:
            raise ConfigError(f"schema {schema!r}: {exc}") from None
        self._clock = clock
        self._executor = executor
        self._chance = random
        self._caps = caps
        self._timings = Timings() if timings is None else timings
        self._session = Session(url, name, clock=clock, timings=self._timings, time_outs=time_outs)
        self._ids = SiteIds()
        self._beginning = Beginning(self._session, random)
        self._leaser = Leaser(self._session, caps, random)

    async def __aenter__(self) -> Self:
        await self._executor.run(self._session.open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._executor.run(self._session.close)

    async def create(self, settings: Mapping[str, str]) -> None:
        wall_s = self._clock.wall()
        await self._run("create", lambda: self._beginning.create(settings, wall_s))

    async def clear(self) -> None:
        await self._run("clear", self._beginning.clear)
        self._ids.forget()

    async def settings(self) -> dict[str, str] | None:
        return await self._run("settings", lambda: beginning.settings(self._session))

    async def enlist(self, label: str) -> int:
        return await self._run("enlist", lambda: writers.enlist(self._session, label, self._chance))

    async def writer_state(self, writer: int) -> WriterState | None:
        return await self._run("writer_state", lambda: writers.writer_state(self._session, writer))

    async def retire(self, writer: int, rest_s: float) -> int:
        return await self._run("retire", lambda: writers.retire(self._session, writer, rest_s))

    async def beat(self, writer: int, beat: Beat) -> Pulse:
        return await self._run("beat", lambda: crawlers.beat(self._session, writer, beat))

    async def crawlers(self) -> list[CrawlerFacts]:
        return await self._run("crawlers", lambda: crawlers.crawlers(self._session))

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        with self._timings.measure("add", urls=len(urls)):
            batch = await self._submit(
                lambda: Batch(self._session, self._ids, self._caps, urls, new_sites=new_sites)
            )
            # Each slice is work of its own, so that a lease of this process comes in between, and
            # all are submitted at once: every turn of a busy loop between two would cost its lag.
            added = await asyncio.gather(
                *(self._submit(partial(batch.apply, part)) for part in batch.slices)
            )
        new, known, _, spilt, dropped = (
            (sum(counts) for counts in zip(*added, strict=True)) if added else (0,) * 5
        )
        return Added(new, known, batch.foreign, spilt, dropped)

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        leased_at = self._clock.now()
        return await self._run(
            "lease",
            lambda: self._leaser.lease(
                writer, want, ttl_s=ttl_s, urls_per_site=urls_per_site, leased_at=leased_at
            ),
            urgent=True,
            sites=want,
        )

    async def claim(self, writer: int, site: str, *, ttl_s: float) -> Lease | None:
        leased_at = self._clock.now()
        return await self._run(
            "claim",
            lambda: self._leaser.claim(writer, site, self._ids, ttl_s=ttl_s, leased_at=leased_at),
            urgent=True,
        )

    async def commit(self, writer: int, commit: Commit) -> Committed:
        return await self._run(
            "commit",
            lambda: committing.commit(self._session, self._caps, writer, commit),
            settled=len(commit.settled),
            released=len(commit.released),
        )

    async def exclude(self, sites_: Sequence[str]) -> Excluded:
        return await self._run(
            "exclude",
            lambda: sites.exclude(self._session, self._ids, sites_),
            sites=len(sites_),
        )

    async def forget(self, site: str) -> Forgotten:
        return await self._run("forget", lambda: forgetting.forget(self._session, self._ids, site))

    async def explain(self, site: str, hash_: int) -> UrlFacts:
        return await self._run("explain", lambda: listing.explain(self._session, site, hash_))

    async def robots_of(self, site: str, origin: str) -> RobotsRecord | None:
        return await self._run("robots_of", lambda: listing.robots_of(self._session, site, origin))

    async def iterate(
        self, kind: Kind, *, after: Cursor | None = None, limit: int = 1000
    ) -> UrlPortion:
        return await self._run(
            "iterate", lambda: listing.iterate(self._session, kind, after, limit), urls=limit
        )

    async def iterate_sites(self, *, after: Cursor | None = None, limit: int = 1000) -> SitePortion:
        return await self._run(
            "iterate_sites",
            lambda: listing.iterate_sites(self._session, after, limit),
            sites=limit,
        )

    async def find_sites(
        self, *, begins: str = "", order: SiteOrder = SiteOrder.NAME, skip: int = 0, limit: int = 50
    ) -> list[SiteFacts]:
        return await self._run(
            "find_sites",
            lambda: listing.find_sites(self._session, begins, order, skip, limit),
            sites=limit,
        )

    async def hand_over(self, to: str) -> None:
        await self._run("hand_over", lambda: moving.hand_over(self._session, to))

    async def clock(self) -> ClockReading:
        return await self._run("clock", lambda: moving.clock(self._session))

    async def export(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        portions = moving.export(self._session, part)
        # Not tried again by itself: a listing that failed is at its end.
        while (rows := await self._executor.run(lambda: next(portions, None))) is not None:
            yield rows

    async def restore(self, rows: Sequence[Row]) -> None:
        await self._run("restore", lambda: self._beginning.restore(self._ids, rows), rows=len(rows))

    async def stats(self) -> FrontierStats:
        return await self._run("stats", lambda: counting.stats(self._session))

    async def _run(
        self, name: str, work: Callable[[], T], *, urgent: bool = False, **sizes: int
    ) -> T:
        with self._timings.measure(name, **sizes):
            return await self._submit(work, urgent=urgent)

    async def _submit(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        return await self._executor.run(lambda: _persistently(work), urgent=urgent)


def _persistently(work: Callable[[], T]) -> T:
    """Do it again where the server undid a transaction and asks for just that. Everything else is
    for the caller to decide, who may want to stop."""
    for _ in range(TRIES - 1):
        try:
            return work()
        except FrontierError as exc:
            if not isinstance(exc.__cause__, AGAIN):
                raise
    return work()
