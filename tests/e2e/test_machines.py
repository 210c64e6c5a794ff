"""Two machines (two data directories) on one PostgreSQL: one joins with the command of the other,
and a limit that one of them has is met to the page."""

import asyncio
import time
from pathlib import Path

from mannerly.config import load
from mannerly.errors import NoCrawlError
from mannerly.frontier.contract import CrawlerFacts
from mannerly.opening import existing_crawl
from mannerly.simweb import judge
from mannerly.simweb.spec import preset
from mannerly.url import SiteKey
from tests.programs import QUICK, arguments, mannerly, served, start
from tests.services.postgres import shared

PAGES = 240
DELAY_S = 0.5
SPEC = preset("plain", seed=5, sites=60, pages_mean=12.0, pages_max=30, body_mean=3000,
              latency_s=0.02)  # fmt: skip


def test_a_second_machine_joins_and_the_limit_holds_for_both(tmp_path: Path) -> None:
    north, south = tmp_path / "north", tmp_path / "south"
    where = {"--db-schema": "two_machines", "--db-url": shared().url}
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        command = [
            "crawl", *arguments(QUICK), "--delay", f"{DELAY_S}s", "--max-workers", "2",
            *arguments(where),
            "--connect-to", web.address, "--seed-file", str(seeds), "--data-dir",
        ]  # fmt: skip
        first = start(*command, str(north), "--processes", "2", "--max-pages", str(PAGES))
        wait_for_crawlers(where, 2)
        second = start(*command, str(south))
        wait_for_crawlers(where, 3)
        status = mannerly("status", "--data-dir", str(south), *arguments(where)).stdout
        ended = {crawl: crawl.communicate(timeout=60) for crawl in (first, second)}
        records = web.records()
    for crawl, (out, err) in ended.items():
        assert crawl.returncode == 0, err
        assert "max-pages reached" in out
    assert "joining the crawl that is running" in ended[second][1]
    assert 1 <= status.count("  crawling   ") <= 3, status
    assert all(list(folder.glob("pages/*.parquet")) for folder in (north, south))
    counted = "SELECT count(*), count(DISTINCT url) FROM fetches WHERE outcome = 'fetched'"
    told = mannerly(
        "query", "--data-dir", str(north), "--data-dir", str(south), "--format", "json", counted
    )
    assert str(PAGES) in told.stdout, told
    assert told.stdout.count(str(PAGES)) == 2
    assert crawlers(where) == []
    assert judge.too_soon(judge.visits(records, SiteKey().site_of), DELAY_S) == []


def wait_for_crawlers(where: dict[str, str], count: int) -> None:
    deadline_at = time.monotonic() + 40
    while len(crawlers(where)) < count:
        assert time.monotonic() < deadline_at
        time.sleep(0.05)


def crawlers(where: dict[str, str]) -> list[CrawlerFacts]:
    async def ask() -> list[CrawlerFacts]:
        flags = {name.removeprefix("--").replace("-", "_"): text for name, text in where.items()}
        async with existing_crawl(load(flags, environ={})) as (frontier, _):
            return await frontier.crawlers()

    try:
        return asyncio.run(ask())
    except NoCrawlError:
        return []
