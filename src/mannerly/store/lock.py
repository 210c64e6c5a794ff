"""Proof of life: the lock that a writer holds on its journal for as long as its process lives.

The kernel drops a flock when its holder dies, however it dies. So a lock that can be taken proves
that the writer is gone, and whoever took it may finish what the writer left. (A child that was
forked without exec shares the lock: start processes by spawning them.)
"""

import contextlib
import fcntl
import os
from pathlib import Path

NAME = "lock"


class WriterLock:
    """A held lock on one writer's directory."""

    def __init__(self, directory: Path, fd: int) -> None:
        self._directory = directory
        self._fd = fd

    @classmethod
    def create(cls, directory: Path) -> "WriterLock | None":
        """Make a directory that is locked from the moment it can be seen; else `take` it.

        Made in place it would stand unlocked for a moment, and a recovery that tries its lock just
        then would look to its owner like another living process. Dying before the rename leaves
        an empty hidden directory that nobody reads.
        """
        staging = directory.with_name(f".{directory.name}")
        staging.mkdir(parents=True, exist_ok=True)
        fd = _locked(staging / NAME)
        if fd is None:
            return None
        try:
            staging.rename(directory)
        except OSError:
            os.close(fd)
            if not directory.is_dir():
                raise
            (staging / NAME).unlink()
            staging.rmdir()
            return cls.take(directory)
        return cls(directory, fd)

    @classmethod
    def take(cls, directory: Path) -> "WriterLock | None":
        """The lock; None if a living process has it; `FileNotFoundError` if all of it is gone."""
        while True:
            fd = _locked(directory / NAME)
            if fd is None:
                return None
            if _is_at(fd, directory / NAME):
                return cls(directory, fd)
            # Whoever held it finished and removed the file just before we got it: this lock is on
            # a file without a name, and protects nothing.
            os.close(fd)

    def release(self) -> None:
        """Give the lock back and leave everything as it is."""
        os.close(self._fd)

    def remove(self) -> None:
        """Give the lock back, and the directory with it if nothing else is in there."""
        # An empty directory that cannot be removed is no harm: the next recovery tries again.
        with contextlib.suppress(OSError):
            if [entry.name for entry in self._directory.iterdir()] == [NAME]:
                (self._directory / NAME).unlink()
                self._directory.rmdir()
        os.close(self._fd)


def _locked(path: Path) -> int | None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _is_at(fd: int, path: Path) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)
