"""A deadline does what `asyncio.timeout` does."""

import asyncio

import pytest

from mannerly.clock import VirtualRunner
from mannerly.fetch.deadline import Deadlines


async def stuck(ended: list[str]) -> None:
    with Deadlines().within(0.01):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")


async def test_what_takes_too_long_is_ended() -> None:
    ended: list[str] = []
    with pytest.raises(TimeoutError):
        await stuck(ended)
    assert ended == ["ended"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0, "the task goes on as if nothing had happened"


async def test_what_is_done_in_time_is_left_alone() -> None:
    with Deadlines().within(0.01):
        await asyncio.sleep(0)
    await asyncio.sleep(0.02)  # past the deadline


async def test_errors_pass_through() -> None:
    with pytest.raises(KeyError), Deadlines().within(5):
        raise KeyError


async def test_a_cancellation_by_others_stays_one() -> None:
    started = asyncio.Event()

    async def work() -> None:
        with Deadlines().within(5):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_by_others_at_the_same_time_wins() -> None:
    async def work() -> None:
        mine = asyncio.current_task()
        assert mine is not None
        with Deadlines().within(0.01):
            try:
                await asyncio.Event().wait()
            finally:
                mine.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_a_deadline_within_another() -> None:
    async def work() -> None:
        with Deadlines().within(0.02):
            with pytest.raises(TimeoutError):
                await stuck([])
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await work()


async def test_many_share_a_timer() -> None:
    """Each ends in its own time, whichever was set first, and those that are done do no harm."""
    deadlines = Deadlines()
    order: list[float] = []

    async def wait(left_s: float) -> None:
        with pytest.raises(TimeoutError), deadlines.within(left_s):
            await asyncio.Event().wait()
        order.append(left_s)

    async def be_done(left_s: float) -> None:
        with deadlines.within(left_s):
            await asyncio.sleep(0)

    times_s = [0.05, 0.01, 0.09, 0.03]
    before = asyncio.get_running_loop().time()
    await asyncio.gather(
        *map(wait, times_s[:2]), *map(be_done, [0.001, 0.02, 5.0]), *map(wait, times_s[2:])
    )
    assert order == sorted(times_s)
    assert asyncio.get_running_loop().time() - before >= max(times_s) - 0.001
    await wait(0.01)


def test_a_loop_that_is_gone_leaves_nothing_behind() -> None:
    deadlines = Deadlines()

    async def be_done() -> None:
        with deadlines.within(0.02):
            await asyncio.sleep(0)

    async def wait() -> None:
        with pytest.raises(TimeoutError), deadlines.within(0.03):
            await asyncio.sleep(5)

    asyncio.run(be_done())
    asyncio.run(wait())


def test_times_are_those_of_the_loop() -> None:
    async def wait() -> None:
        with pytest.raises(TimeoutError), Deadlines().within(100.0):
            await asyncio.sleep(500)

    with VirtualRunner() as runner:
        runner.run(wait())
