"""The data directory: one crawler at a time.

DIR/lock          held (flock) by the crawler that runs here, and by all its processes
DIR/frontier.db   the frontier, unless --db-url says otherwise
DIR/suffix-list.dat  the public suffix list that the crawl's sites are made by
DIR/deaths        what processes were reading when they died (`mannerly.store.deaths`)
DIR/journal, pages, fetches, requests, runs: the store (`mannerly.store.layout`)
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mannerly.errors import CrawlBusyError, UsageError

FRONTIER = "frontier.db"
SUFFIXES = "suffix-list.dat"
_LOCK = "lock"
_POLL_S = 0.05


@contextmanager
def held(data_dir: Path, patience_s: float = 0.0) -> Iterator[int]:
    """Make the directory if need be and hold it; `CrawlBusyError` if another crawler does, and
    still does after `patience_s`. Yields the lock's descriptor: a process that inherits it holds
    the directory as well, until it ends."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        fd = os.open(data_dir / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as exc:
        raise UsageError(
            f"cannot use {data_dir} as the data directory: {exc.strerror}; choose another with "
            "--data-dir"
        ) from exc
    try:
        give_up_at = time.monotonic() + patience_s
        while not _lock(fd):
            if time.monotonic() >= give_up_at:
                raise CrawlBusyError(
                    f"another crawler is running in {data_dir}; stop it first, or choose another "
                    "--data-dir"
                )
            time.sleep(_POLL_S)
        yield fd
    finally:
        os.close(fd)


def is_held(data_dir: Path) -> bool:
    """Whether a crawler runs here now."""
    try:
        fd = os.open(data_dir / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(fd)
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
