"""What does a page cost on top of tens of millions of URLs that wait? Prints one JSON line.

    python -m benchmarks.growth.preloaded [--states 10kx50,1Mx10,1Mx50] [--pages 100000]

A state is so many sites with so many pending URLs each. A crawl is begun, its frontier filled (the
first URL of each site through `add`, the rest straight into the tables), and gone on with for so
many pages of an endless web (`benchmarks.web.endless`): all on, delay 0, one process, SQLite. A
state with the sites of the one before grows out of it, crawled pages and all.

Every site is met for the first time, so that a robots.txt is read for every sixteen pages, which is
what a lease brings. The smallest state is what the others are compared with: `growth` is the cost
of a page over the cost there, both scaled by the machine's pace.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.crawl.crawling import MANNERLY
from benchmarks.crawl.webs import WRITTEN
from benchmarks.frontier import bulk
from benchmarks.frontier.engines import SqliteEngine
from benchmarks.frontier.workload import fill
from benchmarks.growth.watching import crawled, telling, window
from benchmarks.web import endless

SCHEME = "http"
SKIPPED = 0.1
"""The share of a run's pages that is not counted: its beginning."""
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


class Crawl:
    """A crawl that is filled and gone on with, by turns."""

    def __init__(self, folder: Path, sites: int, address: str) -> None:
        self._folder = folder
        self._sites = sites
        self._options = ["--connect-to", address, "--max-workers", "500"]
        self._filled = 0
        self._pages = 1
        self._database = folder / "data" / "frontier.db"
        self._one_each_bytes = 0

    def begin(self) -> None:
        """The crawl with its settings, and one page."""
        seeds = self._folder / "seeds.txt"
        seeds.write_text(f"{endless.home(0)}\n")
        command = [
            *MANNERLY, "crawl", "--data-dir", str(self._folder / "data"),
            "--email", "bench@example.org", "--delay", "0", "--progress", "off",
            "--processes", "1", "--seed-file", str(seeds), "--max-pages", "1", *self._options,
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

    def go_on(self, pages: int) -> Figures:
        self._pages += pages
        words = ["--resume", "--max-pages", str(self._pages), *self._options]
        with telling(20_000) as told:
            samples = crawled(words, self._folder, told=told)
        peaks = [json.loads(it.read_text()) for it in (self._folder / "stages").glob("*.json")]
        return {
            **window(samples, int(pages * SKIPPED), pages),
            "begun_with_pending": samples[0].urls - samples[0].settled,
            "first_lease_s": round(next(it.elapsed_s for it in samples if it.pages), 1),
            "peak_rss_mb": round(sum(it["peak_rss_kb"] for it in peaks) / 1024, 1),
            "peak_anon_mb": round(max(it.anon_bytes for it in samples) / 2**20, 1),
        }


def main() -> None:
    options = _options()
    told: list[Figures] = []
    states = [State.parsed(text) for text in options.states.split(",")]
    for sites in dict.fromkeys(state.sites for state in states):
        with tempfile.TemporaryDirectory(dir=options.scratch) as name:
            scratch = Path(name)
            place = endless.written(sites, options.webs, options.folders)
            with endless.served(place, scratch / "nginx") as serving:
                crawl = Crawl(scratch, sites, serving.address)
                crawl.begin()
                for state in states:
                    if state.sites == sites:
                        print(f"filling {state}", file=sys.stderr, flush=True)
                        filled = crawl.fill(state.urls_a_site)
                        os.sync()
                        told.append({"state": f"{state.sites}x{state.urls_a_site}", **filled})
                        told[-1] |= crawl.go_on(options.pages)
                        print(json.dumps(told[-1]), file=sys.stderr, flush=True)
    least = float(str(told[0]["scaled_cpu_ms_per_page"]))
    for it in told:
        it["growth"] = round(float(str(it["scaled_cpu_ms_per_page"])) / least, 3)
    print(json.dumps({"pages": options.pages, "states": told}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth.preloaded", description=__doc__
    )
    parser.add_argument("--states", default="10kx50,1Mx10,1Mx50")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    parser.add_argument("--scratch", type=Path, default=None, help="where the crawl lies: 12 GB")
    return parser.parse_args()


if __name__ == "__main__":
    main()
