"""The contract's verbs on a Redis server. What they guarantee: `frontier.contract`; what that
depends on here (how the server keeps its log): docs/redis.md."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from mannerly.clock import Clock, Executor
from mannerly.dburl import is_cluster, schema_name
from mannerly.errors import ConfigError
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
from mannerly.frontier.redis import (
    beginning,
    committing,
    crawlers,
    finding,
    leasing,
    listing,
    moving,
    sites,
)
from mannerly.frontier.redis.adding import Batch, total
from mannerly.frontier.redis.beginning import Beginning
from mannerly.frontier.redis.connection import TimeOuts
from mannerly.frontier.redis.library import Library, library
from mannerly.frontier.redis.session import Session
from mannerly.frontier.rows import ClockReading, Part, Row
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


class RedisFrontier:
    """One crawl's frontier under one name on a server, opened by one process.

    A verb is one piece of blocking work on `executor` (each piece of an add is one), over one
    connection. The executor stays the caller's: it is not closed here.
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
        functions: Library | None = None,
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
        self._session = Session(
            url,
            name,
            library=functions or library(in_cluster=is_cluster(url)),
            clock=clock,
            timings=self._timings,
            time_outs=time_outs,
        )
        self._beginning = Beginning(self._session, random)

    async def __aenter__(self) -> Self:
        await self._executor.run(self._session.open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._executor.run(self._close)

    def _close(self) -> None:
        self._beginning.leave()
        self._session.close()

    async def create(self, settings: Mapping[str, str]) -> None:
        wall_s = self._clock.wall()
        await self._run("create", lambda: self._beginning.create(settings, wall_s))

    async def clear(self) -> None:
        await self._run("clear", self._beginning.clear)

    async def settings(self) -> dict[str, str] | None:
        return await self._run("settings", lambda: beginning.settings(self._session))

    async def enlist(self, label: str) -> int:
        return await self._run("enlist", lambda: sites.enlist(self._session, label, self._chance))

    async def writer_state(self, writer: int) -> WriterState | None:
        return await self._run("writer_state", lambda: sites.writer_state(self._session, writer))

    async def retire(self, writer: int, rest_s: float) -> int:
        return await self._run("retire", lambda: sites.retire(self._session, writer, rest_s))

    async def beat(self, writer: int, beat: Beat) -> Pulse:
        return await self._run("beat", lambda: crawlers.beat(self._session, writer, beat))

    async def crawlers(self) -> list[CrawlerFacts]:
        return await self._run("crawlers", lambda: crawlers.crawlers(self._session))

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        with self._timings.measure("add", urls=len(urls)):
            batch = await self._executor.run(
                lambda: Batch(self._session, self._caps, urls, new_sites=new_sites)
            )
            # Each piece is work of its own, so that a lease of this process comes in between, and
            # all are submitted at once: every turn of a busy loop between two would cost its lag.
            added = await asyncio.gather(
                *(self._executor.run(partial(batch.apply, piece)) for piece in batch.pieces)
            )
        return total(added)

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        leased_at = self._clock.now()
        return await self._run(
            "lease",
            lambda: leasing.lease(
                self._session,
                self._caps,
                self._chance,
                writer,
                want,
                ttl_s=ttl_s,
                urls_per_site=urls_per_site,
                leased_at=leased_at,
            ),
            urgent=True,
            sites=want,
        )

    async def claim(self, writer: int, site: str, *, ttl_s: float) -> Lease | None:
        leased_at = self._clock.now()
        return await self._run(
            "claim",
            lambda: leasing.claim(
                self._session, self._chance, writer, site, ttl_s=ttl_s, leased_at=leased_at
            ),
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
            "exclude", lambda: sites.exclude(self._session, sites_), sites=len(sites_)
        )

    async def forget(self, site: str) -> Forgotten:
        return await self._run("forget", lambda: sites.forget(self._session, site))

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
            lambda: finding.find_sites(self._session, begins, order, skip, limit),
            sites=limit,
        )

    async def hand_over(self, to: str) -> None:
        await self._run("hand_over", lambda: moving.hand_over(self._session, to))

    async def clock(self) -> ClockReading:
        return await self._run("clock", lambda: moving.clock(self._session))

    async def export(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        portions = moving.export(self._session, part)
        while (rows := await self._executor.run(lambda: next(portions, None))) is not None:
            yield rows

    async def restore(self, rows: Sequence[Row]) -> None:
        await self._run("restore", lambda: self._beginning.restore(rows), rows=len(rows))

    async def stats(self) -> FrontierStats:
        return await self._run("stats", lambda: listing.stats(self._session))

    async def _run(
        self, name: str, work: Callable[[], T], *, urgent: bool = False, **sizes: int
    ) -> T:
        with self._timings.measure(name, **sizes):
            return await self._executor.run(work, urgent=urgent)
