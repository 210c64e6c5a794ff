"""Deadlines for blocks of code, each as `asyncio.timeout`, with one timer for them all.

A request has a deadline or two, which it nearly always keeps. A timer of its own for each would be
made and cancelled in vain, for about a hundredth of what a page costs. So there is one, for
the earliest; by the time that it goes off, most of those that were set after it are done.

The rules are those of `asyncio.timeout`: the task is cancelled, and the cancellation becomes a
`TimeoutError` unless somebody else has cancelled the task, too.
"""

import asyncio
import math
from types import TracebackType


class Deadlines:
    """For the tasks of one event loop at a time; times are those of the loop."""

    __slots__ = ("_due_at", "_loop", "_open", "_timer")

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = math.inf
        """When the timer goes off: never after the earliest of those that are open."""

    def within(self, left_s: float) -> "Deadline":
        """`with deadlines.within(5.0):` raises `TimeoutError` if the block takes longer."""
        return Deadline(self, left_s)

    def add(self, deadline: "Deadline", loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:  # what its predecessor was to do, nobody will
            self._loop = loop
            self._open.clear()
            self._timer = None
            self._due_at = math.inf
        self._open.add(deadline)
        if deadline.at < self._due_at:
            self._set_timer(loop, deadline.at)

    def remove(self, deadline: "Deadline") -> None:
        self._open.discard(deadline)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due_at = at
        self._timer = loop.call_at(at, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._timer = None
        self._due_at = math.inf
        for deadline in [deadline for deadline in self._open if deadline.at <= now]:
            self._open.discard(deadline)
            deadline.pass_()
        if self._open:
            self._set_timer(loop, min(deadline.at for deadline in self._open))


class Deadline:
    """For one use."""

    __slots__ = ("_all", "_before", "_left_s", "_passed", "_task", "at")

    def __init__(self, all_of_them: Deadlines, left_s: float) -> None:
        self._all = all_of_them
        self._left_s = left_s
        self._passed = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None, "a deadline is for a task"
        self._task = task
        self._before = task.cancelling()
        self.at = loop.time() + self._left_s
        self._all.add(self, loop)

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, _: TracebackType | None
    ) -> None:
        if not self._passed:
            self._all.remove(self)
            return
        # Ours is taken back in any case; what is left over is somebody else's, and goes on.
        others = self._task.uncancel() > self._before
        if kind is asyncio.CancelledError and not others:
            raise TimeoutError from exc

    def pass_(self) -> None:
        self._passed = True
        self._task.cancel()
