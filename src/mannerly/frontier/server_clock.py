"""The frontier's clock: the server's clock plus an offset that all processes share. Pure.

A server's wall clock is set now and then: by NTP, by an administrator, by a fail-over to a machine
with another clock. The frontier's clock must not follow. No process can ask the server for a clock
that nobody sets, but each has one of its own (`Clock.now`). So each remembers how far the
frontier's clock is ahead of its own (its *lead*), compares at every reading, and where the two have
parted by more than `TOLERANCE_MS`, the server's clock was set: the offset is changed by as much,
under a lock.

Until then, and in between, a process never believes the server more than itself: "is it ready?"
takes the smaller of both clocks and "not before" the larger one, so a jump makes no site early,
not even in the very statement that meets it. Below the tolerance nothing is changed; the lead
follows the server by 0.05 % of the time at most, which is how fast NTP slews a clock.

Who is right if two processes disagree? The one with the lower clock: a machine that was frozen and
lost an hour makes every rest an hour longer, and nobody undoes that; making it shorter would be
rude. Only where the server's clock itself went back is the offset raised.

A process that opens the crawl has no lead yet. If the last instant that somebody vouched for
(`crawl.last_at`, written about once a second) is within `VOUCHED_MS` of now, the clock is *known
good*. If it is ahead of now, the clock was set back, and goes on from there. Else time passed and
nobody can tell how much: the clock is believed up to 30 days, but this process leases nothing
before the crawl's delay has passed since it opened, and vouches for nothing until then.

Everything is whole milliseconds; rounding never makes a site early.
"""

import math
from typing import NamedTuple

TOLERANCE_MS = 1000
DRIFT = 0.0005
VOUCHED_MS = 2000
LONGEST_GAP_MS = 30 * 24 * 3600 * 1000
"""More than this is not believed of a clock that nobody watched."""


class Reading(NamedTuple):
    """The server's clock, as it was read at some moment between two of our own."""

    asked_at: float
    answered_at: float
    server_ms: float
    offset_ms: int

    @property
    def at(self) -> float:
        return self.server_ms + self.offset_ms


class Lead(NamedTuple):
    """How far the frontier's clock is ahead of ours: somewhere between two bounds."""

    low_ms: float
    high_ms: float
    offset_ms: int
    read_at: float


class Instant(NamedTuple):
    """Now on the frontier's clock."""

    at: int
    """At most: compare ready times with this."""
    up_at: int
    """At least: count rests from this."""


class Opening(NamedTuple):
    """How a process goes on with the clock of a crawl that it opens."""

    offset_ms: int
    rests: bool
    """Nobody vouched for the clock: lease nothing before the crawl's delay has passed."""


def lead_of(reading: Reading) -> Lead:
    """The lead that one reading tells, without a history."""
    low_ms = reading.at - reading.answered_at * 1000
    high_ms = reading.at - reading.asked_at * 1000
    return Lead(low_ms, high_ms, reading.offset_ms, reading.answered_at)


def judged(before: Lead, reading: Reading) -> tuple[Lead, int]:
    """The lead after another reading, and by how much the frontier's clock has jumped: 0 if it
    has not. Of a clock that jumped nothing is learnt."""
    slack_ms = DRIFT * max(0.0, reading.answered_at - before.read_at) * 1000
    low_ms, high_ms = before.low_ms - slack_ms, before.high_ms + slack_ms
    told = lead_of(reading)
    parted_ms = max(0.0, told.low_ms - high_ms) + min(0.0, told.high_ms - low_ms)
    if abs(parted_ms) > TOLERANCE_MS:
        changed_ms = reading.offset_ms - before.offset_ms
        if parted_ms < 0 and abs(parted_ms - changed_ms) <= TOLERANCE_MS:
            return told, 0  # the server went on steadily: another process lowered the offset
        return before, round(parted_ms)
    low_ms, high_ms = (
        max(low_ms, min(told.low_ms, high_ms)),
        min(high_ms, max(told.high_ms, low_ms)),
    )
    return Lead(low_ms, high_ms, reading.offset_ms, reading.answered_at), 0


def instant(lead: Lead, reading: Reading, jump_ms: int) -> Instant:
    """Now, by whichever clock makes no site early; by our own alone if the other one jumped, which
    would make sites late by as much."""
    at = math.floor(lead.low_ms + reading.answered_at * 1000)
    up_at = math.ceil(lead.high_ms + reading.asked_at * 1000)
    if jump_ms:
        return Instant(at, up_at)
    return Instant(min(math.floor(reading.at), at), max(math.ceil(reading.at), up_at))


def rested(now: Instant, rest_ms: int) -> int:
    """When a site is ready that rests from now on."""
    return now.up_at + rest_ms if rest_ms else now.at


def opened(reading: Reading, last_at: int) -> Opening:
    """How a process without a history goes on. `last_at` is 0 where nobody ever vouched."""
    gap_ms = math.floor(reading.at) - last_at
    if last_at == 0 or abs(gap_ms) <= VOUCHED_MS:
        return Opening(reading.offset_ms, rests=False)
    if gap_ms < 0:
        # No time passed, as far as anybody knows. Nothing can be early on a clock that is late.
        return Opening(reading.offset_ms - gap_ms, rests=False)
    return Opening(reading.offset_ms - max(0, gap_ms - LONGEST_GAP_MS), rests=True)
