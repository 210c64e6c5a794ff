"""The last minutes and the last day of a run, for charts: a ring of points each second and one each
minute. Bounded: 2,000 points of two dozen numbers, however long the crawl runs."""

from collections import deque
from dataclasses import dataclass, field

from mannerly.observe.snapshot import Snapshot

FINE_S, FINE_POINTS = 1.0, 600
COARSE_S, COARSE_POINTS = 60.0, 1440
RATE_OVER_S = 5.0
"""Rates are means over at least so long: single seconds only show the rhythm of checkpoints."""

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

Point = dict[str, float]


@dataclass(slots=True)
class Ring:
    every_s: float
    points: deque[Point]
    marks: deque[Snapshot] = field(default_factory=deque)
    """The latest snapshots, back to one that is old enough to make a rate with."""
    due_at: float = float("-inf")

    def note(self, now: Snapshot) -> None:
        if now.elapsed_s < self.due_at:
            return
        self.due_at = now.elapsed_s + 0.9 * self.every_s
        self.marks.append(now)
        over_s = max(RATE_OVER_S, self.every_s)
        while len(self.marks) > 2 and self.marks[1].elapsed_s <= now.elapsed_s - over_s:
            self.marks.popleft()
        if len(self.marks) > 1:
            made = point(self.marks[0], now)
            if self.points:
                # Where nothing was answered lately, the last known times are still the best guess.
                made = {key: self.points[-1].get(key, 0.0) for key in PERCENTILES} | made
            self.points.append(made)


class History:
    def __init__(self) -> None:
        self._fine = Ring(FINE_S, deque(maxlen=FINE_POINTS))
        self._coarse = Ring(COARSE_S, deque(maxlen=COARSE_POINTS))

    def note(self, now: Snapshot) -> None:
        """Called about once a second."""
        self._fine.note(now)
        self._coarse.note(now)

    def points(self, *, day: bool = False) -> list[Point]:
        """Oldest first."""
        return list((self._coarse if day else self._fine).points)


def point(before: Snapshot, now: Snapshot) -> Point:
    """One moment of every chart: rates from the two, and what is true now."""
    span_s = max(1e-9, now.elapsed_s - before.elapsed_s)
    lately = now.durations.since(before.durations)
    made: Point = {
        "at": now.at,
        "pages": (now.pages - before.pages) / span_s,
        "bytes": (now.wire_bytes - before.wire_bytes) / span_s,
        "failures": (_failures(now) - _failures(before)) / span_s,
        "in_flight": now.in_flight,
        "visit_limit": now.visit_limit,
        "pending": now.counts.urls_pending,
        "known": now.counts.urls_known,
        "ready": now.counts.sites_ready,
        "waiting": now.counts.sites_waiting,
        "memory": now.memory_bytes,
        "lag": now.lag_s,
    }
    if lately.count:
        made |= {name: lately.percentile_s(part) for name, part in PERCENTILES.items()}
    for name in ("2xx", "3xx", "4xx", "5xx"):
        made[f"status_{name}"] = (now.statuses.get(name, 0) - before.statuses.get(name, 0)) / span_s
    for stage, spent_s in now.cpu_s.items():
        made[f"cpu_{stage}"] = max(0.0, spent_s - before.cpu_s.get(stage, 0.0)) / span_s
    return {name: round(value, 6) for name, value in made.items()}


def _failures(snapshot: Snapshot) -> int:
    return sum(snapshot.settled.values()) - snapshot.pages - snapshot.settled.get("redirected", 0)
