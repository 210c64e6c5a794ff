"""A control group with a limit on memory: what is in it and takes more is killed by the kernel.
Root only."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path("/sys/fs/cgroup")
_HOG = """
import time
held = []
while True:
    held.append(bytearray(b"x") * 2_000_000)
    time.sleep(0.005)
"""
"""Slowly, so that one is killed, and not all before anybody looks."""


class Cage:
    """Version 2 of control groups, or version 1 where the memory is counted by that."""

    def __init__(self, limit: int) -> None:
        old = (ROOT / "memory").is_dir()
        self._folder = (ROOT / "memory" if old else ROOT) / f"mannerly-faults-{os.getpid()}"
        self._limit_file = "memory.limit_in_bytes" if old else "memory.max"
        self._events = "memory.oom_control" if old else "memory.events"
        self._limit = limit

    @property
    def inside(self) -> list[str]:
        """The words that run another command in it, as one of the first to be killed."""
        return self._joining('&& echo 900 > /proc/self/oom_score_adj && exec "$@"')

    def _joining(self, then: str) -> list[str]:
        return ["sh", "-c", f"echo $$ > {self._folder}/cgroup.procs {then}", "sh"]

    def kills(self) -> int:
        """What the kernel killed in it so far."""
        lines = (self._folder / self._events).read_text().splitlines()
        counts = dict(line.split() for line in lines)
        return int(counts["oom_kill"])

    def fill(self) -> "subprocess.Popen[bytes]":
        """A process in it that takes all memory there is, and is the last to be killed."""
        return subprocess.Popen([*self._joining('&& exec "$@"'), sys.executable, "-c", _HOG])

    def __enter__(self) -> Self:
        self._folder.mkdir()
        (self._folder / self._limit_file).write_text(str(self._limit))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in (self._folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        while (self._folder / "cgroup.procs").read_text():
            pass
        self._folder.rmdir()
