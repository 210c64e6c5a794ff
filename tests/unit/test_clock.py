import asyncio
import threading
import time

import pytest

from mannerly.clock import InlineExecutor, SystemClock, ThreadExecutor, VirtualRunner


def test_a_virtual_day_takes_no_time() -> None:
    async def day() -> list[str]:
        order = []

        async def sleeper(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            order.append(name)

        await asyncio.gather(sleeper("b", 86400), sleeper("a", 3600), sleeper("c", 86400.5))
        return order

    began = time.monotonic()
    with VirtualRunner() as runner:
        start_at, start_wall = runner.clock.now(), runner.clock.wall()
        assert runner.run(day()) == ["a", "b", "c"]
        assert runner.clock.now() - start_at == pytest.approx(86400.5)
        assert runner.clock.wall() - start_wall == pytest.approx(86400.5)
    assert time.monotonic() - began < 5


def test_time_outs_are_virtual_too() -> None:
    async def wait_for_nothing() -> None:
        async with asyncio.timeout(1000):
            await asyncio.Event().wait()

    with VirtualRunner() as runner, pytest.raises(TimeoutError):
        runner.run(wait_for_nothing())


def test_a_wait_without_end_is_an_error_not_a_hang() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with VirtualRunner() as runner, pytest.raises(RuntimeError, match="deadlock"):
        runner.run(forever())


def test_the_system_clock_moves_on() -> None:
    clock = SystemClock()
    before = clock.now()
    assert clock.now() >= before
    assert abs(clock.wall() - time.time()) < 5


async def test_a_thread_executor_keeps_the_order_and_passes_errors_on() -> None:
    executor = ThreadExecutor("test")
    done: list[int] = []
    await asyncio.gather(*(executor.run(lambda n=n: done.append(n)) for n in range(50)))  # type: ignore[misc]
    assert done == list(range(50))
    with pytest.raises(ZeroDivisionError):
        await executor.run(lambda: 1 / 0)
    executor.close()


async def test_an_inline_executor_runs_at_once() -> None:
    executor = InlineExecutor()
    assert await executor.run(lambda: 7) == 7
    executor.close()


async def test_urgent_work_overtakes_what_waits() -> None:
    executor = ThreadExecutor("test")
    gate = threading.Event()
    order: list[str] = []

    async def note(name: str, *, urgent: bool = False) -> None:
        await executor.run(lambda: order.append(name), urgent=urgent)

    async def hold() -> None:
        await executor.run(lambda: gate.wait(10))

    async with asyncio.TaskGroup() as group:
        group.create_task(hold())
        for name in ("a", "b"):
            group.create_task(note(name))
        group.create_task(note("now", urgent=True))
        await asyncio.sleep(0)  # all four are submitted
        gate.set()
    assert order == ["now", "a", "b"]
    executor.close()
