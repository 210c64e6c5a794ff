"""How late the event loop is: what tells a site that is slow from a crawler that is.

A timer that is due every `PROBE_S` notes when it came late. Whatever makes the process late shows
in it: pages that take long to parse, a machine out of CPU, a process that was stopped, a machine
that was suspended (the clock runs on then). On virtual time no timer is ever late, so there nobody
needs to look.

Whether a failure is ours is a pure function of the lags and of the visit's own span.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mannerly.clock import Clock

PROBE_S = 0.1
NOTICED_S = 0.1
"""Shorter lags are the ordinary life of an event loop, and harm no visit."""
OURS_SHARE = 0.1
"""From this part of a visit's time on, what was lost to lags may have made the difference."""
KEPT = 4096
"""Lags that are remembered: each is longer than a probe, so that is minutes of nothing else."""


class Lag(NamedTuple):
    """The loop should have been there at `due_at` and was at `woke_at`."""

    due_at: float
    woke_at: float


def lost_s(lags: Iterable[Lag], from_at: float, to_at: float) -> float:
    """How much of a span the loop was late."""
    return sum(max(0.0, min(lag.woke_at, to_at) - max(lag.due_at, from_at)) for lag in lags)


def is_ours(
    lags: Iterable[Lag], from_at: float, to_at: float, *, least_s: float = NOTICED_S
) -> bool:
    """May a visit of this span have failed because we were late, by `least_s` at least?"""
    lost = lost_s(lags, from_at, to_at)
    return lost >= least_s and lost >= OURS_SHARE * (to_at - from_at)


class LagWatch:
    def __init__(self, clock: Clock, probe_s: float = PROBE_S) -> None:
        """`probe_s` 0: nobody watches, and nothing is ever late."""
        self._clock = clock
        self._probe_s = probe_s
        self._due_at: float | None = None
        self._lags: deque[Lag] = deque(maxlen=KEPT)

    async def run(self, probed: Callable[[], None]) -> None:
        """Watch until cancelled; `probed` is called after each look."""
        try:
            while self._probe_s:
                self._due_at = self._clock.now() + self._probe_s
                await asyncio.sleep(self._probe_s)
                late = self._late(self._clock.now())
                if late is not None:
                    self._lags.append(late)
                probed()
        finally:
            self._due_at = None

    def was_late(self, from_at: float, to_at: float, *, least_s: float = NOTICED_S) -> bool:
        """`is_ours`, by what is known so far."""
        return is_ours(self._since(from_at), from_at, to_at, least_s=least_s)

    def worst_s(self, since_at: float) -> float:
        """The longest lag that ended after `since_at`."""
        return max((lag.woke_at - lag.due_at for lag in self._since(since_at)), default=0.0)

    def _since(self, at: float) -> list[Lag]:
        """Those that ended after `at`, newest first, and the one that is not over: after a pause,
        visits may be heard before the probe is."""
        late = self._late(self._clock.now())
        recent = itertools.takewhile(lambda lag: lag.woke_at > at, reversed(self._lags))
        return [late, *recent] if late is not None else list(recent)

    def _late(self, now: float) -> Lag | None:
        if self._due_at is None or now - self._due_at < NOTICED_S:
            return None
        return Lag(self._due_at, now)
