"""The cap on a site's pending URLs: what is over it is spilt, and comes back in order."""

import asyncio
import random

import pytest

from mannerly.frontier.caps import PORTION
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    everything,
    facts_of,
    hashes,
    listed,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Kind
from mannerly.model import Caps, DropCause, Priority, UrlState

FOUR = Caps(pending=4, spilt=0, pages=0)
LARGE = Caps(pending=1500, spilt=1000, pages=0)


async def test_what_is_over_the_cap_is_spilt(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        batch = [url("a.example", number) for number in range(7)]
        assert await frontier.add(batch) == Added(new=4, known=0, foreign=0, spilt=3)
        stats = await frontier.stats()
        assert (stats.urls_known, stats.urls_pending, stats.urls_spilt) == (4, 4, 3)
        assert stats.dropped == {}
        (lease,) = await worker.lease(urls=9)
        assert hashes(lease) == [0, 1, 2, 3]


async def test_the_cap_is_one_of_each_site(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        batch = [url(f"s{n}.example", k) for k in range(5) for n in range(3)]
        assert await frontier.add(batch) == Added(12, 0, 0, spilt=3)
        for n in range(3):
            facts = await facts_of(frontier, f"s{n}.example")
            assert (facts.pending, facts.spilt) == (4, 1)


async def test_the_first_by_priority_then_place_get_the_room(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        batch = [
            url("a.example", 9),
            url("a.example", 8),
            url("a.example", 7, Priority.SEED),
            url("a.example", 1),
            url("a.example", 2, Priority.NEXT),
            url("a.example", 3, Priority.SEED),
        ]
        assert await frontier.add(batch) == Added(4, 0, 0, spilt=2)
        assert await listed(frontier, Kind.PENDING) == [2, 7, 3, 9]
        assert await listed(frontier, Kind.SPILT) == [8, 1]


async def test_so_do_they_in_a_batch_of_several_slices(engine: Engine) -> None:
    numbers = list(range(4000))
    random.Random(1).shuffle(numbers)
    async with engine.open(caps=LARGE) as frontier:
        added = await frontier.add([url("a.example", number) for number in numbers])
        assert added == Added(1500, 0, 0, spilt=1000, dropped=1500)
        assert await listed(frontier, Kind.PENDING) == numbers[:1500]
        assert sorted(await listed(frontier, Kind.SPILT)) == sorted(numbers[1500:2500])


async def test_a_spilt_url_is_not_known(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        await frontier.add([url("a.example", number) for number in range(6)])
        facts = await frontier.explain("a.example", 5)
        assert facts.state is UrlState.SPILT
        assert (await frontier.stats()).urls_known == 4
        assert 5 not in await listed(frontier, Kind.PENDING)
        assert 5 not in await listed(frontier, Kind.SETTLED)


async def test_a_spilt_url_added_again_stays_spilt_as_it_was(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(6)])
        again = url("a.example", 5)._replace(url="https://a.example/other", priority=Priority.NEXT)
        assert await frontier.add([again, url("a.example", 0)]) == Added(0, 1, 0, spilt=1)
        (lease,) = await worker.lease()
        await worker.commit(settled(lease))
        # Now there is room for one, but only a release brings something back.
        assert await frontier.add([again]) == Added(0, 0, 0, spilt=1)
        assert await listed(frontier, Kind.PENDING) == [1, 2, 3]
        spilt = [it.queued for it in await everything(frontier, Kind.SPILT)]
        assert [(it.url, it.priority) for it in spilt if it] == [
            ("https://a.example/4", Priority.LINK),
            ("https://a.example/5", Priority.LINK),
        ]
        stats = await frontier.stats()
        assert (stats.urls_known, stats.urls_pending, stats.urls_spilt) == (4, 3, 2)


async def test_it_comes_back_when_the_site_is_released_half_empty(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(7)])
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 0))
        assert await listed(frontier, Kind.PENDING) == [1, 2, 3], "three of four is not half"
        (lease,) = await worker.lease()
        await worker.commit(settled(lease))
        assert await listed(frontier, Kind.PENDING) == [2, 3], "not released yet"
        await worker.commit(released(lease, 0))
        assert await listed(frontier, Kind.PENDING) == [2, 3, 4, 5]
        assert await listed(frontier, Kind.SPILT) == [6]
        stats = await frontier.stats()
        assert (stats.urls_known, stats.urls_pending, stats.urls_spilt) == (6, 4, 1)


async def test_what_comes_back_keeps_its_place(engine: Engine) -> None:
    """Priority first, then age: what was spilt is older than what was found later."""
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(4)])
        await frontier.add([url("a.example", 4), url("a.example", 5, Priority.SEED)])
        (lease,) = await worker.lease(urls=3)
        await worker.commit(*(settled(lease, index) for index in range(3)))
        assert await frontier.add([url("a.example", 6)]) == Added(1, 0, 0)
        await worker.commit(released(lease, 0))
        (lease,) = await worker.lease(urls=9)
        assert hashes(lease) == [5, 3, 4, 6]


async def test_it_comes_back_in_portions(engine: Engine) -> None:
    """So that no commit becomes long."""
    caps = Caps(pending=5 * PORTION, spilt=0, pages=0)
    async with engine.open(caps=caps) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(10 * PORTION)])
        (lease,) = await worker.lease(urls=4 * PORTION)
        await worker.commit(
            *(settled(lease, index) for index in range(4 * PORTION)), released(lease, 0)
        )
        facts = await facts_of(frontier, "a.example")
        assert (facts.pending, facts.spilt) == (2 * PORTION, 4 * PORTION)
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 0))
        facts = await facts_of(frontier, "a.example")
        assert (facts.pending, facts.spilt) == (3 * PORTION - 1, 3 * PORTION)


async def test_nothing_spilt_is_lost_and_the_order_is_kept(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(100)])
        seen = []
        while leases := await worker.lease(urls=3):
            (lease,) = leases
            parts = [settled(lease, index) for index in range(len(lease.urls))]
            seen += hashes(lease)
            facts = await facts_of(frontier, "a.example")
            assert facts.pending <= 4
            assert facts.pending + facts.spilt == 100 - len(seen) + len(lease.urls)
            assert await worker.commit(*parts, released(lease, 0)) == frozenset()
        assert seen == list(range(100))
        stats = await frontier.stats()
        assert (stats.urls_known, stats.urls_pending, stats.urls_spilt) == (100, 0, 0)


async def test_it_comes_back_although_the_holder_died_before_the_release(engine: Engine) -> None:
    """It settled all there was and was gone: the next lease finds the spill."""
    async with engine.open(caps=FOUR) as frontier, engine.open(caps=FOUR) as another:
        gone, worker = await Worker.enlist(frontier), await Worker.enlist(another)
        await frontier.add([url("a.example", number) for number in range(6)])
        (lease,) = await gone.lease(urls=4, ttl_s=65)
        await gone.commit(*(settled(lease, index) for index in range(4)))
        await engine.advance(60)
        assert await worker.lease() == []
        assert await worker.next_ready_in_s() == pytest.approx(5, abs=4)
        await engine.advance(10)
        (taken,) = await worker.lease(urls=9)
        assert hashes(taken) == [4, 5]
        assert await gone.commit(released(lease, 0)) == {lease.token}
        assert (await frontier.stats()).urls_spilt == 0


async def test_it_comes_back_when_the_holder_is_retired(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier, engine.open(caps=FOUR) as another:
        gone, worker = await Worker.enlist(frontier), await Worker.enlist(another)
        await frontier.add([url("a.example", number) for number in range(6)])
        (lease,) = await gone.lease(urls=4, ttl_s=605)
        await gone.commit(*(settled(lease, index) for index in range(4)))
        assert await another.retire(gone.writer, 15) == 1
        assert await worker.lease() == []
        await engine.advance(20)
        (taken,) = await worker.lease(urls=9)
        assert hashes(taken) == [4, 5]


async def test_a_full_spill_drops_and_counts(engine: Engine) -> None:
    caps = Caps(pending=2, spilt=3, pages=0)
    async with engine.open(caps=caps) as frontier:
        worker = await Worker.enlist(frontier)
        batch = [url("a.example", number) for number in range(7)]
        assert await frontier.add(batch) == Added(2, 0, 0, spilt=3, dropped=2)
        assert await listed(frontier, Kind.SPILT) == [2, 3, 4]
        assert await frontier.add(batch) == Added(0, 2, 0, spilt=3, dropped=2)
        stats = await frontier.stats()
        assert stats.dropped == {DropCause.SPILL_FULL: 4}, "a dropped URL is not remembered"
        assert (stats.urls_known, stats.urls_spilt) == (2, 3)
        assert (await facts_of(frontier, "a.example")).dropped == 4
        # Found again when there is room, it is taken.
        (lease,) = await worker.lease(urls=2)
        await worker.commit(settled(lease, 0), settled(lease, 1), released(lease, 0))
        assert await frontier.add(batch[5:]) == Added(0, 0, 0, spilt=2)


async def test_zero_is_no_cap(engine: Engine) -> None:
    async with engine.open(caps=Caps(pending=0, spilt=0, pages=0)) as frontier:
        batch = [url("a.example", number) for number in range(3000)]
        assert await frontier.add(batch) == Added(3000, 0, 0)


async def test_handles_that_add_at_the_same_time_keep_the_cap(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as one, engine.open(caps=FOUR) as two:
        batches = [[url("a.example", start + k) for k in range(10)] for start in range(0, 200, 10)]
        answers = await asyncio.gather(
            *(handle.add(batch) for handle, batch in zip([one, two] * 10, batches, strict=True))
        )
        assert sum(it.new for it in answers) == 4
        assert sum(it.spilt for it in answers) == 196
        facts = await facts_of(one, "a.example")
        assert (facts.pending, facts.spilt) == (4, 196)
        assert sorted(await listed(two, Kind.PENDING) + await listed(two, Kind.SPILT)) == list(
            range(200)
        )


async def test_a_parked_site_that_gains_urls_over_the_cap_is_leased_once(engine: Engine) -> None:
    async with engine.open(caps=FOUR) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 0)])
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 0))
        assert await frontier.add([url("a.example", n) for n in range(7)]) == Added(4, 1, 0, 2)
        assert names(await worker.lease()) == ["a.example"]
        assert await worker.lease() == []
