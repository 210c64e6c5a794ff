"""What every engine makes leases of, asks of what is settled under them, and answers to who comes
too late. Pure."""

import math
import random
from array import array
from collections.abc import Iterable

from mannerly.errors import CrawlMovedError, FrontierMisuseError
from mannerly.model import Outcome, Settled

NOT_FINAL = frozenset({Outcome.PENDING, Outcome.NOT_SENT})


def tokens(chance: random.Random, count: int) -> list[int]:
    """Any signed 64-bit numbers but 0, which stands for "not leased". Drawn at once: a system's
    random numbers cost a call each time."""
    drawn = array("q", chance.getrandbits(64 * count).to_bytes(8 * count)) if count else []
    return [token or 1 for token in drawn]


def duration_ms(seconds: float) -> int:
    """Rounded up, and never negative: rounding never makes a site early."""
    return max(0, math.ceil(seconds * 1000))


def require_final(settled: Iterable[Settled]) -> None:
    if any(part.outcome in NOT_FINAL for part in settled):
        raise FrontierMisuseError("a URL cannot be settled as PENDING or NOT_SENT; defer it")


def moved_error(place: str, to: str) -> CrawlMovedError:
    return CrawlMovedError(
        f"the crawl in {place} was moved; go on with {to} (if the move was cut off, run `mannerly "
        "migrate` again)"
    )
