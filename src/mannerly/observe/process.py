"""What this process takes from the machine: CPU by thread, memory, descriptors. From /proc, so that
looking costs a few system calls and no library; where there is none, the answers are zero."""

import os
import threading
from contextlib import suppress
from pathlib import Path

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SELF = Path("/proc/self")


def cpu_by_thread() -> dict[str, float]:
    """CPU seconds of each thread that Python knows, by its name; all others (those of libraries)
    together as `other`. What an ended thread used is among the others."""
    named: dict[str, float] = {}
    for thread in threading.enumerate():
        if thread.native_id is not None:
            with suppress(OSError, ValueError, IndexError):
                spent_s = _cpu_s(_SELF / "task" / str(thread.native_id) / "stat")
                named[thread.name] = named.get(thread.name, 0.0) + spent_s
    with suppress(OSError, ValueError, IndexError):
        named["other"] = max(0.0, _cpu_s(_SELF / "stat") - sum(named.values()))
    return named


def _cpu_s(stat: Path) -> float:
    # A thread's name stands in brackets and may hold anything, so fields are counted behind it.
    fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def memory_bytes() -> int:
    """What is resident now."""
    with suppress(OSError, ValueError, IndexError):
        return int((_SELF / "statm").read_text("ascii").split()[1]) * _PAGE_BYTES
    return 0


def open_files() -> int:
    with suppress(OSError):
        return len(list((_SELF / "fd").iterdir())) - 1  # one is for looking
    return 0
