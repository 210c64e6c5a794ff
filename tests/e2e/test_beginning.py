"""Two crawls that are begun in one new database at the same moment: one is begun, and it has its
own seeds, all of them and no others."""

import asyncio
from pathlib import Path

import pytest

from mannerly.config import load
from mannerly.opening import existing_crawl
from tests.programs import start
from tests.services.postgres import shared

SEEDS = 8_000
SCHEMA = "begun_twice"


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_of_two_that_begin_one_is_refused(tmp_path: Path, engine: str) -> None:
    place = [f"sqlite:///{tmp_path / 'frontier.db'}"]
    if engine == "postgres":
        place = [shared().url, "--db-schema", SCHEMA]
    crawls = {}
    for name in ("first", "second"):
        seeds = tmp_path / f"{name}.txt"
        seeds.write_text("".join(f"{name}-{number}.example\n" for number in range(SEEDS)))
        # Nobody listens on this port, so there is nothing to crawl, and politeness costs no time.
        crawls[name] = start(
            "crawl", "--data-dir", str(tmp_path / name), "--db-url", *place, "--seed-file",
            str(seeds), "--email", "test@example.org", "--connect-to", "127.0.0.1:9",
            "--max-workers", "4", "--max-duration", "100ms", "--progress", "off",
        )  # fmt: skip
    told = {name: crawl.communicate(timeout=100)[1] for name, crawl in crawls.items()}
    codes = {name: crawl.returncode for name, crawl in crawls.items()}
    assert sorted(codes.values()) == [0, 2], told
    winner, loser = sorted(codes, key=codes.__getitem__)
    assert "--resume" in told[loser]
    flags = {"data_dir": str(tmp_path / winner), "db_url": place[0]}
    if engine == "postgres":
        flags["db_schema"] = SCHEMA
    sites = asyncio.run(known_sites(flags))
    assert len(sites) == SEEDS
    assert all(site.startswith(winner) for site in sites)


async def known_sites(flags: dict[str, str]) -> list[str]:
    async with existing_crawl(load(flags, environ={})) as (frontier, _):
        return [facts.site for facts in (await frontier.iterate_sites(limit=3 * SEEDS)).sites]
