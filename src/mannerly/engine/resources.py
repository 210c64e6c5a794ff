"""What the machine has left for this process: memory up to a limit, and room on its disks.

Both are looked at once a second by `overload`, which does less at once when memory gets short and
nothing new while a disk is nearly full: what is in flight is still made durable, and that is what
the room is left for.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from mannerly import memory
from mannerly.observe.words import size_text
from mannerly.units import HALF, LEAST_MEMORY

FULL = 0.9
"""From this part of the limit on, memory is short: the next second may bring as much again."""
ROOMY = 0.8
"""Below this part, more may be done at once."""
LITTLE = 0.05
"""Of the limit. Where trimming gives back no more than this, memory is really in use."""
LOOKS_BETWEEN = 10
"""Then it is not trimmed at the next so many looks."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Memory of this process, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0


def machine_bytes() -> int:
    """Memory of this machine, or of the container that this process is in."""
    found = [os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            told = Path("/sys/fs/cgroup", name).read_text().strip()
        except OSError:
            continue
        found += [int(told)] if told.isdigit() else []
    return min(found)


def memory_bytes(limit: int) -> int:
    """`--memory-limit` in bytes: `HALF` is half of the machine's, and what the program needs at
    least."""
    return max(machine_bytes() // 2, LEAST_MEMORY) if limit == HALF else limit


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class Resources:
    """A limit of 0 is none."""

    def __init__(
        self,
        memory_limit: int = 0,
        min_free_disk: int = 0,
        folders: Sequence[Path] = (),
        *,
        resident: Callable[[], int] = resident_bytes,
        trim: Callable[[], None] = memory.trim,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._memory_limit = memory_bytes(memory_limit)
        self._min_free_disk = min_free_disk
        self._folders = folders
        self._resident = resident
        self._trim = trim
        self._looks_to_trim = 0
        self._free = free

    @property
    def memory_limit(self) -> int:
        """In bytes; 0 is none."""
        return self._memory_limit

    def memory_share(self) -> float:
        """How much of the memory it may have is in use; 0 without a limit.

        Resident is also what was freed and not given back. So where it seems to be short, it is
        given back first: else a burst of large pages leaves a crawl at one visit at a time, for
        ever.
        """
        if not self._memory_limit:
            return 0.0
        share = self._resident() / self._memory_limit
        self._looks_to_trim = max(0, self._looks_to_trim - 1)
        if share < ROOMY or self._looks_to_trim:
            return share
        self._trim()
        trimmed = self._resident() / self._memory_limit
        if share - trimmed < LITTLE:
            self._looks_to_trim = LOOKS_BETWEEN
        return trimmed

    def shortage(self) -> str:
        """Which disk is nearly full, in words; '' if none is."""
        if not self._min_free_disk:
            return ""
        for folder in self._folders:
            try:
                free = self._free(folder)
            except OSError:
                continue  # whoever writes there tells what is wrong with it
            if free < self._min_free_disk:
                return (
                    f"only {size_text(free)} are free in {folder}, and --min-free-disk is "
                    f"{size_text(self._min_free_disk)}; make room, and it goes on by itself"
                )
        return ""
