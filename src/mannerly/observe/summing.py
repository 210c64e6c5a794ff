"""Tallies of several processes: as JSON, and as one."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from mannerly.model import Outcome
from mannerly.observe.tally import Tally
from mannerly.url import Closed, LeftOut

_SUMS = (
    "workers",
    "in_flight",
    "most_in_flight",
    "seats",
    "unsettled",
    "visits",
    "robots_requests",
    "page_requests",
    "pages_stored",
    "wire_bytes",
    "links_seen",
    "links_sent",
    "urls_new",
    "leased",
    "visit_limit",
    "refused",
    "checkpoints",
    "committed",
    "waiting",
)
_COUNTERS = ("settled", "deferred", "left_out", "leases_unused", "excused")
_SINGLE = ("lag_s", "trouble", "ending", "limited_by")
_NOW = ("workers", "in_flight", "seats", "unsettled", "visit_limit", "waiting")
"""What is true of the living only."""
_PATTERNS = 20
"""Patterns that are told, the latest."""


def document(tally: Tally) -> dict[str, Any]:
    """For JSON; `from_document` reads it."""
    told: dict[str, Any] = {name: getattr(tally, name) for name in _SUMS}
    told |= {name: dict(getattr(tally, name)) for name in _COUNTERS}
    told |= {name: getattr(tally, name) for name in _SINGLE}
    told["closed"] = list(tally.closed)[-_PATTERNS:]
    return told


def from_document(told: Mapping[str, Any]) -> Tally:
    tally = Tally(0.0)
    for name in (*_SUMS, *_SINGLE):
        setattr(tally, name, told[name])
    tally.settled = Counter({Outcome(int(key)): n for key, n in told["settled"].items()})
    tally.left_out = Counter({LeftOut(key): n for key, n in told["left_out"].items()})
    for name in ("deferred", "leases_unused", "excused"):
        setattr(tally, name, Counter(told[name]))
    tally.closed = deque(Closed(*it) for it in told["closed"])
    return tally


def sum_into(total: Tally, living: Iterable[Tally], gone: Iterable[Tally]) -> None:
    """Make `total` the sum; its beginning and its own ending are kept. `most_in_flight` is the sum
    of each one's most, which need not have been at the same time."""
    living, gone = list(living), list(gone)
    for name in _SUMS:
        of = living if name in _NOW else [*living, *gone]
        setattr(total, name, sum(getattr(it, name) for it in of))
    for name in _COUNTERS:
        counts: Counter[Any] = Counter()
        for it in (*living, *gone):
            counts.update(getattr(it, name))
        setattr(total, name, counts)
    total.lag_s = max((it.lag_s for it in living), default=0.0)
    total.trouble = next((it.trouble for it in living if it.trouble), "")
    total.limited_by = next((it.limited_by for it in living if it.limited_by), "")
    total.closed = deque(closed for it in (*gone, *living) for closed in it.closed)
