"""CPU and wall time of blocks of work, and percentiles of their durations.

`scaled_us` is what a block would have taken at the yardstick's price, which is asked for right
before and after it.
"""

import math
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from benchmarks.yardstick import pace


def own_cpu_s() -> float:
    """User and system time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Cost:
    """What blocks of work took, all together and each."""

    def __init__(self, server_cpu_s: Callable[[], float]) -> None:
        """`server_cpu_s`: the CPU time so far of other processes that do the work."""
        self._server_cpu_s = server_cpu_s
        self.cpu_s = 0.0
        self.scaled_s = 0.0
        self.calls_s: list[float] = []

    @contextmanager
    def spent(self) -> Iterator[None]:
        # Asking about the server is work, too: it stays outside of what is counted.
        before = pace()
        server_s, own_s, start = self._server_cpu_s(), own_cpu_s(), time.perf_counter()
        yield
        self.calls_s.append(time.perf_counter() - start)
        cpu_s = own_cpu_s() - own_s
        cpu_s += self._server_cpu_s() - server_s
        self.cpu_s += cpu_s
        self.scaled_s += cpu_s / ((before + pace()) / 2)

    def per(self, count: int) -> dict[str, float]:
        """Microseconds for each of `count` things, and the durations of the calls."""
        return {
            "cpu_us": round(self.cpu_s / max(1, count) * 1e6, 2),
            "scaled_us": round(self.scaled_s / max(1, count) * 1e6, 2),
            "wall_us": round(sum(self.calls_s) / max(1, count) * 1e6, 2),
            **durations_ms(self.calls_s),
        }


def durations_ms(calls_s: Sequence[float]) -> dict[str, float]:
    ordered = sorted(calls_s)
    if not ordered:
        return {"calls": 0}

    def at(fraction: float) -> float:
        return round(ordered[max(0, math.ceil(fraction * len(ordered)) - 1)] * 1e3, 2)

    return {"calls": len(ordered), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1.0)}
