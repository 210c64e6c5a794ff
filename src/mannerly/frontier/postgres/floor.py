"""Where the walk to the first ready site begins.

Each lease leaves dead entries at the low end of the index on ready times. The server marks them
as it passes and then hops over them, as long as no old snapshot (a backup, say) may still see the
rows. If one does, the way to the first ready site becomes longer with every lease.
"""

import time

from mannerly.frontier.server_clock import Instant

LOWEST = -(2**63)


class Floor:
    """From where on the index is walked: from its start, unless that has become a long way.

    How long it takes, the server is asked now and then: our own watch would say more about the load
    than about the way. (Pages passed say nothing: the dead rows stand close together.) A site that
    gets work may be ready since long ago, below the floor. So while there is one, the whole way
    is still walked now and then, and the longer it takes, the more seldom.
    """

    LONG_MS = 5.0
    """Usually it is 0.1."""
    TIMES = 3
    """All of them long: once may be chance."""
    LOOK_EVERY_S = 5.0
    PAUSES = 50
    LAG_MS = 10_000
    """Whoever is about to commit a release may have begun its rest so long ago."""

    def __init__(self) -> None:
        self._next_look_at = 0.0
        self.at = LOWEST

    def is_due(self) -> bool:
        """Walk the whole way, and ask how long it is."""
        return time.monotonic() >= self._next_look_at

    def walked(self, took_ms: float, earliest_at: int, now: Instant) -> None:
        """The whole way was walked, up to the site that is ready first."""
        pause_s = max(self.LOOK_EVERY_S, self.PAUSES * took_ms / 1000)
        self._next_look_at = time.monotonic() + pause_s
        self.at = LOWEST
        if took_ms > self.LONG_MS:
            self.at = min(earliest_at, now.at - self.LAG_MS)

    def moved(self, earliest_at: int, now: Instant) -> None:
        """It was walked from the floor on."""
        if self.at != LOWEST:
            self.at = max(self.at, min(earliest_at, now.at - self.LAG_MS))
