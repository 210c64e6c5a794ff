"""The front of a queue: rows that are settled and not deleted yet must never be seen again."""

import sqlite3
from pathlib import Path

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Frontier, Kind
from mannerly.frontier.sqlite.front import LITTER
from mannerly.model import (
    Commit,
    Deferred,
    Lease,
    NewUrl,
    Outcome,
    Priority,
    QueuedUrl,
    Released,
    Settled,
    Source,
)
from tests.unit.frontier.sqlite_opening import opened

SITE = "a.example"


def link(number: int, priority: int = Priority.LINK) -> NewUrl:
    return NewUrl(SITE, number, f"https://{SITE}/{number}", 1, priority, Source.LINK, 0)


def settled(lease: Lease, url: QueuedUrl) -> Settled:
    return Settled(lease.handle, lease.token, url.priority, url.seq, url.hash, Outcome.FETCHED)


class Crawl:
    """One writer that leases the only site again and again."""

    def __init__(self, frontier: Frontier, writer: int) -> None:
        self.frontier = frontier
        self.writer = writer
        self.sequence = 0

    async def lease(self, urls: int = 4) -> Lease:
        leased = await self.frontier.lease(self.writer, 1, ttl_s=60, urls_per_site=urls)
        return leased.leases[0]

    async def commit(
        self, lease: Lease, done: list[Settled], deferred: list[Deferred] | None = None
    ) -> None:
        released = [Released(lease.handle, lease.token, 0.0, 0, False)]
        commit = Commit(self.sequence + 1, done, deferred or [], released)
        await self.frontier.commit(self.writer, commit)
        self.sequence += 1

    async def settle_first(self, count: int) -> list[int]:
        """Settle the head of the queue, one URL a visit; their hashes."""
        hashes = []
        for _ in range(count):
            lease = await self.lease(urls=1)
            await self.commit(lease, [settled(lease, lease.urls[0])])
            hashes.append(lease.urls[0].hash)
        return hashes

    async def pending(self) -> list[int]:
        return [url.hash for url in (await self.frontier.iterate(Kind.PENDING)).urls]


async def started(frontier: Frontier, urls: int) -> Crawl:
    crawl = Crawl(frontier, await frontier.enlist("test"))
    await frontier.add([link(number) for number in range(1, urls + 1)])
    return crawl


def rows(path: Path) -> tuple[int, int]:
    """Rows in the queue, and how many of them are said to be litter."""
    connection = sqlite3.connect(path)
    (queued,) = connection.execute("SELECT count(*) FROM queue").fetchone()
    (litter,) = connection.execute("SELECT sum(litter) FROM clock").fetchone()
    connection.close()
    return queued, litter


async def test_settled_rows_are_deleted_a_pageful_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, LITTER + 5)
        assert await crawl.settle_first(LITTER - 1) == list(range(1, LITTER))
        assert rows(path) == (LITTER + 5, LITTER - 1)
        assert await crawl.pending() == list(range(LITTER, LITTER + 6))
        await crawl.settle_first(1)
        assert rows(path) == (5, 0)
        await crawl.settle_first(3)
        assert rows(path) == (5, 3)


async def test_an_empty_queue_keeps_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, 3)
        await crawl.settle_first(3)
        assert rows(path) == (0, 0)


async def test_a_url_of_a_better_priority_comes_before_the_front(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, 4)
        await crawl.settle_first(2)
        await frontier.add([link(9, Priority.NEXT)])
        assert rows(path) == (3, 0)
        assert await crawl.settle_first(3) == [9, 3, 4]


async def test_what_is_settled_out_of_order_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, 6)
        await crawl.settle_first(1)
        lease = await crawl.lease(urls=4)
        await crawl.commit(lease, [settled(lease, lease.urls[1]), settled(lease, lease.urls[3])])
        assert await crawl.pending() == [2, 4, 6]
        assert rows(path) == (4, 1)


async def test_a_url_that_is_put_off_to_a_better_priority_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, 4)
        await crawl.settle_first(2)
        lease = await crawl.lease(urls=2)
        url = lease.urls[1]
        put_off = Deferred(lease.handle, lease.token, url.priority, url.seq, Priority.NEXT, 1)
        await crawl.commit(lease, [], [put_off])
        assert await crawl.settle_first(2) == [4, 3]


async def test_a_settled_url_cannot_be_settled_or_put_off_again(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        crawl = await started(frontier, 4)
        lease = await crawl.lease()
        first = lease.urls[0]
        await frontier.commit(crawl.writer, Commit(1, [settled(lease, first)]))
        crawl.sequence = 1
        again = Deferred(lease.handle, lease.token, first.priority, first.seq, Priority.RETRY, 1)
        for done, deferred in (([settled(lease, first)], []), ([], [again])):
            with pytest.raises(FrontierMisuseError):
                await crawl.commit(lease, done, deferred)
        assert await crawl.pending() == [2, 3, 4]


async def test_explain_counts_only_what_waits(tmp_path: Path) -> None:
    async with opened(tmp_path / "frontier.db") as frontier:
        crawl = await started(frontier, 5)
        await crawl.settle_first(2)
        assert (await frontier.explain(SITE, 5)).before == 2
        assert (await frontier.explain(SITE, 1)).outcome is Outcome.FETCHED
