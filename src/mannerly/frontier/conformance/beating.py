"""beat, crawlers: who is crawling, and limits that hold for all of them together."""

import asyncio

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.beats import LAPSE_MS
from mannerly.frontier.conformance.engine import Engine, opener_named
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.contract import Beat

LAPSE_S = LAPSE_MS / 1000


async def beat(worker: Worker, **told: float) -> tuple[int, int]:
    """Pages of the crawl, and pages granted."""
    pulse = await worker.frontier.beat(worker.writer, Beat(**told))  # type: ignore[arg-type]
    return pulse.fetched, pulse.granted


async def test_pages_are_granted_once(worker: Worker, other: Worker) -> None:
    assert await beat(worker, page_limit=10, more=8) == (0, 8)
    assert await beat(other, page_limit=10, more=8) == (0, 2)
    assert await beat(worker, page_limit=10, reserved=8, more=1) == (0, 0)
    # What one gives back is there for the other.
    assert await beat(worker, page_limit=10, reserved=3) == (0, 0)
    assert await beat(other, page_limit=10, reserved=2, more=8) == (0, 5)


async def test_what_is_fetched_is_gone(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    assert await beat(worker, page_limit=3, more=2) == (0, 2)
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease))
    assert await beat(worker, page_limit=3, reserved=1) == (1, 0)
    assert await beat(other, page_limit=3, more=5) == (1, 1)


async def test_many_at_once_are_granted_no_more_than_there_is(engine: Engine, opener: str) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_ask(engine.address(), opener)) for _ in range(8)]
    assert sum(task.result() for task in tasks) == 100


async def _ask(address: str, opener: str) -> int:
    granted = 0
    async with opener_named(opener)(address) as frontier:
        writer = await frontier.enlist("one of many")
        for _ in range(10):
            told = Beat(page_limit=100, reserved=granted, more=3)
            granted += (await frontier.beat(writer, told)).granted
    return granted


async def test_who_is_gone_has_no_pages(engine: Engine, worker: Worker, other: Worker) -> None:
    assert await beat(worker, page_limit=10, more=10) == (0, 10)
    assert await beat(other, page_limit=10, more=10) == (0, 0)
    await engine.advance(LAPSE_S + 1)
    assert await beat(other, page_limit=10, more=4) == (0, 4)
    await worker.frontier.retire(other.writer, 0)
    assert await beat(worker, page_limit=10, more=10) == (0, 10)
    with pytest.raises(FrontierMisuseError):
        await beat(other)


async def test_the_smallest_limit_holds_for_all(worker: Worker, other: Worker) -> None:
    await worker.frontier.beat(worker.writer, Beat(page_limit=10, time_limit_s=600))
    pulse = await other.frontier.beat(other.writer, Beat(page_limit=20, more=30))
    assert (pulse.granted, pulse.page_limit, pulse.time_limit_s) == (10, 10, 600)
    pulse = await worker.frontier.beat(worker.writer, Beat(page_limit=10, time_limit_s=900))
    assert pulse.time_limit_s == 600


async def test_without_a_limit_nothing_is_granted_or_missed(worker: Worker) -> None:
    pulse = await worker.frontier.beat(worker.writer, Beat(more=5))
    assert (pulse.granted, pulse.page_limit, pulse.time_limit_s) == (0, 0, 0)


async def test_a_run_begins_with_its_first_process(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    assert (await worker.frontier.beat(worker.writer, Beat())).running_s == 0
    await engine.advance(40)
    assert (await other.frontier.beat(other.writer, Beat())).running_s == 40
    await worker.frontier.retire(worker.writer, 0)
    await engine.advance(5)
    assert (await other.frontier.beat(other.writer, Beat())).running_s == 45
    await other.frontier.retire(other.writer, 0)
    async with engine.open() as frontier:
        late = await frontier.enlist("late")
        assert (await frontier.beat(late, Beat())).running_s == 0


async def test_everybody_sees_who_is_crawling(engine: Engine, worker: Worker) -> None:
    assert await worker.frontier.crawlers() == []
    await worker.frontier.beat(worker.writer, Beat())
    await engine.advance(10)
    await worker.frontier.beat(worker.writer, Beat(pages=7, rate=0.7, in_flight=3))
    await engine.advance(2)
    async with engine.open() as another:
        (facts,) = await another.crawlers()
    assert facts.label
    assert (facts.since_s, facts.silent_s) == (12, 2)
    assert (facts.pages, facts.rate, facts.in_flight) == (7, 0.7, 3)
    await worker.frontier.retire(worker.writer, 0)
    assert await worker.frontier.crawlers() == []
