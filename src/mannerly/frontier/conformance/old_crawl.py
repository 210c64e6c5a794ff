"""What a crawl of an earlier schema holds, so that its upgrade can be judged.

Engines write it as the old version would have (`Engine.old_versions`), at the moment `make` is
called: the resting site rests from then on.
"""

from typing import NamedTuple

from mannerly.model import Outcome, Priority, QueuedUrl, RobotsRecord, RobotsState, Source

SETTINGS = {"delay_s": "5"}

WRITER = 77
LABEL = "old worker"
SEQUENCE = 3
REFUSED = (-5,)
"""The tokens that were refused in its last commit."""

LEASES = 9
"""Given so far."""

TOKEN = 2**62 + 1
"""Of the lease that is out."""


class OldSite(NamedTuple):
    name: str
    pending: tuple[QueuedUrl, ...] = ()
    settled: tuple[tuple[int, Outcome], ...] = ()
    ready_in_s: float = -100.0
    leased: bool = False
    """By `WRITER`, under `TOKEN`."""
    abandoned: bool = False
    failures: int = 0
    delay_s: float = 0.0


def _queued(site: str, number: int, priority: int, seq: int, tries: int = 0) -> QueuedUrl:
    text = f"https://{site}/{number}"
    return QueuedUrl(text, number, 1, priority, seq, Source.LINK, 42, tries)


SITES = (
    OldSite(
        "ready.example",
        (
            _queued("ready.example", 3, Priority.SEED, 7),
            _queued("ready.example", 1, Priority.LINK, 2),
            _queued("ready.example", 2, Priority.RETRY, 9, tries=1),
        ),
        ((10, Outcome.FETCHED), (11, Outcome.FETCHED), (-12, Outcome.HTTP_ERROR)),
        failures=2,
        delay_s=7.5,
    ),
    OldSite(
        "resting.example",
        (_queued("resting.example", 1, Priority.LINK, 3),),
        ((2, Outcome.FETCHED),),
        ready_in_s=95.0,
    ),
    OldSite(
        "leased.example",
        (
            _queued("leased.example", 1, Priority.LINK, 4),
            _queued("leased.example", 2, Priority.LINK, 5),
        ),
        ready_in_s=605.0,
        leased=True,
    ),
    OldSite(
        "abandoned.example",
        (
            _queued("abandoned.example", 1, Priority.LINK, 6),
            _queued("abandoned.example", 2, Priority.LINK, 8),
        ),
        ((3, Outcome.CONNECT_FAILED),),
        abandoned=True,
        failures=7,
    ),
    OldSite("parked.example", (), ((1, Outcome.FETCHED),)),
)

NEXT_SEQ = 10

ROBOTS = RobotsRecord("https://ready.example", RobotsState.FOUND, b"User-agent: *\n", 0.0, 0)
"""Of the ready site."""
