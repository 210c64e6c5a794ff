"""forget: nothing of an excluded site is left but that it is excluded."""

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    everything,
    facts_of,
    names,
    released,
    robots,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Forgotten, Frontier, Kind
from mannerly.model import (
    Caps,
    Outcome,
    RobotsRecord,
    RobotsState,
    SiteState,
    UrlState,
)

ORIGIN = "https://a.example"


async def test_a_site_that_is_forgotten_leaves_its_exclusion_and_the_others(
    engine: Engine,
) -> None:
    async with engine.open(caps=Caps(pending=4, spilt=5, pages=0)) as frontier:
        worker = await Worker.enlist(frontier, "holder")
        for site in ("a.example", "b.example"):
            await frontier.add([url(site, number) for number in range(9)])
        leases = {lease.site: lease for lease in await worker.lease(urls=4)}
        for lease in leases.values():
            record = RobotsRecord(f"https://{lease.site}", RobotsState.FOUND, b"x", 0.0, 0)
            await worker.commit(
                robots(lease, record),
                settled(lease, 0),
                settled(lease, 1, Outcome.DISALLOWED),
                released(lease, 0),
            )
        async with engine.open() as another:
            await another.exclude(["a.example"])
            before = await another.stats()
            forgotten = await another.forget("a.example")
            # Four waited, two were settled and made room for two of the five spilt ones.
            assert forgotten == Forgotten(waiting=7, settled=2, robots=1)
            assert await another.forget("a.example") == Forgotten(0, 0, 0)
        assert (await frontier.explain("a.example", 0)).state is UrlState.UNKNOWN
        assert await frontier.robots_of("a.example", ORIGIN) is None
        facts = await facts_of(frontier, "a.example")
        assert (facts.state, facts.pending, facts.spilt, facts.pages) == (
            SiteState.EXCLUDED,
            0,
            0,
            0,
        )
        for kind in Kind:
            assert {it.site for it in await everything(frontier, kind)} == {"b.example"}
        stats = await frontier.stats()
        assert (stats.sites, stats.sites_excluded, stats.urls_excluded) == (2, 1, 0)
        assert stats.settled[Outcome.FETCHED] == stats.settled[Outcome.DISALLOWED] == 1
        assert stats.urls_known == before.urls_known - 6
        assert (stats.urls_pending, stats.urls_spilt) == (before.urls_pending, before.urls_spilt)
        other = await facts_of(frontier, "b.example")
        assert (other.pending, other.spilt, other.pages) == (4, 3, 1)
        assert await frontier.add([url("a.example", 1)]) == Added(0, 0, 0, dropped=1)
        await engine.advance(1000)
        assert names(await worker.lease()) == ["b.example"]


async def test_more_than_one_slice(frontier: Frontier) -> None:
    await frontier.add([url("a.example", number) for number in range(6000)])
    await frontier.exclude(["a.example"])
    assert await frontier.forget("a.example") == Forgotten(6000, 0, 0)
    stats = await frontier.stats()
    assert (stats.urls_known, stats.urls_pending, stats.urls_excluded) == (0, 0, 0)


async def test_only_what_is_excluded_can_be_forgotten(frontier: Frontier) -> None:
    await frontier.add([url("a.example", 1)])
    with pytest.raises(FrontierMisuseError):
        await frontier.forget("a.example")
    assert (await frontier.explain("a.example", 1)).state is UrlState.PENDING
    assert await frontier.forget("nobody.example") == Forgotten(0, 0, 0)
