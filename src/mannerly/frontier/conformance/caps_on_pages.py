"""The cap on a site's pages: never more of them, and failures make room for others."""

from collections import Counter

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    facts_of,
    hashes,
    listed,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Kind
from mannerly.model import Caps, DropCause, Outcome

FIVE = Caps(pending=0, spilt=0, pages=5)


async def drain(worker: Worker, outcomes: list[Outcome]) -> list[int]:
    """Visit until nothing is ready; outcomes in turn, then always the last."""
    visited: list[int] = []
    while leases := await worker.lease():
        (lease,) = leases
        outcome = outcomes[min(len(visited), len(outcomes) - 1)]
        visited += hashes(lease)
        assert await worker.commit(settled(lease, 0, outcome), released(lease, 0)) == frozenset()
    return visited


async def test_never_more_pages_than_the_cap(engine: Engine) -> None:
    async with engine.open(caps=FIVE) as frontier:
        worker = await Worker.enlist(frontier)
        added = await frontier.add([url("a.example", number) for number in range(20)])
        assert added == Added(5, 0, 0, spilt=5, dropped=10), "more than its pages it never needs"
        assert await drain(worker, [Outcome.FETCHED]) == [0, 1, 2, 3, 4]
        stats = await frontier.stats()
        assert stats.settled == {Outcome.FETCHED: 5}
        assert (stats.urls_known, stats.urls_pending, stats.urls_spilt) == (5, 0, 0)
        assert stats.dropped == {DropCause.SPILL_FULL: 10, DropCause.SITE_FULL: 5}
        assert await worker.next_ready_in_s() is None


@pytest.mark.parametrize(
    "failure", [Outcome.HTTP_ERROR, Outcome.REDIRECTED, Outcome.DISALLOWED, Outcome.TIMED_OUT]
)
async def test_what_gives_no_page_makes_room(engine: Engine, failure: Outcome) -> None:
    async with engine.open(caps=FIVE) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(10)])
        assert await drain(worker, [failure] * 3 + [Outcome.FETCHED]) == list(range(8))
        stats = await frontier.stats()
        assert stats.settled == {failure: 3, Outcome.FETCHED: 5}
        assert stats.dropped == {DropCause.SITE_FULL: 2}
        assert stats.urls_spilt == 0
        facts = await facts_of(frontier, "a.example")
        assert (facts.pages, facts.pending, facts.spilt, facts.dropped) == (5, 0, 0, 2)


async def test_what_is_added_to_a_full_site_is_dropped(engine: Engine) -> None:
    async with engine.open(caps=FIVE) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(5)])
        await drain(worker, [Outcome.FETCHED])
        batch = [url("a.example", number) for number in (4, 5, 6)]
        assert await frontier.add(batch) == Added(0, 1, 0, dropped=2)
        assert await worker.lease() == []
        assert await worker.next_ready_in_s() is None
        stats = await frontier.stats()
        assert (stats.urls_known, stats.dropped) == (5, {DropCause.SITE_FULL: 2})
        assert (await facts_of(frontier, "a.example")).dropped == 2


async def test_pages_and_pending_together_keep_the_cap(engine: Engine) -> None:
    """A site never has more waiting than it may still give."""
    async with engine.open(caps=FIVE) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(4)])
        (lease,) = await worker.lease(urls=3)
        await worker.commit(*(settled(lease, index) for index in range(3)), released(lease, 0))
        batch = [url("a.example", number) for number in range(10, 14)]
        assert await frontier.add(batch) == Added(1, 0, 0, spilt=2, dropped=1)
        facts = await facts_of(frontier, "a.example")
        assert (facts.pages, facts.pending, facts.spilt) == (3, 2, 2)


async def test_a_deferred_url_makes_no_room(engine: Engine) -> None:
    async with engine.open(caps=FIVE) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(7)])
        (lease,) = await worker.lease()
        await worker.commit(deferred(lease), released(lease, 0))
        assert sorted(await listed(frontier, Kind.PENDING)) == [0, 1, 2, 3, 4]
        assert await listed(frontier, Kind.SPILT) == [5, 6]


async def test_a_full_site_whose_holder_died_before_the_release_is_no_work(engine: Engine) -> None:
    async with engine.open(caps=FIVE) as frontier, engine.open(caps=FIVE) as another:
        gone, worker = await Worker.enlist(frontier), await Worker.enlist(another)
        await frontier.add([url("a.example", number) for number in range(7)])
        (lease,) = await gone.lease(urls=5, ttl_s=65)
        await gone.commit(*(settled(lease, index) for index in range(5)))
        await engine.advance(70)
        assert await worker.lease() == []
        assert await worker.next_ready_in_s() is None
        stats = await frontier.stats()
        assert (stats.urls_spilt, stats.dropped) == (0, {DropCause.SITE_FULL: 2})
        assert (stats.sites_ready, stats.sites_waiting, stats.fetched) == (0, 0, 5)


async def test_both_caps_together(engine: Engine) -> None:
    """Two in the queue, six pages, and every third visit fails."""
    caps = Caps(pending=2, spilt=0, pages=6)
    async with engine.open(caps=caps) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(30)])
        outcomes = [Outcome.FETCHED, Outcome.FETCHED, Outcome.HTTP_ERROR] * 9
        visited = await drain(worker, outcomes)
        assert Counter(outcomes[: len(visited)])[Outcome.FETCHED] <= 6
        assert visited == list(range(len(visited)))
        stats = await frontier.stats()
        assert stats.fetched <= 6
        assert stats.urls_known == len(visited)
        # 2 + 6 fit in; 8 visits of which every third fails give exactly six pages.
        assert (len(visited), stats.fetched) == (8, 6)
        assert sum(stats.dropped.values()) == 30 - 8
        assert (stats.urls_pending, stats.urls_spilt) == (0, 0)
