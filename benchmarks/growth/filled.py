"""Stopped crawls with so many URLs that wait: filled once and kept, since that takes minutes.

    python -m benchmarks.growth.filled 10kx50 1Mx10 1Mx50

A crawl is begun with one page, then its frontier is filled: the first URL of each site through
`add`, which makes the sites, the rest straight into the tables.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.crawl.crawling import MANNERLY
from benchmarks.crawl.webs import WRITTEN
from benchmarks.frontier import bulk
from benchmarks.frontier.engines import SqliteEngine
from benchmarks.frontier.workload import fill
from benchmarks.web import endless

STATES = WRITTEN.with_name("states")
SCHEME = "http"
DONE = "done.json"


class State(NamedTuple):
    """So many sites with so many pending URLs each."""

    sites: int
    urls_a_site: int

    @classmethod
    def parsed(cls, text: str) -> "State":
        """`1Mx50`."""
        sites, _, urls = text.partition("x")
        number = float(sites.rstrip("kM"))
        number *= {"k": 1_000, "M": 1_000_000}.get(sites[-1], 1)
        return cls(int(number), int(urls))

    def __str__(self) -> str:
        return f"{self.sites}x{self.urls_a_site}"


class Filled(NamedTuple):
    folder: Path
    """In it `data`, the crawl's directory: to be copied, not to be gone on with."""
    bytes_per_url: float
    bytes_per_site: float
    """Without its URLs."""


def filled(state: State, folder: Path, web: Path) -> Filled:
    """A crawl in this state, in a folder of its own inside `folder`; `web` are the files of the
    endless web that it begins in. It is made if it is not there whole."""
    place = folder / str(state)
    if not (place / DONE).exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _begin(place, web)
        (place / DONE).write_text(json.dumps(_fill(place / "data" / "frontier.db", state)))
    return Filled(place, *json.loads((place / DONE).read_text()))


def _begin(place: Path, web: Path) -> None:
    """The crawl with its settings, and one page."""
    seeds = place / "seeds.txt"
    seeds.write_text(f"{endless.home(0)}\n")
    with endless.served(web, place / "nginx") as serving:
        command = [
            *MANNERLY, "crawl", "--data-dir", str(place / "data"), "--email", "bench@example.org",
            "--delay", "0", "--progress", "off", "--processes", "1", "--seed-file", str(seeds),
            "--connect-to", serving.address, "--max-pages", "1",
        ]  # fmt: skip
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def _fill(database: Path, state: State) -> tuple[float, float]:
    """What a URL takes on disk, and a site without its URLs."""
    engine = SqliteEngine(database)
    asyncio.run(_add_first(engine, state.sites))
    engine.settle()
    one_each_bytes = engine.disk_bytes()
    added = bulk.into_sqlite(database, 1, state.urls_a_site - 1, SCHEME)
    engine.settle()
    a_url = (engine.disk_bytes() - one_each_bytes) / max(1, added)
    return round(a_url, 1), round(one_each_bytes / state.sites - a_url, 1)


async def _add_first(engine: SqliteEngine, sites: int) -> None:
    async with engine.open() as frontier:
        for batch in fill(sites, 0, 1, SCHEME):
            await frontier.add(batch)


if __name__ == "__main__":
    for state in map(State.parsed, sys.argv[1:]):
        print(filled(state, STATES, endless.written(state.sites, WRITTEN)), flush=True)
