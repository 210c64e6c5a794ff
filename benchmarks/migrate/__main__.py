"""What does it cost to move a crawl, and does all of it arrive?

A crawl of a million URLs without a web (every visit is made in no time) goes from SQLite to
PostgreSQL, to Redis and back to SQLite by `mannerly migrate`, a process of its own, and goes on for
a while in each; in the last it is brought to its end. Each move is killed in its middle once before
it is made. Rows are compared one by one, and the time between any two visits to a site is measured.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

from benchmarks.migrate.crawling import Crawl, begin
from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import load
from mannerly.frontier.contract import MOVED_TO, Frontier
from mannerly.frontier.moving import exported
from mannerly.frontier.rows import RobotsRow, Row, SiteRow, WaitingRow

MIGRATE = [sys.executable, "-m", "mannerly", "migrate", "--json"]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Frontier]:
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.Random())
    async with assemble.make_frontier(load({"db_url": url}, environ={}), world) as frontier:
        yield frontier


def canonical(row: Row, index: int) -> tuple[str, int]:
    """A row without what differs between engines, and its instant on the engine's clock. A URL that
    waits is known by its number in its site."""
    match row:
        case SiteRow():
            return repr(row._replace(ready_at=0)), row.ready_at
        case RobotsRow():
            return repr(row._replace(fetched_at=0)), row.fetched_at
        case WaitingRow():
            return repr((row.site, index, row.is_spilt, row.queued._replace(seq=0))), 0
        case _:
            return repr(row), 0


async def all_rows(url: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    last, index = "", 0
    async with opened(url) as frontier:
        async for rows in exported(frontier):
            for row in rows:
                if isinstance(row, WaitingRow):
                    index = index + 1 if row.site == last else 0
                    last = row.site
                found.append(canonical(row, index))
    found.sort()
    return found


async def rows_in(url: str) -> int:
    """Also where no crawl was created."""
    async with opened(url) as frontier:
        return sum([len(rows) async for rows in exported(frontier)])


async def compared(source: str, target: str) -> dict[str, Any]:
    """Robots records are all shifted by the difference of the clocks; a site may rest longer."""
    left, arrived = await all_rows(source), await all_rows(target)
    pairs = list(zip(left, arrived, strict=False))
    shifts = {text: there_at - at for (text, at), (_, there_at) in pairs if at}
    by_ms = {shift for text, shift in shifts.items() if text.startswith("RobotsRow")}
    return {
        "rows": len(left),
        "rows_arrived": len(arrived),
        "rows_that_differ": sum(one[0] != other[0] for one, other in pairs)
        + abs(len(left) - len(arrived)),
        "shifts_of_robots": len(by_ms),
        "sites_made_early": sum(shift < min(by_ms) for shift in shifts.values()),
    }


def move(data: Path, source: str, target: str, kill_after_s: float = 0.0) -> dict[str, Any]:
    started_at = time.monotonic()
    command = [*MIGRATE, "--data-dir", str(data), source, target]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    if kill_after_s:
        time.sleep(kill_after_s)
        process.send_signal(signal.SIGKILL)
    peak_kb = 0
    while (now_kb := _peak_kb(process.pid)) is not None:
        peak_kb = now_kb
        time.sleep(0.1)
    assert process.stdout is not None
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    taken: dict[str, Any] = {
        "exit_code": process.returncode,
        "wall_s": round(time.monotonic() - started_at, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": peak_kb // 1024,
    }
    report = json.loads(told) if told else {}
    report.pop("to", None)  # a folder that is gone
    return {**taken, **report}


def _peak_kb(pid: int) -> int | None:
    """None when it has ended. (What `wait4` tells counts the memory of who started it.)"""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) if found else None


async def measured(
    data: Path, places: list[str], sites: int, urls: int, delay_s: float, kill_after_s: float
) -> dict[str, Any]:
    await begin(data, opened(places[0]), sites, urls, delay_s)
    crawl = Crawl(delay_s)
    share = sites * urls // (len(places) + 3)
    async with opened(places[0]) as frontier:
        await crawl.go_on(frontier, share)
        stats = await frontier.stats()
    moves = []
    for source, target in pairwise(places):
        killed = move(data, source, target, kill_after_s)
        killed["rows_by_then"] = await rows_in(target)
        done = move(data, source, target)
        assert done["exit_code"] == 0, done
        is_last = target == places[-1]
        rows = await compared(source, target)
        async with opened(source) as frontier:
            assert MOVED_TO in (await frontier.settings() or {})
        async with opened(target) as frontier:
            pages = await crawl.go_on(frontier, 0 if is_last else share)
            stats = await frontier.stats()
        hop = f"{source.partition(':')[0]} to {target.partition(':')[0]}"
        moves.append({"hop": hop, "killed": killed, "done": done, **rows, "pages_after": pages})
    return {
        "sites": sites,
        "urls": sites * urls,
        "delay_s": delay_s,
        "moves": moves,
        "visits": crawl.visits,
        "urls_visited_twice": crawl.repeats,
        "shortest_gap_s": round(crawl.shortest_gap_s, 3),
        "pending_at_the_end": stats.urls_pending,
        "settled_at_the_end": sum(stats.settled.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=100_000)
    parser.add_argument("--urls-per-site", type=int, default=10)
    parser.add_argument("--delay-s", type=float, default=20.0)
    parser.add_argument("--kill-after-s", type=float, default=10.0)
    given = parser.parse_args()
    size = (given.sites, given.urls_per_site, given.delay_s, given.kill_after_s)
    with (
        tempfile.TemporaryDirectory() as folder,
        PostgresServer() as postgres,
        RedisServer() as redis,
    ):
        data = Path(folder) / "data"
        data.mkdir()
        places = [
            f"sqlite:///{data}/frontier.db",
            postgres.url,
            redis.url,
            f"sqlite:///{data}/last.db",
        ]
        print(json.dumps(asyncio.run(measured(data, places, *size))))


if __name__ == "__main__":
    main()
