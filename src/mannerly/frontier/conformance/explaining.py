"""explain: what is known of a URL and its site, in every state they can be in."""

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    every_site,
    facts_of,
    released,
    robots,
    settled,
    url,
)
from mannerly.frontier.contract import Frontier
from mannerly.model import (
    Caps,
    Outcome,
    Priority,
    RobotsRecord,
    RobotsState,
    SiteFacts,
    SiteState,
    UrlFacts,
    UrlState,
)

SLACK_S = 4.0
"""A clock may run on while a test runs."""


async def test_a_site_nobody_heard_of(frontier: Frontier) -> None:
    await frontier.add([url("a.example", 1)])
    unknown = UrlFacts(None, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
    assert await frontier.explain("b.example", 1) == unknown


async def test_an_unknown_url_of_a_known_site(frontier: Frontier) -> None:
    await frontier.add([url("a.example", 1)])
    facts = await frontier.explain("a.example", 2)
    assert facts[1:] == (UrlState.UNKNOWN, Outcome.PENDING, None, 0)
    assert facts.site is not None
    assert (facts.site.site, facts.site.state, facts.site.pending) == (
        "a.example",
        SiteState.OPEN,
        1,
    )


async def test_a_pending_url_and_how_many_go_before_it(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(5)])
    await worker.frontier.add([url("a.example", 9, Priority.SEED)])
    async with engine.open() as another:
        facts = [await another.explain("a.example", number) for number in (9, 0, 4)]
    assert [it.before for it in facts] == [0, 1, 5]
    assert {it.state for it in facts} == {UrlState.PENDING}
    (lease,) = await worker.lease(urls=9)
    assert [facts[0].queued, facts[1].queued, facts[2].queued] == [
        lease.urls[0],
        lease.urls[1],
        lease.urls[5],
    ]


async def test_a_leased_url_is_still_pending(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease(ttl_s=65)
    facts = await other.frontier.explain("a.example", 1)
    assert (facts.state, facts.queued) == (UrlState.PENDING, lease.urls[0])
    assert facts.site is not None
    assert (facts.site.leased, facts.site.holder) == (True, "a worker")
    assert facts.site.ready_in_s == pytest.approx(65, abs=SLACK_S)


async def test_a_deferred_url(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2)])
    (lease,) = await worker.lease()
    await worker.commit(deferred(lease), released(lease, 0, failures=3))
    facts = await worker.frontier.explain("a.example", 1)
    assert facts.queued is not None
    assert (facts.queued.tries, facts.queued.priority) == (1, Priority.RETRY)
    assert facts.before == 1
    assert facts.site is not None
    assert facts.site.failures == 3


@pytest.mark.parametrize("outcome", [Outcome.FETCHED, Outcome.DISALLOWED, Outcome.TLS_FAILED])
async def test_a_settled_url(worker: Worker, outcome: Outcome) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease, 0, outcome), released(lease, 0))
    facts = await worker.frontier.explain("a.example", 1)
    assert facts[1:4] == (UrlState.SETTLED, outcome, None)
    assert facts.site is not None
    assert (facts.site.pending, facts.site.pages) == (1, int(outcome is Outcome.FETCHED))


async def test_a_spilt_url(engine: Engine) -> None:
    async with engine.open(caps=Caps(pending=2, spilt=2, pages=0)) as frontier:
        batch = [url("a.example", number) for number in range(6)]
        await frontier.add(batch)
        spilt = await frontier.explain("a.example", 3)
        assert (spilt.state, spilt.outcome) == (UrlState.SPILT, Outcome.PENDING)
        assert spilt.queued is not None
        assert spilt.queued.url == batch[3].url
        dropped = await frontier.explain("a.example", 5)
        assert (dropped.state, dropped.queued) == (UrlState.UNKNOWN, None)
        assert dropped.site is not None
        assert (dropped.site.pending, dropped.site.spilt, dropped.site.dropped) == (2, 2, 2)


async def test_a_url_of_an_excluded_site(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0))
    await worker.frontier.exclude(["a.example"])
    facts = await worker.frontier.explain("a.example", 1)
    assert (facts.state, facts.outcome) == (UrlState.SETTLED, Outcome.FETCHED)
    assert facts.site is not None
    assert facts.site.state is SiteState.EXCLUDED


async def test_a_site_that_is_ready_rests_and_is_ready_again(
    engine: Engine, worker: Worker
) -> None:
    frontier = worker.frontier
    await frontier.add([url("a.example", number) for number in range(3)])
    await engine.advance(30)
    ready = await facts_of(frontier, "a.example")
    assert (ready.leased, ready.holder) == (False, "")
    assert ready.ready_in_s == pytest.approx(-30, abs=SLACK_S)
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 95)._replace(delay_s=7.5))
    resting = await facts_of(frontier, "a.example")
    assert resting.ready_in_s == pytest.approx(95, abs=SLACK_S)
    await engine.advance(100)
    again = await facts_of(frontier, "a.example")
    assert again.ready_in_s == pytest.approx(-5, abs=SLACK_S)
    expected = SiteFacts("a.example", SiteState.OPEN, 0, False, "", 0, 7.5, 2, 0, 1, 0)
    assert again._replace(ready_in_s=0) == expected


async def test_a_site_that_was_abandoned(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    (lease,) = await worker.lease()
    await worker.commit(
        settled(lease, 0, Outcome.CONNECT_FAILED), released(lease, 0, 7, abandoned=True)
    )
    facts = await worker.frontier.explain("a.example", 1)
    assert facts.state is UrlState.PENDING
    assert facts.site is not None
    assert (facts.site.state, facts.site.failures, facts.site.pending) == (
        SiteState.ABANDONED,
        7,
        2,
    )


async def test_sites_are_listed_as_they_are_explained(engine: Engine) -> None:
    async with engine.open(caps=Caps(pending=2, spilt=2, pages=0)) as frontier:
        worker = await Worker.enlist(frontier, "holder")
        for number in range(1, 6):
            await frontier.add([url(f"s{number}.example", k) for k in range(number)])
        leases = {lease.site: lease for lease in await worker.lease()}
        gone, done, resting = leases["s1.example"], leases["s2.example"], leases["s3.example"]
        await worker.commit(
            released(gone, 0, 5, abandoned=True),
            settled(done),
            released(done, 0),
            released(resting, 95)._replace(delay_s=3),
        )
        await frontier.exclude(["s5.example"])
        facts = {it.site: it for it in await every_site(frontier, 2)}
        assert sorted(facts) == [f"s{number}.example" for number in range(1, 6)]
        for name, it in facts.items():
            explained = await facts_of(frontier, name)
            assert it.ready_in_s == pytest.approx(explained.ready_in_s, abs=SLACK_S)
            assert it._replace(ready_in_s=0) == explained._replace(ready_in_s=0)


async def test_robots_can_be_read_without_a_lease(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    leases = {lease.site: lease for lease in await worker.lease()}
    lease = leases["a.example"]
    found = RobotsRecord("https://a.example", RobotsState.FOUND, b"Disallow: /\x00\xff", 5.0, 0)
    silent = RobotsRecord("http://a.example:81", RobotsState.UNREACHABLE, b"", 0.0, 3)
    await worker.commit(robots(lease, found), robots(lease, silent))  # the lease goes on
    await engine.advance(30)
    async with engine.open() as another:
        kept = await another.robots_of("a.example", found.origin)
        assert kept is not None
        assert kept[:3] == found[:3]
        assert kept.age_s == pytest.approx(35, abs=SLACK_S)
        other = await another.robots_of("a.example", silent.origin)
        assert other is not None
        assert (other.state, other.body, other.failures) == (RobotsState.UNREACHABLE, b"", 3)
        assert await another.robots_of("a.example", "https://www.a.example") is None
        assert await another.robots_of("b.example", found.origin) is None
        assert await another.robots_of("nobody.example", found.origin) is None
