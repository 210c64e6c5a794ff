"""A fair lock between processes, in front of SQLite's own.

SQLite's waiters poll with growing pauses, so a process that writes one transaction after another
starves them until they give up: "database is locked". Here a writer first takes its turn.

Two locked files: whoever holds `.turn` is next, whoever holds `.lock` writes. The next one lets go
of `.turn` only when it has `.lock`, so a process that has just written and wants to write again
stands behind it: nobody overtakes the one who is next. Among those further back chance decides.

The waiting is done by asking again every half a millisecond, because a blocking `flock` cannot be
given up: a process that was stopped in the middle of a transaction would then hang all the others
beyond the reach of SIGTERM. The kernel drops both locks when their holder dies.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mannerly.errors import FrontierError

_ASK_AGAIN_S = 0.0005


class Turn:
    """The right to write to one database. One `Turn` per connection; not for two threads."""

    def __init__(self, database: Path, *, patience_s: float = 30.0) -> None:
        self._database = database
        self._patience_s = patience_s
        self._next = _open(database.with_name(database.name + ".turn"))
        try:
            self._lock = _open(database.with_name(database.name + ".lock"))
        except OSError:
            os.close(self._next)
            raise

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and hold it inside the block.

        `FrontierError` if nobody gave it up for `patience_s`.
        """
        give_up_at = time.monotonic() + self._patience_s
        self._take(self._next, give_up_at)
        try:
            self._take(self._lock, give_up_at)
        finally:
            fcntl.flock(self._next, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def wanted(self) -> bool:
        """Whether somebody is next. For the one whose turn it is."""
        try:
            fcntl.flock(self._next, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._next, fcntl.LOCK_UN)
        return False

    def _take(self, descriptor: int, give_up_at: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > give_up_at:
                    raise FrontierError(
                        f"{self._database}: another process of this crawl has been writing for "
                        f"{self._patience_s:.0f} s; look for one that was stopped, and end it"
                    ) from None
                time.sleep(_ASK_AGAIN_S)
            else:
                return

    def close(self) -> None:
        os.close(self._next)
        os.close(self._lock)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
