"""How long operations take, by name: counts, percentiles, the slowest one, what runs just now, and
a warning for what is too slow. Cheap enough to be always on: three microseconds an operation.

Used from any thread. Times are elapsed real time, since that is what somebody waits for; nothing is
decided by them, so a virtual clock has no part in them.
"""

import itertools
import logging
import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

log = logging.getLogger(__name__)

STEPS_A_DOUBLING = 8
"""A percentile is exact to 1/8 of a doubling: 9 %, and never too low."""
SHORTEST_S = 1e-6
SLOW_S = 5.0
WARN_AGAIN_S = 60.0
"""One warning per operation and minute, with how many there were since the last one."""


@dataclass(slots=True)
class Operation:
    """What is known of one operation."""

    count: int = 0
    total_s: float = 0.0
    slowest_s: float = 0.0
    slowest_sizes: dict[str, int] = field(default_factory=dict)
    """Of the slowest one: how much it was asked to do."""
    slow: int = 0
    """How many exceeded the threshold."""
    buckets: dict[int, int] = field(default_factory=dict)
    """Counts by duration on a logarithmic scale."""

    def percentile_s(self, fraction: float) -> float:
        """The duration that `fraction` of all stayed below; 0 if there were none."""
        rank = math.ceil(fraction * self.count)
        seen = 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= rank:
                return min(_upper_s(bucket), self.slowest_s)
        return 0.0

    def include(self, other: "Operation") -> None:
        """Count what another process (or another time) counted, too."""
        self.count += other.count
        self.total_s += other.total_s
        self.slow += other.slow
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest_sizes = other.slowest_s, dict(other.slowest_sizes)
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count


def _bucket(took_s: float) -> int:
    if took_s <= SHORTEST_S:
        return 0
    return math.ceil(math.log2(took_s / SHORTEST_S) * STEPS_A_DOUBLING)


def _upper_s(bucket: int) -> float:
    return SHORTEST_S * float(2.0 ** (bucket / STEPS_A_DOUBLING))


class Running(NamedTuple):
    """An operation that has not ended yet."""

    name: str
    for_s: float
    sizes: dict[str, int]


class _Measured:
    """One operation from start to end. A class, since a generator would cost twice as much."""

    __slots__ = ("_key", "_timings", "name", "sizes", "started_at")

    def __init__(self, timings: "Timings", name: str, sizes: dict[str, int]) -> None:
        self._timings = timings
        self.name = name
        self.sizes = sizes

    def __enter__(self) -> None:
        self.started_at = time.perf_counter()
        self._key = self._timings._begin(self)  # noqa: SLF001 - one class in two parts

    def __exit__(self, *_: object) -> None:
        took_s = time.perf_counter() - self.started_at
        self._timings._end(self._key)  # noqa: SLF001
        self._timings.record(self.name, took_s, self.sizes)


class Timings:
    """The operations of one process."""

    def __init__(self, *, slow_s: float = SLOW_S, warn_again_s: float = WARN_AGAIN_S) -> None:
        """`slow_s`: an operation that takes longer is warned of by its name."""
        self.slow_s = slow_s
        self._warn_again_s = warn_again_s
        self._lock = threading.Lock()
        self._operations: dict[str, Operation] = {}
        self._warned: dict[str, tuple[float, int]] = {}
        self._keys = itertools.count()
        self._running: dict[int, _Measured] = {}

    def measure(self, name: str, **sizes: int) -> _Measured:
        """`with timings.measure("lease", sites=500):` times the block, also if it raises.

        `sizes`: how much it was asked to do.
        """
        return _Measured(self, name, sizes)

    def record(self, name: str, took_s: float, sizes: dict[str, int]) -> None:
        """Count an operation that was timed elsewhere."""
        with self._lock:
            operation = self._operations.setdefault(name, Operation())
            operation.count += 1
            operation.total_s += took_s
            bucket = _bucket(took_s)
            operation.buckets[bucket] = operation.buckets.get(bucket, 0) + 1
            if took_s > operation.slowest_s:
                operation.slowest_s, operation.slowest_sizes = took_s, sizes
            if took_s <= self.slow_s:
                return
            operation.slow += 1
            warning = self._warning(name, f"took {took_s:.1f} s", sizes, operation.slow)
        if warning:
            log.warning("%s", warning)

    def operations(self) -> dict[str, Operation]:
        """A copy of everything that ended so far, by name."""
        with self._lock:
            return merged([self._operations])

    def running(self) -> list[Running]:
        """What has begun and not ended, longest first."""
        now = time.perf_counter()
        # One step of the interpreter, so it needs no lock against threads that begin and end.
        begun = list(self._running.values())
        found = [Running(it.name, now - it.started_at, it.sizes) for it in begun]
        return sorted(found, key=lambda it: it.for_s, reverse=True)

    def warn_of_running(self) -> None:
        """Warn of what is too slow already, and may never end. Somebody calls this now and then:
        an operation that hangs cannot speak for itself."""
        for name, for_s, sizes in self.running():
            if for_s > self.slow_s:
                with self._lock:
                    slow = self._operations.get(name, Operation()).slow
                    text = f"has been running for {for_s:.1f} s"
                    warning = self._warning(name, text, sizes, slow)
                if warning:
                    log.warning("%s", warning)

    def _begin(self, measured: _Measured) -> int:
        key = next(self._keys)
        self._running[key] = measured
        return key

    def _end(self, key: int) -> None:
        del self._running[key]

    def _warning(self, name: str, what: str, sizes: dict[str, int], slow: int) -> str:
        """What to warn of; '' if that was done a moment ago. `slow`: how many ended too late."""
        now = time.monotonic()
        last_at, told = self._warned.get(name, (-math.inf, 0))
        if now - last_at < self._warn_again_s:
            return ""
        self._warned[name] = (now, slow)
        detail = sizes_text(sizes)
        more = f"; {slow - told - 1} more since the last warning" if slow - told > 1 else ""
        return f"slow: {name} {what}" + (f" ({detail})" if detail else "") + more


def sizes_text(sizes: dict[str, int]) -> str:
    return ", ".join(f"{size:,} {what}" for what, size in sizes.items())


def merged(parts: Iterable[dict[str, Operation]]) -> dict[str, Operation]:
    """The operations of several processes as if they were those of one; nothing is shared with
    what was given."""
    total: dict[str, Operation] = {}
    for operations in parts:
        for name, operation in operations.items():
            total.setdefault(name, Operation()).include(operation)
    return dict(sorted(total.items()))
