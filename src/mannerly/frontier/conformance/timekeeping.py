"""The frontier's clock: nobody who sets a wall clock makes a site early, or late."""

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import Worker, names, released, settled, url

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
JUMPS = [30.0, HOUR_S, 400 * DAY_S, -30.0, -HOUR_S, -400 * DAY_S]

jumps = pytest.mark.parametrize("jump_s", JUMPS)


@jumps
async def test_a_rest_is_as_long_as_it_was(
    engine: Engine, worker: Worker, other: Worker, jump_s: float
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 95))
    await engine.set_wall_clock(jump_s)
    assert await worker.lease() == []
    assert await worker.next_ready_in_s() == pytest.approx(95, abs=5)
    for _ in range(9):
        await engine.advance(10)
        assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


@jumps
async def test_a_lease_is_as_long_as_it_was(
    engine: Engine, worker: Worker, other: Worker, jump_s: float
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.lease(ttl_s=65)
    await engine.advance(10)
    await engine.set_wall_clock(jump_s)
    await engine.advance(50)
    assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


@jumps
async def test_a_rest_told_after_the_jump_is_as_long(
    engine: Engine, worker: Worker, other: Worker, jump_s: float
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease(ttl_s=605)
    await engine.set_wall_clock(jump_s)
    await worker.commit(settled(lease), released(lease, 35))
    await engine.advance(30)
    assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


@jumps
async def test_who_opens_after_the_jump_agrees_with_the_others(
    engine: Engine, worker: Worker, jump_s: float
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 95))
    await engine.set_wall_clock(jump_s)
    # Somebody who knows the clock works on; then somebody comes who does not.
    assert await worker.lease() == []
    async with engine.open() as frontier:
        newcomer = await Worker.enlist(frontier)
        await engine.advance(90)
        assert await newcomer.lease() == []
        await engine.advance(10)
        assert names(await newcomer.lease()) == ["a.example"]


async def test_jumps_one_after_another(engine: Engine, worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 105))
    for jump_s in (HOUR_S, -2 * HOUR_S, DAY_S, -HOUR_S, 10.0):
        await engine.set_wall_clock(jump_s)
        await engine.advance(20)
        assert await other.lease() == []
        assert await worker.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


@jumps
async def test_set_while_nobody_looked_it_makes_no_site_early(
    engine: Engine, jump_s: float
) -> None:
    """No process is left that could tell. Then no site is visited within the crawl's delay."""
    async with engine.open() as frontier:
        await frontier.create({"delay_s": "45"})
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1), url("a.example", 2)])
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 45))
    await engine.set_wall_clock(jump_s)
    async with engine.open() as frontier:
        worker = await Worker.enlist(frontier)
        await engine.advance(40)
        assert await worker.lease() == []
        await engine.advance(60)
        assert names(await worker.lease()) == ["a.example"]


@jumps
async def test_set_during_a_restart_it_makes_no_site_early(engine: Engine, jump_s: float) -> None:
    async with engine.open() as frontier:
        await frontier.create({"delay_s": "45"})
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1), url("a.example", 2)])
        (lease,) = await worker.lease()
        await worker.commit(settled(lease), released(lease, 45))
    await engine.restart(away_s=0)
    await engine.set_wall_clock(jump_s)
    async with engine.open() as frontier:
        worker = await Worker.enlist(frontier)
        await engine.advance(40)
        assert await worker.lease() == []
        await engine.advance(60)
        assert names(await worker.lease()) == ["a.example"]


async def test_rests_and_leases_outlive_a_restart(engine: Engine) -> None:
    """The machine (or the server that keeps the time) was off for a while."""
    async with engine.open() as frontier:
        await frontier.create({"delay_s": "15"})
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1), url("a.example", 2), url("b.example", 1)])
        leases = {lease.site: lease for lease in await worker.lease(ttl_s=605)}
        await worker.commit(settled(leases["a.example"]), released(leases["a.example"], 305))
    await engine.restart(away_s=100)
    async with engine.open() as frontier:
        worker = await Worker.enlist(frontier)
        await engine.advance(200)
        assert await worker.lease() == [], "100 + 200 < 305"
        await engine.advance(10)
        assert names(await worker.lease(ttl_s=10_005)) == ["a.example"]
        await engine.advance(280)
        assert await worker.lease() == [], "100 + 490 < 605"
        await engine.advance(20)
        assert names(await worker.lease()) == ["b.example"]


async def test_a_clock_that_jumps_far_ahead_lapses_every_lease_once(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    """The machine was suspended for a month, say."""
    await worker.frontier.add([url(f"s{number}.example", 1) for number in range(5)])
    before = await worker.lease()
    await engine.advance(30 * DAY_S)
    after = await other.lease()
    assert sorted(names(after)) == sorted(names(before))
    assert await worker.lease() == []
    stale = {lease.token for lease in before}
    assert await worker.commit(*(settled(lease) for lease in before)) == stale
    assert await other.commit(*(settled(lease) for lease in after)) == frozenset()
