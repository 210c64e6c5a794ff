"""claim: one site by its name, with or without work, under the same rules as any lease."""

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    facts_of,
    hashes,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added
from mannerly.model import Caps, Lease, SiteState


async def claimed(worker: Worker, site: str, ttl_s: float = 65) -> Lease:
    lease = await worker.frontier.claim(worker.writer, site, ttl_s=ttl_s)
    assert lease is not None
    assert (lease.site, lease.urls) == (site, [])
    assert lease.token != 0
    return lease


async def in_vain(worker: Worker, site: str) -> None:
    assert await worker.frontier.claim(worker.writer, site, ttl_s=65) is None


async def test_a_site_nobody_heard_of_is_known_from_then_on(worker: Worker, other: Worker) -> None:
    lease = await claimed(worker, "a.example")
    facts = await facts_of(other.frontier, "a.example")
    assert (facts.state, facts.leased, facts.holder) == (SiteState.OPEN, True, "a worker")
    assert await worker.commit(released(lease, 0)) == frozenset()
    stats = await worker.frontier.stats()
    assert (stats.sites, stats.sites_ready, stats.sites_waiting) == (1, 0, 0)
    assert (stats.leases, stats.urls_known) == (1, 0)
    assert await worker.next_ready_in_s() is None, "it has no work"
    assert await worker.frontier.add([url("a.example", 1)], new_sites=False) == Added(1, 0, 0)


async def test_a_claimed_site_is_neither_claimed_nor_leased_again(
    worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    lease = await claimed(worker, "a.example")
    await in_vain(other, "a.example")
    await in_vain(worker, "a.example")
    assert await other.lease() == []
    await worker.commit(released(lease, 0))
    (taken,) = await other.lease()
    assert hashes(taken) == [1]
    assert taken.token != lease.token


async def test_a_leased_site_is_not_claimed(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await in_vain(other, "a.example")
    assert await worker.commit(settled(lease), released(lease, 0)) == frozenset()
    await claimed(other, "a.example")


async def test_a_resting_site_is_not_claimed(engine: Engine, worker: Worker, other: Worker) -> None:
    """Parked or not: a request is a request."""
    await worker.frontier.add([url("a.example", 1), url("b.example", 1), url("b.example", 2)])
    for lease in await worker.lease():
        await worker.commit(settled(lease), released(lease, 35))
    await engine.advance(30)
    await in_vain(other, "a.example")
    await in_vain(other, "b.example")
    await engine.advance(10)
    await claimed(other, "a.example")
    await claimed(other, "b.example")


async def test_the_rest_after_a_claim_holds_for_a_lease(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    lease = await claimed(worker, "a.example")
    await worker.frontier.add([url("a.example", 1)])
    assert await other.lease() == [], "added under the claim, it waits for its release"
    await worker.commit(released(lease, 35))
    await engine.advance(30)
    assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


async def test_a_claim_lapses_and_is_refused_when_taken_over(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    stale = await claimed(worker, "a.example", ttl_s=65)
    await engine.advance(60)
    await in_vain(other, "a.example")
    await engine.advance(10)
    lease = await claimed(other, "a.example")
    assert await worker.commit(released(stale, 0)) == {stale.token}
    assert await other.commit(released(lease, 0)) == frozenset()
    assert (await worker.frontier.stats()).refused == 1


async def test_a_retired_writers_claims_come_back(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await claimed(worker, "a.example", ttl_s=605)
    assert await other.frontier.retire(worker.writer, 15) == 1
    await in_vain(other, "a.example")
    await engine.advance(20)
    await claimed(other, "a.example")
    with pytest.raises(FrontierMisuseError):
        await worker.frontier.claim(worker.writer, "b.example", ttl_s=65)


async def test_an_excluded_site_is_not_claimed(engine: Engine, worker: Worker) -> None:
    await worker.frontier.exclude(["a.example"])
    await in_vain(worker, "a.example")
    lease = await claimed(worker, "b.example")
    await worker.frontier.exclude(["b.example"])
    assert await worker.commit(released(lease, 0)) == {lease.token}
    await engine.advance(1000)
    await in_vain(worker, "b.example")


@pytest.mark.parametrize("again", [True, False])
async def test_an_abandoned_site_that_was_claimed_stays_abandoned(
    engine: Engine, again: bool
) -> None:
    """Whatever its release says, it is counted once, and what it has spilt stays there."""
    async with engine.open(caps=Caps(pending=2, spilt=0, pages=0)) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(5)])
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 0, 7, abandoned=True))
        before = await frontier.stats()
        assert (before.sites_abandoned, before.urls_abandoned, before.urls_spilt) == (1, 1, 3)
        lease = await claimed(worker, "a.example")
        await worker.commit(released(lease, 0, 7, abandoned=again))
        before.leases += 1
        assert await frontier.stats() == before
        assert await worker.lease() == []
        assert await worker.next_ready_in_s() is None
