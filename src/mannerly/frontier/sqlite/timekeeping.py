"""The frontier's clock: boot time plus an offset that is kept in the file. Pure.

Boot time is the one clock of a machine that nobody sets and that runs on through suspend, but it
starts at 0 with every boot. So the file remembers the boot id, the offset, and the last instant it
saw with the wall clock of that moment:

- the same boot: the offset holds, and all processes of the machine agree to the microsecond;
- another boot (or an unknown one): the clock goes on from the last instant, plus what the wall
  clock says has passed in between. Wall clocks lie, so this is bounded, never negative, and *no*
  site is leased before the crawl's delay has passed since: whatever the wall clock said, the
  machine made no request earlier in this boot.

Everything is whole milliseconds. "Is it ready?" rounds now down and "not before" rounds now up, so
rounding never makes a site early.
"""

import math
from typing import NamedTuple

from mannerly.frontier.leases import duration_ms

LONGEST_GAP_MS = 30 * 24 * 3600 * 1000
"""More than this is not believed of a wall clock."""


class Epoch(NamedTuple):
    """How the frontier's clock is made from boot time, and when it was last looked at."""

    boot_id: str
    """'' where the system does not tell."""
    offset_ms: int
    last_at: int
    last_wall_s: float
    rest_until: int
    """No site is leased before this instant."""


class Instant(NamedTuple):
    """Now on the frontier's clock."""

    at: int
    """Rounded down: compare ready times with this."""
    up_at: int
    """Rounded up: count rests from this."""


def instant(epoch: Epoch, clock_s: float) -> Instant:
    ms = clock_s * 1000
    return Instant(math.floor(ms) + epoch.offset_ms, math.ceil(ms) + epoch.offset_ms)


def first_epoch(boot_id: str, clock_s: float, wall_s: float) -> Epoch:
    """The epoch of a new file: nothing was ever leased, so nothing rests."""
    return Epoch(boot_id, 0, math.floor(clock_s * 1000), wall_s, 0)


def resumed(epoch: Epoch, boot_id: str, clock_s: float, wall_s: float, delay_s: float) -> Epoch:
    """The epoch with which this process goes on; the same one if it is of the same boot.

    A clock that reads less than what was recorded in "the same boot" (a container restored or
    moved with its boot id) is taken for another boot.
    """
    if boot_id and boot_id == epoch.boot_id and instant(epoch, clock_s).at >= epoch.last_at:
        return epoch
    gap_ms = min(duration_ms(wall_s - epoch.last_wall_s), LONGEST_GAP_MS)
    now_at = epoch.last_at + gap_ms
    offset_ms = now_at - math.floor(clock_s * 1000)
    # One more millisecond, because now was rounded down.
    rest_until = now_at + duration_ms(delay_s) + 1
    return Epoch(boot_id, offset_ms, now_at, wall_s, max(epoch.rest_until, rest_until))
