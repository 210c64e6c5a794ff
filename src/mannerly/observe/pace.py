"""How fast a run is: now, in the last minute and on average; what limits it; when a limit of the
run is met. What the terminal and the dashboard say of it is said here, so they say the same."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from mannerly.observe.durations import Durations
from mannerly.observe.limits import Verdict, verdict
from mannerly.observe.snapshot import Snapshot

NOW_S = 5.0
"""Single seconds would only show the rhythm of checkpoints."""
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A snapshot, with what follows from those before it. Rates are pages a second."""

    snapshot: Snapshot
    now: float
    minute: float
    mean: float
    growth: float
    """URLs that become known, a second."""
    cores: float
    """CPU in use."""
    durations: Durations
    """Of the requests of the last minute."""
    left_s: float | None
    """Until a limit of the run is met, by the last minute's rate; None if there is none."""
    verdict: Verdict


class Pace:
    def __init__(self) -> None:
        self._marks: deque[Snapshot] = deque()

    def read(self, now: Snapshot) -> Reading:
        """To be called about once a second."""
        marks = self._marks
        marks.append(replace(now, latest=[], examples={}))
        while len(marks) > 2 and marks[1].elapsed_s <= now.elapsed_s - MINUTE_S:
            marks.popleft()
        minute_ago = marks[0]
        recent = next(
            (it for it in reversed(marks) if it.elapsed_s <= now.elapsed_s - NOW_S), minute_ago
        )
        a_minute = _rate(minute_ago, now, _pages)
        return Reading(
            snapshot=now,
            now=_rate(recent, now, _pages),
            minute=a_minute,
            mean=now.pages / now.elapsed_s if now.elapsed_s > 0 else 0.0,
            growth=_rate(minute_ago, now, _known),
            cores=_rate(recent, now, _cpu_s),
            durations=now.durations.since(minute_ago.durations),
            left_s=_left_s(now, a_minute),
            verdict=verdict(recent, now),
        )


def _rate(before: Snapshot, now: Snapshot, count: Callable[[Snapshot], float]) -> float:
    span_s = now.elapsed_s - before.elapsed_s
    return max(0.0, count(now) - count(before)) / span_s if span_s > 0 else 0.0


def _pages(snapshot: Snapshot) -> float:
    return snapshot.pages


def _known(snapshot: Snapshot) -> float:
    return snapshot.counts.urls_known


def _cpu_s(snapshot: Snapshot) -> float:
    return sum(snapshot.cpu_s.values())


def _left_s(now: Snapshot, rate: float) -> float | None:
    found = []
    if now.max_duration_s:
        found.append(max(0.0, now.max_duration_s - now.elapsed_s))
    if now.max_pages and rate > 0:
        found.append(max(0.0, (now.max_pages - max(now.pages, now.counts.pages)) / rate))
    return min(found) if found else None
