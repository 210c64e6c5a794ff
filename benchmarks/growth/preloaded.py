"""What does a page cost on top of tens of millions of URLs that wait? Prints one JSON line.

    python -m benchmarks.growth.preloaded [--small 10kx50] [--states 1Mx10,1Mx50]
                                          [--turn 50000] [--rounds 2] [--webs DIR]

A state is so many sites with so many pending URLs each. A crawl is begun, its frontier filled (the
first URL of each site through `add`, the rest straight into the tables), and gone on with for so
many pages of an endless web (`benchmarks.web.endless`): all on, delay 0, one process, SQLite. Each
state grows out of the one before, crawled pages and all.

Every site is met for the first time, so that a robots.txt is read for every sixteen pages, which is
what a lease brings. `growth` is what a page costs over one on a small state of the same kind
(`--small`), on a copy of which a crawl goes on by turns with the large one.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.crawl.crawling import MANNERLY
from benchmarks.crawl.webs import WRITTEN
from benchmarks.frontier import bulk
from benchmarks.frontier.engines import SqliteEngine
from benchmarks.frontier.workload import fill
from benchmarks.growth.turns import Stopped, by_turns
from benchmarks.web import endless

SCHEME = "http"
Figures = dict[str, object]


class State(NamedTuple):
    sites: int
    urls_a_site: int

    @classmethod
    def parsed(cls, text: str) -> "State":
        """`1Mx50`."""
        sites, _, urls = text.partition("x")
        number = float(sites.rstrip("kM"))
        number *= {"k": 1_000, "M": 1_000_000}.get(sites[-1], 1)
        return cls(int(number), int(urls))

    @property
    def urls(self) -> int:
        return self.sites * self.urls_a_site


class Filled:
    """A crawl whose frontier is filled, and gone on with in between."""

    def __init__(self, folder: Path, sites: int, options: Sequence[str]) -> None:
        self.crawl = Stopped(folder, options)
        self._sites = sites
        self._filled = 0
        self._database = folder / "data" / "frontier.db"
        self._one_each_bytes = 0
        self._begin()

    def _begin(self) -> None:
        """The crawl with its settings, and one page."""
        folder, options = self.crawl
        folder.mkdir()
        seeds = folder / "seeds.txt"
        seeds.write_text(f"{endless.home(0)}\n")
        command = [
            *MANNERLY, "crawl", "--data-dir", str(folder / "data"), "--email", "bench@example.org",
            "--delay", "0", "--progress", "off", "--processes", "1", "--seed-file", str(seeds),
            "--max-pages", "1", *options,
        ]  # fmt: skip
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    def fill(self, urls_a_site: int) -> Figures:
        """Up to so many URLs a site, those that were crawled included."""
        began_at = time.monotonic()
        engine = SqliteEngine(self._database)
        if not self._filled:
            asyncio.run(self._add_first(engine))
            engine.settle()
            self._filled = 1
            self._one_each_bytes = engine.disk_bytes()
        before = engine.disk_bytes()
        more = urls_a_site - self._filled
        added = bulk.into_sqlite(self._database, self._filled, more, SCHEME) if more else 0
        engine.settle()
        self._filled += more
        a_url = (engine.disk_bytes() - before) / max(1, added)
        return {
            "fill_s": round(time.monotonic() - began_at, 1),
            "bytes_per_url": round(a_url, 1),
            "bytes_per_site": round(self._one_each_bytes / self._sites - a_url, 1),
        }

    async def _add_first(self, engine: SqliteEngine) -> None:
        async with engine.open() as frontier:
            for batch in fill(self._sites, 0, 1, SCHEME):
                await frontier.add(batch)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.scratch) as name, ExitStack() as servers:
        scratch = Path(name)

        def begun(sites: int, kind: str) -> Filled:
            place = endless.written(sites, options.webs, options.folders)
            serving = servers.enter_context(endless.served(place, scratch / f"nginx-{kind}"))
            words = ["--connect-to", serving.address, "--max-workers", "500"]
            return Filled(scratch / kind, sites, words)

        of_small, first, *more = map(State.parsed, [options.small, *options.states.split(",")])
        small, large = begun(of_small.sites, "small"), begun(first.sites, "large")
        small.fill(of_small.urls_a_site)
        told: list[Figures] = []
        for state in (first, *more):
            print(f"filling {state}", file=sys.stderr, flush=True)
            filled = large.fill(state.urls_a_site)
            turns = by_turns(small.crawl, large.crawl, pages=options.turn, rounds=options.rounds)
            told.append({"state": f"{state.sites}x{state.urls_a_site}", **filled, **turns})
            print(json.dumps(told[-1]), file=sys.stderr, flush=True)
    print(json.dumps({"small": options.small, "turn_pages": options.turn, "states": told}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth.preloaded", description=__doc__
    )
    parser.add_argument("--small", default="10kx50")
    parser.add_argument("--states", default="1Mx10,1Mx50", help="of the same sites, growing")
    parser.add_argument("--turn", type=int, default=50_000, help="pages")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    parser.add_argument("--scratch", type=Path, default=None, help="where the crawl lies: 12 GB")
    return parser.parse_args()


if __name__ == "__main__":
    main()
