"""Axes: which numbers stand on them, where, and in which words."""

import math
from collections.abc import Callable
from typing import NamedTuple

_MOST_POWERS = 7
_FEW_POWERS = 3


class Tick(NamedTuple):
    at: float
    """In data."""
    label: str


def ticks_to(most: float, word: Callable[[float], str], wanted: int = 5) -> list[Tick]:
    """From 0 to `most` or the next round number above it, at most about `wanted` steps."""
    step = round_step(most / wanted)
    count = max(1, math.ceil(most / step - 1e-9))
    return [Tick(number * step, word(number * step)) for number in range(count + 1)]


def round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least so much."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(part * power for part in (1, 2, 5, 10) if part * power >= least * (1 - 1e-9))


def powers_between(
    low: float, high: float, word: Callable[[float], str], base: int = 10
) -> list[Tick]:
    """Powers of `base` from `low` to `high`, few enough to be read; where there are hardly any of
    ten, also twice and five times as much."""
    first = math.floor(math.log(low, base) + 1e-9)
    last = math.ceil(math.log(high, base) - 1e-9)
    stride = max(1, math.ceil((last - first) / _MOST_POWERS))
    parts = (1, 2, 5) if base == 10 and last - first <= _FEW_POWERS else (1,)
    powers = [float(base) ** power for power in range(first, last + 1, stride)]
    found = [part * power for power in powers for part in parts]
    within = [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return [Tick(value, word(value)) for value in within]


def short(number: float) -> str:
    """`950`, `12k`, `1.5M`."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def bytes_text(number: float) -> str:
    """`12 kB`, `1.5 MB`."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size * 0.9995:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def seconds_text(seconds: float) -> str:
    """`20 ms`, `1.5 s`, `3.2 min`, `5 h`, `2.5 d`."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= size * (2 if size > 1 else 0.9995):
            return f"{seconds / size:.3g} {unit}"
    return f"{1000 * seconds:.3g} ms"


def seconds_power(seconds: float) -> str:
    """Seconds on an axis of powers of ten: `100 s`, not `1.67 min`."""
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def times_text(number: float) -> str:
    return f"{number:g}×"  # noqa: RUF001 - the sign that is meant


class TimeUnit(NamedTuple):
    name: str
    seconds: float


def unit_for(span_s: float) -> TimeUnit:
    """The unit in which a span has two digits or so."""
    for unit in (TimeUnit("days", 86_400.0), TimeUnit("hours", 3600.0), TimeUnit("minutes", 60.0)):
        if span_s >= 3 * unit.seconds:
            return unit
    return TimeUnit("seconds", 1.0)
