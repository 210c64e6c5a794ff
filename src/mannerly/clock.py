"""Time, injected: the system's clocks, and a virtual clock that jumps.

Everything in the crawler asks a `Clock` and waits with asyncio. In production that is boot time
(`CLOCK_BOOTTIME`: it runs on while the machine is suspended, and nobody sets it) and an ordinary
event loop. In simulation it is a `VirtualLoop`: whenever nothing is left to do *now*, its time
jumps to the next timer, so a day passes in as long as its work takes, and the same seed gives the
same run.
"""

import asyncio
import concurrent.futures
import itertools
import queue
import selectors
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Where instants come from. Instants end in `_at`, durations in `_s`; both are seconds."""

    def now(self) -> float:
        """Seconds on a clock that never goes back and runs through suspend."""

    def wall(self) -> float:
        """Unix time, for records that people read. Never used to decide anything."""


class SystemClock:
    now = staticmethod(partial(time.clock_gettime, time.CLOCK_BOOTTIME))
    wall = staticmethod(time.time)


def system_boot_id() -> str:
    """Which boot of which machine `SystemClock` counts from; '' if the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


class Executor(Protocol):
    """Where blocking work (SQL, fsync) runs: a thread in production, inline in simulation."""

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        """Run `work` after everything submitted before it, and return or raise what it does.

        Urgent work goes before what is not.
        """

    def pressed(self) -> bool:
        """Whether urgent work waits: who is at it now should come to an end. For any thread."""

    def close(self) -> None:
        """Wait for what was submitted, then give the thread back."""


class ThreadExecutor:
    """One thread; work runs in the order it was submitted, urgent work first.

    The order is the thread's own business: on a busy event loop every turn that the loop has to
    take between two pieces of work can cost a second, so callers submit all they have at once.
    """

    def __init__(self, name: str) -> None:
        self._waiting: queue.PriorityQueue[tuple[int, int, Callable[[], None] | None]] = (
            queue.PriorityQueue()
        )
        self._count = itertools.count()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()

        def do() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as exc:  # noqa: BLE001 - handed on to whoever waits
                    future.set_exception(exc)

        self._waiting.put((0 if urgent else 1, next(self._count), do))
        return await asyncio.wrap_future(future)

    def pressed(self) -> bool:
        with self._waiting.mutex:
            return bool(self._waiting.queue) and self._waiting.queue[0][0] == 0

    def close(self) -> None:
        self._waiting.put((2, next(self._count), None))
        self._thread.join()

    def _work(self) -> None:
        while (do := self._waiting.get()[2]) is not None:
            do()


class InlineExecutor:
    """Runs the work at once, on the caller's thread: no chance enters the order of things."""

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        return work()

    def pressed(self) -> bool:
        return False

    def close(self) -> None:
        pass


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer when nothing is ready.

    For code that does no real I/O: a wait that no timer could ever end raises `RuntimeError`
    ("deadlock") instead of hanging.
    """

    def __init__(self, start_at: float = 1_000_000.0) -> None:
        self._now = start_at
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("deadlock: every task waits and no timer is set")
        if timeout > 0:
            self._loop.advance(timeout)
        return []


class VirtualClock:
    """The clock of a `VirtualLoop`. Wall time starts at a fixed date, so runs are repeatable."""

    EPOCH = 1_800_000_000.0

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._start_at = loop.time()

    def now(self) -> float:
        return self._loop.time()

    def wall(self) -> float:
        return self.EPOCH + self._loop.time() - self._start_at


class VirtualRunner:
    """`with VirtualRunner() as runner: runner.run(main(runner.clock))`."""

    def __init__(self) -> None:
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop)

    def __enter__(self) -> Self:
        return self

    def run(self, main: "asyncio._CoroutineLike[T]") -> T:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            return runner.run(main)  # type: ignore[arg-type]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.loop.close()
