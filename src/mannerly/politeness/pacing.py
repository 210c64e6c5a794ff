"""How long a site rests after a visit, and what becomes of the URL. Pure functions.

The rules, in the order in which they are tried:

1. A response that is no trouble (2xx, 3xx, 4xx): the site rests for its delay, its count of
   failures is back to zero, the URL is settled.
2. 429 and 503 ask us to back off: the site rests for `Retry-After` (up to a ceiling) or for the
   growing back-off, whichever is longer; the URL is tried again.
3. Other 5xx are a matter of that page, not of the site: the delay, and the URL is tried again.
4. No response (connection, TLS, DNS, time-out): the site rests for the growing back-off; the URL is
   tried again. A host that DNS knows not to exist, or whose address is refused, is settled at once.
5. A URL that was tried `max_tries` times is settled with what happened last. A site that failed
   `max_failures` times in a row is abandoned.

The delay is the longer of the crawl's delay and the site's Crawl-delay (up to a ceiling). All rests
count from the end of the last response.
"""

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.model import Outcome
from mannerly.quick import quick

BACK_OFF_GROWTH = 4.0
MOMENT_S = 0.05
"""Added to every delay: a server may note the end of a response a moment after we have read it, and
it is the server's log by which we want to be judged."""
BACK_OFF_STATUSES = frozenset({429, 503})
DELAY, CRAWL_DELAY, RETRY_AFTER, BACK_OFF = "delay", "crawl-delay", "retry-after", "back-off"
"""The rules that a rest may come from, for records."""
FINAL_FAILURES = frozenset({Outcome.NO_SUCH_NAME, Outcome.ADDRESS_REFUSED})


@dataclass(frozen=True, slots=True)
class PacePolicy:
    delay_s: float
    crawl_delay_ceiling_s: float
    """A site that asks for more than this gets this."""
    retry_delay_s: float
    """The rest after a first failure; it grows by `BACK_OFF_GROWTH` with each further one."""
    retry_ceiling_s: float
    """No back-off and no Retry-After makes a site rest longer than this."""
    max_tries: int
    max_failures: int
    robots_ttl_s: float
    """How long a robots.txt is believed."""


@quick
class Pace(NamedTuple):
    """What follows from a visit."""

    settle: Outcome | None
    """The URL's final outcome; None: try it again later."""
    rest_s: float
    failures: int
    """The site's failures in a row, this visit included."""
    abandoned: bool
    why: str = DELAY
    """The rule that gave `rest_s`."""


def delay_for(policy: PacePolicy, crawl_delay_s: float | None) -> float:
    """The site's delay: the crawl's, or the longer one it asked for, and a moment more."""
    delay_s = policy.delay_s
    if crawl_delay_s is not None:
        delay_s = max(delay_s, min(crawl_delay_s, policy.crawl_delay_ceiling_s))
    return delay_s + MOMENT_S if delay_s else 0.0


def back_off(policy: PacePolicy, failures: int) -> float:
    """The rest after the `failures`-th failure in a row (1 is the first)."""
    exponent = min(max(failures, 1) - 1, 30)
    rest_s: float = policy.retry_delay_s * BACK_OFF_GROWTH**exponent
    return min(rest_s, policy.retry_ceiling_s)


def spread(policy: PacePolicy, rest_s: float, who: str) -> float:
    """Up to twice as long, by whom it is: many who were sent away at once do not all come back at
    once. Never shorter, and not past the ceiling unless it was so before."""
    share = xxh3_64_intdigest(who.encode()) / 2**64
    return max(rest_s, min(rest_s * (1 + share), policy.retry_ceiling_s))


def after_response(
    policy: PacePolicy,
    *,
    status: int,
    retry_after_s: float | None,
    delay_s: float,
    failures: int,
    tries: int,
) -> Pace:
    """A response was read. `tries` counts the visits for this URL, this one included."""
    if status in BACK_OFF_STATUSES:
        failures += 1
        asked_s = min(retry_after_s or 0.0, policy.retry_ceiling_s)
        rest_s, why = longest_rest(policy, delay_s, asked_s, failures)
        settle = Outcome.HTTP_ERROR if tries >= policy.max_tries else None
        return Pace(settle, rest_s, failures, failures >= policy.max_failures, why)
    if status >= 500:
        settle = Outcome.HTTP_ERROR if tries >= policy.max_tries else None
        return Pace(settle, delay_s, 0, abandoned=False, why=why_delay(policy, delay_s))
    why = why_delay(policy, delay_s)
    if 200 <= status < 300:
        return Pace(Outcome.FETCHED, delay_s, 0, abandoned=False, why=why)
    if 300 <= status < 400:
        return Pace(Outcome.REDIRECTED, delay_s, 0, abandoned=False, why=why)
    return Pace(Outcome.HTTP_ERROR, delay_s, 0, abandoned=False, why=why)


def after_failure(
    policy: PacePolicy, *, failure: Outcome, delay_s: float, failures: int, tries: int
) -> Pace:
    """No response was read. `tries` counts the visits for this URL, this one included."""
    if failure in FINAL_FAILURES:
        return Pace(failure, delay_s, failures, abandoned=False, why=why_delay(policy, delay_s))
    failures += 1
    settle = failure if tries >= policy.max_tries else None
    rest_s, why = longest_rest(policy, delay_s, 0.0, failures)
    return Pace(settle, rest_s, failures, failures >= policy.max_failures, why)


def longest_rest(
    policy: PacePolicy, delay_s: float, asked_s: float, failures: int
) -> tuple[float, str]:
    """The longest of the delay, what Retry-After asked for and the back-off; and which it is."""
    rests = [(delay_s, why_delay(policy, delay_s)), (asked_s, RETRY_AFTER)]
    return max([*rests, (back_off(policy, failures), BACK_OFF)], key=lambda rest: rest[0])


def why_delay(policy: PacePolicy, delay_s: float) -> str:
    """Whose delay that is: the crawl's, or the longer one that the site asked for."""
    return CRAWL_DELAY if delay_s > delay_for(policy, None) else DELAY


def parse_retry_after(value: str, wall_now: float) -> float | None:
    """Seconds to wait, from either form of Retry-After; None if it says nothing sensible."""
    value = value.strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value[:10])
    try:
        when = parsedate_to_datetime(value)
        if when.tzinfo is None:
            # The old forms of a date name no zone; in HTTP it is always GMT, not that of the host.
            when = when.replace(tzinfo=UTC)
        return max(0.0, when.timestamp() - wall_now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
