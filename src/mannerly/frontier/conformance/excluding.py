"""exclude: a site that is never leased again, from whatever state it was in."""

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    every_site,
    facts_of,
    listed,
    names,
    released,
    robots,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Excluded, Kind
from mannerly.model import (
    Caps,
    DropCause,
    FrontierStats,
    Outcome,
    RobotsRecord,
    RobotsState,
    SiteState,
)


async def never_leased(engine: Engine, worker: Worker) -> None:
    assert await worker.next_ready_in_s() is None
    await engine.advance(1_000_000)
    assert await worker.lease() == []
    stats = await worker.frontier.stats()
    assert (stats.sites_ready, stats.sites_waiting) == (0, 0)


async def test_excluding_a_site_that_is_not_known_yet(engine: Engine, worker: Worker) -> None:
    frontier = worker.frontier
    assert await frontier.exclude(["a.example"]) == Excluded(sites=1, urls=0)
    assert (await facts_of(frontier, "a.example")).state is SiteState.EXCLUDED
    async with engine.open() as another:
        batch = [url("a.example", 1), url("a.example", 2)]
        assert await another.add(batch) == Added(0, 0, 0, dropped=2)
        assert await another.add(batch[:1]) == Added(0, 0, 0, dropped=1)
    stats = await frontier.stats()
    assert (stats.sites_excluded, stats.urls_excluded, stats.urls_known) == (1, 0, 0)
    assert stats.dropped == {DropCause.EXCLUDED: 3}
    assert (await facts_of(frontier, "a.example")).dropped == 3
    await never_leased(engine, worker)


async def test_excluding_a_site_that_is_ready(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    assert await other.frontier.exclude(["a.example"]) == Excluded(1, 3)
    assert await worker.frontier.add([url("a.example", 9)]) == Added(0, 0, 0, dropped=1)
    stats = await worker.frontier.stats()
    assert (stats.sites, stats.sites_excluded) == (1, 1)
    assert (stats.urls_known, stats.urls_pending, stats.urls_excluded) == (3, 0, 3)
    await never_leased(engine, worker)


async def test_excluding_a_site_that_is_leased(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    """Nothing of a site is stored after it was excluded."""
    await worker.frontier.add([url("a.example", number) for number in range(4)])
    (lease,) = await worker.lease(urls=4)
    await worker.commit(settled(lease, 0))
    assert await other.frontier.exclude(["a.example"]) == Excluded(1, 3)
    record = RobotsRecord("https://a.example", RobotsState.ABSENT, b"", 0.0, 0)
    refused = await worker.commit(
        settled(lease, 1), deferred(lease, 2), robots(lease, record), released(lease, 0)
    )
    assert refused == {lease.token}
    stats = await worker.frontier.stats()
    assert stats.settled == {Outcome.FETCHED: 1}
    assert (stats.refused, stats.urls_pending, stats.urls_excluded) == (1, 0, 3)
    facts = await facts_of(worker.frontier, "a.example")
    assert (facts.leased, facts.holder, facts.pages) == (False, "", 1)
    await never_leased(engine, worker)


async def test_excluding_a_site_that_rests(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 45))
    assert await worker.frontier.exclude(["a.example"]) == Excluded(1, 2)
    await never_leased(engine, worker)


async def test_excluding_a_site_that_is_parked(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0))
    assert await worker.frontier.exclude(["a.example"]) == Excluded(1, 0)
    added = await worker.frontier.add([url("a.example", 2)])
    assert added == Added(0, 0, 0, dropped=1)
    await never_leased(engine, worker)


async def test_excluding_a_site_that_was_abandoned(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0, 7, abandoned=True))
    assert await worker.frontier.exclude(["a.example"]) == Excluded(1, 2)
    stats = await worker.frontier.stats()
    assert (stats.sites_abandoned, stats.urls_abandoned) == (0, 0), "it is now the other thing"
    assert (stats.sites_excluded, stats.urls_excluded, stats.urls_pending) == (1, 2, 0)
    await never_leased(engine, worker)


async def test_excluding_a_site_with_a_spill(engine: Engine) -> None:
    async with engine.open(caps=Caps(pending=2, spilt=0, pages=0)) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(5)])
        (lease,) = await worker.lease(urls=2)
        await worker.commit(settled(lease, 0), settled(lease, 1))
        assert await frontier.exclude(["a.example"]) == Excluded(1, 3)
        assert await worker.commit(released(lease, 0)) == {lease.token}
        stats = await frontier.stats()
        assert (stats.urls_spilt, stats.urls_excluded, stats.dropped) == (0, 3, {})
        await never_leased(engine, worker)


async def test_excluding_again_changes_nothing(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    assert await worker.frontier.exclude(["a.example", "b.example", "a.example"]) == Excluded(2, 3)
    before = await worker.frontier.stats()
    assert await other.frontier.exclude(["b.example", "a.example"]) == Excluded(0, 0)
    assert await other.frontier.exclude([]) == Excluded(0, 0)
    assert await worker.frontier.stats() == before


async def test_other_sites_are_left_alone(worker: Worker, other: Worker) -> None:
    sites = [f"s{number}.example" for number in range(20)]
    await worker.frontier.add([url(site, 1) for site in sites])
    leases = {lease.site: lease for lease in await worker.lease(10)}
    taken = next(iter(leases))
    left = next(site for site in sites if site not in leases)
    assert await other.frontier.exclude([taken, left]) == Excluded(2, 2)
    refused = await worker.commit(*(settled(lease) for lease in leases.values()))
    assert refused == {leases[taken].token}
    assert sorted(names(await other.lease())) == sorted(set(sites) - set(leases) - {left})


async def test_what_was_settled_before_stays_settled(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0))
    await worker.frontier.exclude(["a.example"])
    assert await listed(worker.frontier, Kind.SETTLED) == [1]
    assert (await worker.frontier.stats()).fetched == 1
    added = await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    assert added == Added(0, 2, 0, dropped=1), "what is known stays known"


async def test_its_urls_are_not_listed_and_the_site_is(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 2)])
    await worker.frontier.exclude(["a.example", "c.example"])
    assert await listed(worker.frontier, Kind.PENDING) == [2]
    states = {it.site: it.state for it in await every_site(worker.frontier)}
    assert states["a.example"] is SiteState.EXCLUDED
    assert states["b.example"] is SiteState.OPEN


@pytest.mark.parametrize("new_sites", [True, False])
async def test_no_way_of_adding_gets_around_it(worker: Worker, new_sites: bool) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.frontier.exclude(["a.example"])
    added = await worker.frontier.add([url("a.example", 2)], new_sites=new_sites)
    assert added == Added(0, 0, 0, dropped=1)
    assert await worker.lease() == []


async def test_a_retired_holder_brings_no_excluded_site_back(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    await worker.lease()
    await other.frontier.exclude(["a.example"])
    assert await other.frontier.retire(worker.writer, 15) == 1
    await engine.advance(20)
    assert names(await other.lease()) == ["b.example"]


async def test_it_holds_after_closing_and_opening(engine: Engine) -> None:
    async with engine.open() as frontier:
        await frontier.create({})
        await frontier.add([url("a.example", 1)])
        await frontier.exclude(["a.example", "b.example"])
        before = await frontier.stats()
    async with engine.open() as frontier:
        assert await frontier.stats() == before
        assert await frontier.add([url("b.example", 1)]) == Added(0, 0, 0, dropped=1)
        await never_leased(engine, await Worker.enlist(frontier))


async def test_clear_forgets_exclusions_too(worker: Worker) -> None:
    """They are told anew when the start is tried again."""
    await worker.frontier.add([url("a.example", 1)])
    await worker.frontier.exclude(["a.example", "b.example"])
    await worker.frontier.clear()
    assert await worker.frontier.stats() == FrontierStats(writers=1)
    assert await worker.frontier.add([url("b.example", 1)]) == Added(1, 0, 0)
