"""What a crawl takes from the machine at one moment: all its processes together."""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mannerly.observe import operations
from tests.programs import segments

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


class Sample(NamedTuple):
    at: float
    """Unix time."""
    pids: tuple[int, ...]
    rss: int
    """Resident bytes of all processes: what they share is counted in each."""
    own: int
    """Resident bytes that are no file's, with what they share counted once: what a leak adds to."""
    descriptors: int
    threads: int
    cpu_s: float
    """Since they began."""
    in_flight: int
    seats: int
    """Leased sites at the workbenches."""
    unsettled: int
    """Results that wait for a checkpoint."""
    journal: int
    """Bytes that are not rolled yet."""
    disk: int
    """Bytes of the data directory."""
    pages: int


def taken(at: float, pid: int, data: Path) -> Sample:
    """Of the process and its children, as the kernel tells it; and the queues as they write of
    themselves, which is three seconds old at most."""
    pids = (pid, *children(pid))
    told = [it for it in operations.read(data) if not it.ended]
    return Sample(
        at,
        pids,
        rss=sum(map(resident, pids)),
        own=sum(_field(it, "smaps_rollup", "Pss_Anon:") for it in pids) * 1024,
        descriptors=sum(len(list(Path(f"/proc/{it}/fd").iterdir())) for it in pids),
        threads=sum(_field(it, "status", "Threads:") for it in pids),
        cpu_s=sum(_cpu_s(it) for it in pids),
        in_flight=sum(it.strain.in_flight for it in told),
        seats=sum(it.strain.seats for it in told),
        unsettled=sum(it.strain.unsettled for it in told),
        journal=sum(_size(path) for path in segments(data)),
        disk=sum(_size(Path(folder, name)) for folder, _, names in os.walk(data) for name in names),
        pages=sum(it.pages for it in told),
    )


def resident(pid: int) -> int:
    return int(_read(pid, "statm").split()[1]) * _PAGE_BYTES


def resident_most(pid: int) -> int:
    """The most that it ever had, as the kernel kept it."""
    return _field(pid, "status", "VmHWM:") * 1024


def children(pid: int) -> list[int]:
    return [int(it) for it in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _read(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def _field(pid: int, name: str, key: str) -> int:
    (line,) = (it for it in _read(pid, name).splitlines() if it.startswith(key))
    return int(line.split()[1])


def _cpu_s(pid: int) -> float:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):  # rolled while we looked
        return path.stat().st_size
    return 0
