"""How often a server that cannot be reached is tried again. Shared by the engines that have one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mannerly.errors import FrontierError

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0


class Reaching:
    """Attempts at one server, with pauses that double. A verb that comes within one fails at once:
    who asks tries again anyway, and must not wait for a connection that was refused a moment ago.
    """

    def __init__(self) -> None:
        self._next_try_at = 0.0
        self._pause_s = FIRST_PAUSE_S

    @contextmanager
    def attempt(self, where: str) -> Iterator[None]:
        """Connect in its body."""
        if time.monotonic() < self._next_try_at:
            raise FrontierError(
                f"{where}: the server could not be reached a moment ago; it is tried again soon"
            )
        try:
            yield
        except BaseException:
            self._next_try_at = time.monotonic() + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
            raise
        self._next_try_at, self._pause_s = 0.0, FIRST_PAUSE_S
