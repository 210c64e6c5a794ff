"""Part of a core for each process of a crawl: as on a machine with cores to spare, and slower ones.

A control group of the kernel's (version 2, or the `cpu` of version 1) holds all processes of a
crawl to so much CPU time together. Root only.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


@contextmanager
def held_to(cores: float) -> Iterator[list[str]]:
    """The words that run a command with no more than that; none where `cores` is 0."""
    if not cores:
        yield []
        return
    old = (ROOT / "cpu").is_dir()
    group = (ROOT / "cpu" if old else ROOT) / f"mannerly-crawl-{os.getpid()}"
    group.mkdir()
    try:
        quota_us = int(cores * PERIOD_US)
        if old:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    finally:
        group.rmdir()
