"""A deadline does what `asyncio.timeout` does."""

import asyncio

import pytest

from mannerly.fetch.deadline import Deadline


async def stuck(ended: list[str]) -> None:
    with Deadline(0.01):
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
    with Deadline(0.01):
        await asyncio.sleep(0)
    await asyncio.sleep(0.02)  # past the deadline


async def test_errors_pass_through() -> None:
    with pytest.raises(KeyError), Deadline(5):
        raise KeyError


async def test_a_cancellation_by_others_stays_one() -> None:
    started = asyncio.Event()

    async def work() -> None:
        with Deadline(5):
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
        with Deadline(0.01):
            try:
                await asyncio.Event().wait()
            finally:
                mine.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_a_deadline_within_another() -> None:
    async def work() -> None:
        with Deadline(0.02):
            with pytest.raises(TimeoutError):
                await stuck([])
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await work()
