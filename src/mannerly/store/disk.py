"""The few steps in which the store changes the disk, each a method, so that a test can fail it.

Every step raises `OSError` as the system gives it; the callers translate.
"""

import contextlib
import os
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

Buffer: TypeAlias = bytes | memoryview | pa.Buffer


class Disk:
    """The system's own."""

    def create(self, path: Path) -> int:
        """A new file, open for appending. The *name* is durable only after `sync_dir`."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def append(self, fd: int, *pieces: Buffer) -> None:
        """Write all of it. If this fails, any part of it may be there."""
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(fd, rest) :]

    def sync(self, fd: int) -> None:
        """Make what was appended durable. If this fails, *nothing* is known of what was appended
        since the last time: the kernel may have dropped it and will not say so again."""
        os.fdatasync(fd)

    def sync_file(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_dir(self, path: Path) -> None:
        """Make names that were created, moved and removed in `path` durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """A second name for a file, unless it has that already."""
        with contextlib.suppress(FileExistsError):
            target.hardlink_to(source)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)


DISK = Disk()


def write_durably(path: Path, text: str) -> None:
    """A small file that is there as a whole, or as it was; durable when it returns."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="")
    DISK.sync_file(temporary)
    temporary.replace(path)
    DISK.sync_dir(path.parent)
