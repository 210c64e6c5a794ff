"""A crawl that is looked at while it runs, so that one run tells what a page cost at each size.

Pages and CPU time are those that the crawl's processes write of themselves every three seconds,
both at one moment (`DIR/operations`). Known and settled URLs are the frontier's own counts, read
beside the crawl; memory is read from `/proc`. The machine's pace is looked at twice a second, and
what was spent between two looks is scaled by it before it is added up.
"""

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from benchmarks import yardstick
from benchmarks.bytecode import make_bytecode
from benchmarks.crawl.crawling import MANNERLY, SAMPLER, STAGES
from mannerly.model import Outcome
from mannerly.observe import operations

LOOK_S = 0.5
FRONTIER_CALLS = ("lease", "commit", "add")


@dataclass(frozen=True, slots=True)
class Sample:
    """How the crawl stood at one moment. What is counted is counted from its beginning."""

    pages: int = 0
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    scaled_s: float = 0.0
    """CPU time as it would have been at a pace of 1."""
    urls: int = 0
    settled: int = 0
    """Of all outcomes, robots.txt's no included; `urls` less these are pending."""
    fetched: int = 0
    """By the frontier's count, which is taken with `urls` and a little behind `pages`."""
    sites: int = 0
    rss_bytes: int = 0
    anon_bytes: int = 0
    """Of `rss_bytes`, what is no file's."""
    written_bytes: int = 0
    """To disk, the log and the journal included."""
    frontier_bytes: int = 0
    in_flight: int = 0
    calls_s: dict[str, float] = field(default_factory=dict)
    """Elapsed time in the frontier's calls."""
    stages_s: dict[str, float] = field(default_factory=dict)


def window(samples: Sequence[Sample], first: int, last: int) -> dict[str, object]:
    """What a page cost between the last sample with `first` pages at most and the first with
    `last`; from the beginning, and to the last of all, where there is none."""
    begin = next((it for it in reversed(samples) if it.pages <= first), Sample())
    end = next((it for it in samples if it.pages >= last), samples[-1])
    pages = end.pages - begin.pages
    within = [it for it in samples if begin.pages <= it.pages <= end.pages]
    a_page = 1000 / max(1, pages)
    cpu_s, scaled_s = end.cpu_s - begin.cpu_s, end.scaled_s - begin.scaled_s
    fetched = max(1, end.fetched - begin.fetched)
    written_bytes = end.written_bytes - begin.written_bytes
    stages_s = Counter(end.stages_s)
    stages_s.subtract(begin.stages_s)
    return {
        "from_pages": begin.pages,
        "to_pages": end.pages,
        "cpu_ms_per_page": round(cpu_s * a_page, 3),
        "scaled_cpu_ms_per_page": round(scaled_s * a_page, 3),
        "pace": round(cpu_s / scaled_s, 2) if scaled_s else 0.0,
        "pages_per_s": round(pages / max(0.001, end.elapsed_s - begin.elapsed_s), 1),
        "new_urls_per_page": round((end.urls - begin.urls) / fetched, 2),
        "urls_pending": end.urls - end.settled,
        "sites": end.sites,
        "rss_mb": _mb(statistics.median(it.rss_bytes for it in within)),
        "anon_mb": _mb(statistics.median(it.anon_bytes for it in within)),
        "in_flight": round(statistics.median(it.in_flight for it in within)),
        "written_kb_per_page": round(written_bytes / 1024 / max(1, pages), 1),
        "frontier_mb": _mb(end.frontier_bytes),
        "wall_ms_per_page": {
            name: round((end.calls_s.get(name, 0.0) - begin.calls_s.get(name, 0.0)) * a_page, 3)
            for name in FRONTIER_CALLS
        },
        "scaled_stages_ms_per_page": {
            stage: round(stages_s[stage] * a_page * (scaled_s / cpu_s if cpu_s else 1), 3)
            for stage in STAGES
        },
    }


def _mb(size: float) -> float:
    return round(size / 2**20, 1)


def crawled(
    options: Sequence[str], folder: Path, *, told: Callable[[Sample], None] = lambda _: None
) -> list[Sample]:
    """Run `mannerly crawl` with these options on `folder / "data"`; it is given each sample."""
    make_bytecode()
    stages_dir = folder / "stages"
    stages_dir.mkdir(parents=True, exist_ok=True)
    for old in stages_dir.iterdir():
        old.unlink()
    data_dir = folder / "data"
    command = [
        *MANNERLY, "crawl", "--data-dir", str(data_dir), "--email", "bench@example.org",
        "--delay", "0", "--progress", "off", "--processes", "1", *options,
    ]  # fmt: skip
    paths = [str(SAMPLER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "STAGES_DIR": str(stages_dir),
        "STAGES_EVERY_S": "2",
    }
    began_at = time.time()
    samples: list[Sample] = []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    watch = _Watch(process.pid, data_dir, stages_dir, began_at)
    running = True
    while running:
        time.sleep(LOOK_S)
        running = process.poll() is None  # one look more after its end, at what it wrote there
        sample = watch.look()
        if sample is not None:
            samples.append(sample)
            told(sample)
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    samples[-1] = replace(samples[-1], stages_s=_stages(stages_dir))
    return samples


class _Watch:
    def __init__(self, pid: int, data_dir: Path, stages_dir: Path, began_at: float) -> None:
        self._pid = pid
        self._data_dir = data_dir
        self._stages_dir = stages_dir
        self._began_at = began_at
        self._paces: list[float] = []
        self._last = Sample()
        self._written_at = began_at

    def look(self) -> Sample | None:
        """None where the crawl has written nothing new."""
        self._paces.append(yardstick.pace())
        written = [it for it in operations.read(self._data_dir) if it.written_at > self._began_at]
        if not written or max(it.written_at for it in written) <= self._written_at:
            return None
        self._written_at = max(it.written_at for it in written)
        cpu_s = sum(it.cpu_s for it in written)
        pace, self._paces = statistics.median(self._paces), []
        calls_s = Counter[str]()
        for it in written:
            calls_s.update({name: it.operations[name].total_s for name in it.operations})
        rss_bytes, anon_bytes, written_bytes = _taken(self._pid) or (
            # Of one that has just ended there is nothing to be read.
            self._last.rss_bytes,
            self._last.anon_bytes,
            self._last.written_bytes,
        )
        of_frontier = counts(self._data_dir / "frontier.db")
        self._last = Sample(
            pages=sum(it.pages for it in written),
            elapsed_s=self._written_at - self._began_at,
            cpu_s=cpu_s,
            scaled_s=self._last.scaled_s + (cpu_s - self._last.cpu_s) / pace,
            urls=of_frontier.urls,
            settled=of_frontier.settled,
            fetched=of_frontier.fetched,
            sites=of_frontier.sites,
            rss_bytes=rss_bytes,
            anon_bytes=anon_bytes,
            written_bytes=written_bytes,
            frontier_bytes=(self._data_dir / "frontier.db").stat().st_size,
            in_flight=sum(it.strain.in_flight for it in written),
            calls_s={name: calls_s[name] for name in calls_s},
            stages_s=_stages(self._stages_dir),
        )
        return self._last


class Counts(NamedTuple):
    urls: int
    settled: int
    fetched: int
    sites: int


def counts(path: Path) -> Counts:
    """What the frontier counts, read beside whoever is using it."""
    totals = Counter[tuple[str, int]]()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        found = connection.execute(
            "SELECT name, outcome, sum(count) FROM tally GROUP BY name, outcome"
        )
        for name, outcome, count in found:
            totals[name, outcome] = count
    return Counts(
        urls=totals["urls", 0],
        settled=sum(count for (name, _), count in totals.items() if name == "settled"),
        fetched=totals["settled", int(Outcome.FETCHED)],
        sites=totals["sites", 0],
    )


def _taken(pid: int) -> tuple[int, int, int] | None:
    """Resident bytes of a process and its children, those of them that are no file's, and bytes
    that they wrote to disk."""
    totals = Counter[str]()
    for each in _family(pid):
        with suppress(OSError):
            for file in ("status", "io"):
                for line in Path(f"/proc/{each}/{file}").read_text().splitlines():
                    name, _, value = line.partition(":")
                    if name in ("VmRSS", "RssAnon", "write_bytes"):
                        totals[name] += int(value.split()[0])
    if not totals["VmRSS"]:
        return None
    return totals["VmRSS"] * 1024, totals["RssAnon"] * 1024, totals["write_bytes"]


def _family(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield from _family(int(child))


def _stages(stages_dir: Path) -> dict[str, float]:
    total = Counter[str]()
    for path in stages_dir.glob("*.json"):
        total.update(json.loads(path.read_text())["stages"])
    return dict(total)


@contextmanager
def telling(every_pages: int) -> Iterator[Callable[[Sample], None]]:
    """A line on stderr for each so many pages: the runs are long."""
    next_at = 0

    def tell(it: Sample) -> None:
        nonlocal next_at
        if it.pages >= next_at:
            next_at = it.pages + every_pages
            pending = it.urls - it.settled
            print(
                f"{it.elapsed_s:.0f} s: {it.pages:,} pages, {it.cpu_s:.0f} s of CPU "
                f"({it.scaled_s:.0f} scaled), {pending:,} pending, {_mb(it.rss_bytes)} MiB",
                file=sys.stderr,
                flush=True,
            )

    yield tell
