"""What a crawl took from its machine: disk from the files, CPU from what its processes wrote."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from mannerly.datadir import FRONTIER
from mannerly.observe import operations
from mannerly.reporting.figures import Costs


def costs_of(roots: Sequence[Path]) -> Costs:
    """CPU is known of the processes of the last run, or of the one that goes on: an earlier run's
    files are gone. So it is told with the pages that these fetched, and is a cost per page."""
    disk: Counter[str] = Counter()
    for root in roots:
        for name, size in _files(root):
            disk[name] += size
    processes = [process for root in roots for process in operations.read(root)]
    # One that fetched nothing is at its beginning, or of a Mannerly that did not tell.
    counted = [process for process in processes if process.pages]
    return Costs(
        dict(disk.most_common()),
        sum(process.cpu_s for process in counted),
        sum(process.pages for process in counted),
    )


def _files(root: Path) -> Iterator[tuple[str, int]]:
    """Every file by the table, or the folder or file at the top, that it is part of. A crawl that
    runs replaces files meanwhile: what is gone takes no room."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            top = path.relative_to(root).parts[0]
            with suppress(FileNotFoundError):
                yield (FRONTIER if top.startswith(FRONTIER) else top), path.stat().st_size
