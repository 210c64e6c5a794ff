"""Figures are kept in `results/` with the command that made them, the machine, the date and the
commit."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


class Measurement:
    """Made before what is measured begins."""

    def __init__(self) -> None:
        self._load = round(os.getloadavg()[0], 2)
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")

    def keep(self, name: str, command: str, figures: object) -> None:
        result = {
            "command": command,
            "commit": _commit(),
            "started_at": self._started_at,
            "machine": f"{os.cpu_count()} cores, {_memory()}, {platform.machine()}, "
            f"{platform.python_implementation()} {platform.python_version()}",
            "load_before": self._load,
            "figures": figures,
        }
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")


def _commit() -> str:
    """The commit that was measured; with a `+` if files differed from it."""
    told = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=RESULTS.parent,
    ).stdout
    return told.strip() or "unknown"


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"
