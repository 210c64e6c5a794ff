"""The event loop of a story: virtual time, and processes that can be stopped in the middle.

All processes live in one loop. What a process has under way knows whose it is by its context; while
the process is stopped nothing of it runs, timers included, and all of it runs late when it goes on.
"""

import asyncio
import heapq
import math
from asyncio import events
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

from mannerly.clock import VirtualLoop


class Stoppable:
    """What can be stopped: a process."""

    def __init__(self) -> None:
        self.stopped = False
        self.held_up: list[asyncio.Handle] = []
        """What would have run meanwhile."""

    def go_on(self, loop: "StoryLoop") -> None:
        self.stopped = False
        loop.resume(self.held_up)
        self.held_up = []


WHOSE: ContextVar[Stoppable | None] = ContextVar("whose", default=None)
OUTSIDE = Context()
"""For what nobody can stop: the servers, the power."""


def _holds_up(handle: asyncio.Handle) -> bool:
    whose: Stoppable | None = handle._context.get(WHOSE)  # type: ignore[attr-defined]
    if whose is None or not whose.stopped:
        return False
    whose.held_up.append(handle)
    return True


class _Handle(events.Handle):
    def _run(self) -> None:
        if not _holds_up(self):
            super()._run()


class _Timer(events.TimerHandle):
    def _run(self) -> None:
        if not _holds_up(self):
            super()._run()


class StoryLoop(VirtualLoop):
    """Virtual time in steps of about a microsecond, and never at the very instant of a timer.

    The machine's clock is not the loop's: in the differences between the two a bit is lost here and
    there, and who waits for an instant could find that it is a picosecond short of it, again and
    again, while no time passes.
    """

    STEP_S = 2.0**-20

    def __init__(self) -> None:
        super().__init__()
        self._clock_resolution = 2.0**-33  # no timer fires before its time

    def advance(self, seconds: float) -> None:
        self._now = (math.floor((self._now + seconds) / self.STEP_S + 0.001) + 1) * self.STEP_S

    def resume(self, handles: list[asyncio.Handle]) -> None:
        """Run what was held up, in its order."""
        self._ready.extend(handles)  # type: ignore[attr-defined]

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = _Timer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined]
        return timer

    def _call_soon(
        self, callback: Callable[..., object], args: Any, context: Context | None
    ) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle
