"""The machine's disk: what a process may do to it, and what a power cut leaves of that.

The files are real ones. Only, it is kept in mind what was made durable: after a power cut a file
ends somewhere between what was last synced and what was written, and of the names that were made,
moved and removed in a directory since it was last synced, the first few have lasted and the others
have not. After a failed fsync what was not durable then never becomes so: the kernel forgets it.
"""

import errno
import os
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mannerly.store.disk import Buffer, Disk
from tests.simulation.faults.plan import Kind

if TYPE_CHECKING:
    from tests.simulation.faults.process import Process


class Platter:
    """What is durable, of all processes of the machine."""

    def __init__(self, attic: Path) -> None:
        """`attic`: where things are kept that may have to come back."""
        self._attic = attic
        self._kept = 0
        self._durable: dict[Path, int] = {}
        """How many bytes of a file would survive."""
        self._doomed: set[Path] = set()
        """Files of which an fsync failed: what was unsynced then is lost whatever comes after."""
        self._undo: dict[Path, list[Callable[[], object]]] = defaultdict(list)
        """By directory: how to take back what was done to its names since it was synced."""

    def created(self, path: Path) -> None:
        self._durable[path] = 0
        self._undo[path.parent].append(lambda: path.unlink(missing_ok=True))

    def synced(self, path: Path) -> None:
        if path not in self._doomed:
            self._durable[path] = path.stat().st_size

    def failed(self, path: Path) -> None:
        self._doomed.add(path)

    def dir_synced(self, path: Path) -> None:
        self._undo.pop(path, None)

    def renaming(self, source: Path, target: Path) -> None:
        old = self._keep(target) if target.exists() else None
        self._durable[target] = self._durable.pop(source, 0)

        def undo() -> None:
            if target.exists():
                target.rename(source)
                if old is not None:
                    target.hardlink_to(old)

        self._undo[target.parent].append(undo)

    def linking(self, target: Path) -> None:
        if not target.exists():
            self._undo[target.parent].append(lambda: target.unlink(missing_ok=True))

    def removing(self, path: Path) -> None:
        if path.exists():
            kept = self._keep(path)

            def undo() -> None:
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    path.hardlink_to(kept)

            self._undo[path.parent].append(undo)

    def lose_power(self, chance: random.Random) -> None:
        for directory in sorted(self._undo):
            done = self._undo[directory]
            for undo in reversed(done[chance.randint(0, len(done)) :]):
                undo()
        self._undo.clear()
        for path in sorted(self._durable):
            if path.exists():
                size = path.stat().st_size
                least = self._durable[path]
                os.truncate(path, least if path in self._doomed else chance.randint(least, size))
                self._durable[path] = path.stat().st_size

    def _keep(self, path: Path) -> Path:
        self._kept += 1
        kept = self._attic / str(self._kept)
        kept.hardlink_to(path)
        return kept


class BorderDisk(Disk):
    """A process's way to the disk. Each change is a step, at which it may be killed or fail."""

    def __init__(self, process: "Process", platter: Platter) -> None:
        self._process = process
        self._platter = platter
        self._paths: dict[int, Path] = {}
        self._failing = 0
        self._error = 0

    def create(self, path: Path) -> int:
        self._step("create")
        self._platter.created(path)
        fd = super().create(path)
        self._paths[fd] = path
        return fd

    def append(self, fd: int, *pieces: Buffer) -> None:
        data = b"".join(pieces)
        try:
            self._step("append")
            torn = self._process.due("append half")
            if torn is not None:
                super().append(fd, data[: len(data) // 2])
                self._process.suffer(torn)
        except OSError:
            super().append(fd, data[: len(data) // 2])
            raise
        super().append(fd, data)

    def sync(self, fd: int) -> None:
        try:
            self._step("sync")
        except OSError:
            self._platter.failed(self._paths[fd])
            raise
        self._platter.synced(self._paths[fd])
        self._step("synced")

    def sync_file(self, path: Path) -> None:
        self._step("sync file")
        self._platter.synced(path)

    def sync_dir(self, path: Path) -> None:
        self._step("sync dir")
        self._platter.dir_synced(path)

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename")
        self._platter.renaming(source, target)
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._platter.linking(target)
        super().link(source, target)

    def remove(self, path: Path) -> None:
        self._step("remove")
        self._platter.removing(path)
        super().remove(path)

    def _step(self, name: str) -> None:
        fault = self._process.due(name)
        if fault is not None:
            self._process.suffer(fault)
        if fault is not None and fault.kind in {Kind.DISK_FULL, Kind.DISK_BROKEN}:
            self._failing = fault.times
            self._error = errno.ENOSPC if fault.kind is Kind.DISK_FULL else errno.EIO
        if self._failing and name != "synced":
            self._failing -= 1
            raise OSError(self._error, os.strerror(self._error))
