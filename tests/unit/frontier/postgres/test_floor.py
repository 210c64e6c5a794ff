"""Leases stay cheap although somebody keeps an old snapshot, so that no dead row goes away."""

import psycopg
import pytest

from mannerly.frontier.conformance.shapes import Worker, names, released, url
from mannerly.frontier.postgres import PostgresFrontier
from mannerly.frontier.postgres.floor import LOWEST, Floor
from tests.services.postgres import shared
from tests.unit.frontier.postgres.opening import opened

SITES = 1000


async def lease_and_release(worker: Worker, times: int) -> None:
    for _ in range(times):
        leases = await worker.lease(SITES)
        assert len(leases) == SITES
        await worker.commit(*(released(lease, 0) for lease in leases))


async def floor_after_a_look(frontier: PostgresFrontier, worker: Worker) -> int:
    """Where the floor is after the whole way was looked at anew."""
    frontier._leaser._floor._next_look_at = 0.0
    await worker.next_ready_in_s()
    return frontier._leaser._floor.at


async def test_the_dead_part_of_the_index_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Floor, "LONG_MS", 0.5)
    monkeypatch.setattr(Floor, "LAG_MS", 0)
    async with opened(shared().url, "floor") as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url(f"s{number}.example", 1) for number in range(SITES)])
        assert await floor_after_a_look(frontier, worker) == LOWEST
        with psycopg.connect(shared().url) as backup:
            backup.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            backup.execute("SELECT 1 FROM floor.crawl")
            await lease_and_release(worker, 15)
            floor_at = await floor_after_a_look(frontier, worker)
            assert floor_at != LOWEST
            await lease_and_release(worker, 2)
            assert frontier._leaser._floor.at > floor_at, "it moves along"
        shared().execute("VACUUM clock", schema="floor")
        assert await floor_after_a_look(frontier, worker) == LOWEST


async def test_a_site_below_the_floor_is_found_when_the_whole_way_is_walked() -> None:
    async with opened(shared().url, "below") as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1)])
        await frontier.add([url("b.example", 1)])
        shared().execute(
            "UPDATE clock SET ready_at = ready_at - 60000 WHERE site = 1", schema="below"
        )
        await floor_after_a_look(frontier, worker)
        ((ready_at,),) = shared().execute(
            "SELECT ready_at FROM clock WHERE site = 2", schema="below"
        )
        assert isinstance(ready_at, int)
        frontier._leaser._floor.at = ready_at
        assert names(await worker.lease()) == ["b.example"]
        assert await floor_after_a_look(frontier, worker) == LOWEST
        assert names(await worker.lease()) == ["a.example"]


async def test_a_crawl_does_not_end_because_its_last_site_is_below_the_floor() -> None:
    async with opened(shared().url, "last") as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1)])
        await floor_after_a_look(frontier, worker)
        frontier._leaser._floor.at = 2**62
        assert names(await worker.lease()) == ["a.example"]
