"""Does a quantity grow? Pure functions over a series of samples.

Of six parts of the time the first is left out: caches fill, and the code is being loaded. What was
usual in the second must still be usual in the last. Medians, because a rolled file or a checkpoint
is a peak that comes and goes.
"""

from collections.abc import Sequence
from statistics import linear_regression, median

PARTS = 6
ALLOWED = 0.10
"""By so much the last part's median may be above the second's. What leaks a kilobyte a page would
have added 100 MB in 45 minutes."""


def growth(series: Sequence[float]) -> float:
    """From the second part's median to the last one's, as a share of the former."""
    part = len(series) // PARTS
    if not part:
        raise ValueError(f"{len(series)} samples are too few for {PARTS} parts")
    before, after = median(series[part : 2 * part]), median(series[-part:])
    return after / before - 1 if before else float(after > 0)


def slope(times_s: Sequence[float], series: Sequence[float]) -> float:
    """What a second adds, over the last two thirds of the time."""
    late = len(series) // 3
    return linear_regression(times_s[late:], series[late:]).slope
