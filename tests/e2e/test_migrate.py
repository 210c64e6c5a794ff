"""A crawl goes from SQLite to PostgreSQL, Redis and back to SQLite, half done each time: refused
where it must be, killed in its middle, and finished as if nothing had been."""

import asyncio
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from mannerly.config import Config, load
from mannerly.errors import (
    CrawlExistsError,
    CrawlMovedError,
    NoCrawlError,
    SettingsDifferError,
    UsageError,
)
from mannerly.joining import check_directory
from mannerly.migrating import Migrated, Place, Told, migrate, undo
from mannerly.opening import existing_crawl
from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import QUICK, arguments, environment, mannerly, served, start
from tests.services import postgres, redis

DELAY_S = 0.3
SPEC = preset("plain", seed=14, sites=40, pages_mean=7.0, pages_max=10, body_mean=3000)
SCHEMA = "migrated"


def test_a_crawl_goes_through_all_engines(tmp_path: Path) -> None:
    data = tmp_path / "data"
    places = [
        f"sqlite:///{data}/frontier.db",
        postgres.shared().url,
        redis.shared().url,
        f"sqlite:///{tmp_path}/last.db",
    ]
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        options = {**QUICK, "--delay": f"{DELAY_S}s", "--connect-to": web.address}
        crawl = ["crawl", *arguments(options), "--data-dir", str(data)]
        out = run(*crawl, "--seed-file", str(seeds), "--max-pages", "50")
        for number, (source, target) in enumerate(pairwise(places), 2):
            schemas = ("--from-schema", SCHEMA, "--to-schema", SCHEMA)
            told = run("migrate", "--data-dir", str(data), *schemas, source, target)
            assert "moved and compared: 40 sites" in told
            limit = ["--max-pages", str(50 * number)] if target != places[-1] else []
            out = run(*crawl, "--resume", *where(target), *limit)
        records = web.records()
    assert "finished: nothing is left to do" in out
    for place, next_one in pairwise(places):
        with pytest.raises(CrawlMovedError, match=f"go on with --db-url {next_one}"):
            counts(place)
    expected = reachable(web.web, web.homes())
    requested = [record.url for record in records if record.path != "/robots.txt"]
    assert sorted(requested) == sorted(expected), "nothing is lost, nothing is asked for twice"
    assert judge.too_soon(judge.visits(records, SiteKey().site_of), DELAY_S) == []
    with open_store(data) as store:
        stored = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    assert sorted(stored) == sorted(pages_among(web.web, expected))


def test_what_is_refused_changes_nothing(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    here, there = f"sqlite:///{data}/frontier.db", f"sqlite:///{other}/frontier.db"
    empty = f"sqlite:///{tmp_path}/empty.db"
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        crawl = ["crawl", *arguments({**QUICK, "--delay": "1h"}), "--connect-to", web.address]
        run(*crawl, "--seed-file", str(seeds), "--data-dir", str(other), "--max-pages", "1")
        running = start(*crawl, "--seed-file", str(seeds), "--data-dir", str(data))
        wait_for_a_page(here)
        refused(data, here, empty, "another crawler is running")
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=20)
    refused(data, here, here, "where the crawl is already")
    refused(other, here, empty, "is not a data directory of this crawl")
    refused(data, empty, here, "there is no crawl in")
    refused(data, "mysql://user:secret@x/y", here, "mysql://user@x/y: sqlite:///PATH")
    refused(data, here, there, "there is a crawl in")
    assert not (tmp_path / "empty.db").exists()
    progress: list[tuple[str, int, int]] = []
    asyncio.run(moved(data, here, empty, lambda *it: progress.append(it)))
    assert_goes_on(progress)
    refused(data, here, f"sqlite:///{tmp_path}/third.db", "was moved; go on with --db-url")
    gone = mannerly(*crawl, "--resume", "--data-dir", str(data))
    assert gone.returncode == 2
    assert f"was moved; go on with --db-url {empty}" in gone.stderr


def test_a_move_that_is_killed_is_taken_back_or_begun_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    here, there = f"sqlite:///{data}/frontier.db", f"sqlite:///{tmp_path}/there.db"
    command = ["migrate", "--data-dir", str(data), here, there]
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        crawl = ["crawl", *arguments(QUICK), "--connect-to", web.address, "--data-dir", str(data)]
        run(*crawl, "--seed-file", str(seeds), "--max-pages", "30")
        before = counts(here)
        killed_at("restore", 2, *command)
        with pytest.raises(CrawlMovedError, match="run `mannerly migrate` again"):
            counts(here)
        with pytest.raises(NoCrawlError):
            counts(there)
        with pytest.raises(SettingsDifferError, match="a crawl that is not in the database"):
            check_directory(data, None)  # what a new crawl there begins with
        asyncio.run(taken_back(data, here, there))
        assert counts(here) == before
        killed_at("create", 1, *command)
        with pytest.raises(NoCrawlError):
            counts(there)
        killed_at("__aexit__", 1, *command)
        assert counts(there) == before
        assert asyncio.run(moved(data, here, there)).weight is None, "it was done before"
        with pytest.raises(CrawlExistsError, match="has arrived"):
            asyncio.run(taken_back(data, here, there))
        assert "nothing is left to do" in run(*crawl, "--resume", *where(there))
        records = web.records()
    requested = {record.url for record in records if record.path != "/robots.txt"}
    assert requested == reachable(web.web, web.homes())


def where(url: str) -> list[str]:
    return ["--db-url", url, *(["--db-schema", SCHEMA] if "sqlite" not in url else [])]


def run(*words: str) -> str:
    done = mannerly(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def moved(data: Path, source: str, target: str, told: Told = lambda *_: None) -> Migrated:
    config = load({"data_dir": str(data)}, environ={})
    places = Place.of(source, "mannerly"), Place.of(target, "mannerly")
    return await migrate(config, *places, told)


def assert_goes_on(progress: list[tuple[str, int, int]]) -> None:
    """As a bar shows it: two parts, each from its beginning to its end."""
    assert list(dict.fromkeys(what for what, *_ in progress)) == ["carried over", "compared"]
    for part in ("carried over", "compared"):
        shown = [(done, total) for what, done, total in progress if what == part]
        assert shown == sorted(set(shown)), "no step back"
        assert len(shown) > 1
        done, total = shown[-1]
        assert done == total > 0


async def taken_back(data: Path, source: str, target: str) -> None:
    config = load({"data_dir": str(data)}, environ={})
    await undo(config, Place.of(source, "mannerly"), Place.of(target, "mannerly"))


def refused(data: Path, source: str, target: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        asyncio.run(moved(data, source, target))
    assert words in str(raised.value)


def counts(url: str) -> tuple[int, int, int]:
    async def ask(config: Config) -> tuple[int, int, int]:
        async with existing_crawl(config) as (frontier, _):
            stats = await frontier.stats()
            return stats.urls_known, stats.urls_pending, stats.fetched

    schema = {} if url.startswith("sqlite") else {"db_schema": SCHEMA}
    return asyncio.run(ask(load({"db_url": url, **schema}, environ={})))


def wait_for_a_page(url: str) -> None:
    deadline_at = time.monotonic() + 60
    while True:
        try:
            if counts(url)[2]:
                return
        except NoCrawlError:
            pass
        assert time.monotonic() < deadline_at
        time.sleep(0.05)


KILLED = """
import os, signal, sys
from mannerly.cli import main
from mannerly.frontier.sqlite import SqliteFrontier

verb, left = sys.argv[1], int(sys.argv[2])
done = getattr(SqliteFrontier, verb)

async def at_last(self, *given):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return await done(self, *given)

setattr(SqliteFrontier, verb, at_last)
sys.argv[1:] = sys.argv[3:]
main()
"""


def killed_at(verb: str, times: int, *words: str) -> None:
    """Run the command line until a verb of the frontier is used so many times; it does not live to
    see the last."""
    program = [sys.executable, "-c", KILLED, verb, str(times), *words]
    done = subprocess.run(program, capture_output=True, check=False, env=environment(), timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
