"""How slow the machine is at the moment.

The same work takes up to twice the CPU on this kind of machine from one minute to the next, even
where nothing else runs. So a fixed piece of work is timed beside what is measured: links joined by
Ada, which take 1.0 us each in the table of libraries that our budgets were made with.
"""

import time

import can_ada

_BASE = can_ada.parse("https://docs.example.org/3/library/page.html")
_HREFS = [f"../part{n}/page.html?x={n}" for n in range(500)]
_LINK_S = 1.0e-6


def pace() -> float:
    """How slow the machine is now: seconds of CPU for each that the fixed work should take."""
    started_s = time.thread_time()
    for href in _HREFS:
        (_BASE + href).href  # noqa: B018
    return (time.thread_time() - started_s) / (len(_HREFS) * _LINK_S)
