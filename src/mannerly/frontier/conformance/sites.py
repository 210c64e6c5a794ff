"""Sites that come back (retire), sites that do not (abandoned), and the counts of both."""

import pytest

from mannerly.errors import CrawlExistsError
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    hashes,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added, WriterState
from mannerly.model import FrontierStats, Outcome


async def test_the_sites_of_a_retired_writer_come_back_after_the_rest(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url(f"s{number}.example", 1) for number in range(4)])
    gone = await worker.lease(3, ttl_s=605)
    kept = await other.lease(1, ttl_s=605)
    assert await other.frontier.retire(worker.writer, 15) == 3
    await engine.advance(10)
    assert await other.lease() == []
    await engine.advance(10)
    assert sorted(names(await other.lease())) == sorted(names(gone))
    assert await other.commit(settled(kept[0])) == frozenset(), "its own lease was left alone"
    assert await worker.commit(*(settled(lease) for lease in gone)) == {it.token for it in gone}


async def test_a_site_that_asks_for_a_longer_delay_comes_back_after_that(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    for lease in await worker.lease():
        await worker.commit(released(lease, 0)._replace(delay_s=60.0 * (lease.site == "a.example")))
    assert len(await worker.lease()) == 2
    await other.frontier.retire(worker.writer, 15)
    await engine.advance(20)
    (soon,) = await other.lease()
    assert soon.site == "b.example"
    await engine.advance(45)
    (later,) = await other.lease()
    assert later.site == "a.example"


async def test_clear_forgets_what_no_crawl_owns(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.frontier.clear()
    assert (await worker.frontier.stats()) == FrontierStats(writers=1)
    assert (await worker.frontier.add([url("a.example", 1)])).new == 1
    await worker.frontier.create({})
    with pytest.raises(CrawlExistsError):
        await worker.frontier.clear()
    assert (await worker.frontier.stats()).urls_pending == 1


async def test_a_retired_writers_leases_end_at_once(worker: Worker, other: Worker) -> None:
    """Even before anybody else leases the site."""
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await other.frontier.retire(worker.writer, 15)
    assert await worker.commit(settled(lease), released(lease, 0)) == {lease.token}
    assert (await other.frontier.stats()).urls_pending == 1


async def test_retiring_never_makes_a_site_later(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.lease(ttl_s=65)
    await engine.advance(50)
    await other.frontier.retire(worker.writer, 1000)
    await engine.advance(10)
    assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


async def test_retiring_does_not_shorten_a_rest(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 95))
    assert await other.frontier.retire(worker.writer, 0) == 0
    await engine.advance(90)
    assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


async def test_retiring_again_changes_nothing(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.lease()
    await worker.commit()
    assert await other.frontier.retire(worker.writer, 0) == 1
    (lease,) = await other.lease()
    assert await other.frontier.retire(worker.writer, 0) == 0
    assert await other.commit(settled(lease)) == frozenset()
    stats = await other.frontier.stats()
    assert (stats.writers, stats.leases) == (1, 2)
    assert await other.frontier.writer_state(worker.writer) == WriterState(1, frozenset())


async def test_retiring_a_writer_nobody_heard_of_brings_nothing_back(worker: Worker) -> None:
    assert await worker.frontier.retire(12345, 0) == 0


async def test_a_site_without_work_does_not_come_back_with_its_writer(
    worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease))
    await other.frontier.retire(worker.writer, 0)
    assert await other.next_ready_in_s() is None
    assert await other.lease() == []


async def test_an_abandoned_site_is_never_leased_again(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease()
    await worker.commit(
        settled(lease, outcome=Outcome.CONNECT_FAILED), released(lease, 0, 7, abandoned=True)
    )
    assert await worker.next_ready_in_s() is None
    await engine.advance(1_000_000)
    assert await worker.lease() == []
    stats = await worker.frontier.stats()
    assert (stats.sites, stats.sites_abandoned) == (1, 1)
    assert (stats.sites_ready, stats.sites_waiting) == (0, 0)
    assert (stats.urls_pending, stats.urls_abandoned) == (2, 2)


async def test_urls_added_to_an_abandoned_site_are_kept_and_counted(
    engine: Engine, worker: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0, 7, abandoned=True))
    async with engine.open() as another:
        assert await another.add([url("a.example", 1), url("a.example", 2)]) == Added(1, 1, 0)
        assert await another.add([url("a.example", 2), url("a.example", 3)]) == Added(1, 1, 0)
    assert await worker.lease() == []
    assert await worker.next_ready_in_s() is None
    stats = await worker.frontier.stats()
    assert (stats.urls_known, stats.urls_pending, stats.urls_abandoned) == (3, 2, 2)


async def test_counts_over_the_whole_crawl(engine: Engine, worker: Worker, other: Worker) -> None:
    assert await worker.frontier.stats() == FrontierStats(writers=2)
    await worker.frontier.add([url(f"s{n}.example", k) for n in range(5) for k in range(3)])
    leases = await worker.lease(3, urls=3)
    first, second, third = leases
    await worker.commit(
        settled(first, 0),
        settled(first, 1, Outcome.DISALLOWED),
        deferred(first, 2),
        released(first, 35),
        settled(second, 0),
        released(second, 0, 3, abandoned=True),
    )
    (fourth,) = await other.lease(1)
    await other.commit(settled(fourth), released(fourth, 0))
    # A refused one, of a lease that went to another.
    await other.frontier.retire(worker.writer, 0)
    assert await worker.commit(settled(third)) == {third.token}
    expected = FrontierStats(
        sites=5,
        sites_ready=3,  # the third, the fourth, the fifth
        sites_waiting=1,  # the first rests
        sites_abandoned=1,
        urls_known=15,
        urls_pending=11,
        urls_abandoned=2,
        settled={Outcome.FETCHED: 3, Outcome.DISALLOWED: 1},
        leases=4,
        refused=1,
        writers=1,
    )
    assert await worker.frontier.stats() == expected
    async with engine.open() as another:
        assert await another.stats() == expected


async def test_everything_is_still_there_after_closing_and_opening(engine: Engine) -> None:
    async with engine.open() as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.create({"delay_s": "15"})
        await frontier.add([url("a.example", 1), url("a.example", 2), url("b.example", 1)])
        leases = {lease.site: lease for lease in await worker.lease()}
        await worker.commit(settled(leases["a.example"]), released(leases["a.example"], 35))
        before = await frontier.stats()
    await engine.advance(10)
    async with engine.open() as frontier:
        assert await frontier.settings() == {"delay_s": "15"}
        assert await frontier.stats() == before
        worker.frontier = frontier
        assert await worker.lease() == []
        assert await worker.commit(settled(leases["b.example"])) == frozenset()
        await engine.advance(30)
        (lease,) = await worker.lease()
        assert (lease.site, hashes(lease)) == ("a.example", [2])
