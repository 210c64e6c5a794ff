"""How long many things took: counts by fixed bounds, so that they can be added over processes, told
apart over time (one minus an earlier one), and given to Prometheus as they are."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

BOUNDS_S = (
    0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75,
    1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 60.0,
)  # fmt: skip
"""Upper bounds; what took longer is in one more."""


@dataclass(slots=True)
class Durations:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    total_s: float = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    def note(self, took_s: float) -> None:
        self.counts[bisect_left(BOUNDS_S, took_s)] += 1
        self.total_s += took_s

    def copy(self) -> "Durations":
        return Durations(list(self.counts), self.total_s)

    def since(self, before: "Durations") -> "Durations":
        """What was added after `before`."""
        counts = [now - then for now, then in zip(self.counts, before.counts, strict=True)]
        return Durations(counts, self.total_s - before.total_s)

    def percentile_s(self, fraction: float) -> float:
        """The duration that `fraction` of all stayed below, as if they lay evenly between two
        bounds; 0 if there were none."""
        rank = fraction * self.count
        seen = 0
        for index, count in enumerate(self.counts):
            if count and seen + count >= rank:
                lower = BOUNDS_S[index - 1] if index else 0.0
                upper = BOUNDS_S[index] if index < len(BOUNDS_S) else 2 * BOUNDS_S[-1]
                return lower + (upper - lower) * (rank - seen) / count
            seen += count
        return 0.0


def added(parts: Sequence[Durations]) -> Durations:
    """Of several processes as if they were one's."""
    total = Durations()
    for part in parts:
        total.counts = [a + b for a, b in zip(total.counts, part.counts, strict=True)]
        total.total_s += part.total_s
    return total
