"""kill -9 at random moments: the same pages in the end, each stored once, no site visited early."""

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import QUICK, arguments, segments, served, start

pytestmark = pytest.mark.alone

KILLS = 10
DELAY_S = 0.3


def test_ten_kills_change_nothing(tmp_path: Path) -> None:
    chance = random.Random(20)
    spec = preset("plain", seed=8, sites=120, pages_mean=10.0, pages_max=40, body_mean=6000,
                  links_min=10, links_max=20, latency_s=0.02)  # fmt: skip
    data = tmp_path / "data"
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        options = {**QUICK, "--delay": f"{DELAY_S}s", "--checkpoint-interval": "200ms"}
        words = ["crawl", "--data-dir", str(data), "--connect-to", web.address, *arguments(options)]
        first = ["--seed-file", str(seeds)]
        killed = 0
        while True:
            exists = (data / "journal").exists()
            running = start(*words, *(["--resume"] if exists else first))
            if killed < KILLS:
                kill_at_some_moment(running, chance, data)
                killed += 1
                continue
            out, err = running.communicate(timeout=200)
            assert running.returncode == 0, err
            assert "finished" in out
            break
        records = web.records()
    expected = reachable(web.web, web.homes())
    assert {r.url for r in records if r.path != "/robots.txt"} == expected
    with open_store(data) as store:
        pages = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
        fetches = [url for (url,) in store.execute("SELECT url FROM fetches").fetchall()]
    assert sorted(pages) == sorted(pages_among(web.web, expected))
    assert len(fetches) == len(set(fetches))
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.too_soon(visits, DELAY_S, from_start=True) == []
    assert judge.pages_before_robots(records) == []
    assert judge.disallowed_requests(web.web, records) == []
    # What is repeated is what was in flight or not yet durable, not whole seconds of work.
    assert len(judge.fetched_twice(records)) < 0.5 * len(expected)


def kill_at_some_moment(
    running: "subprocess.Popen[str]", chance: random.Random, data: Path
) -> None:
    """Wait until it crawls (its journal grows), then up to a second and a half more."""
    before = journals(data)
    while running.poll() is None and journals(data) == before:
        time.sleep(0.01)
    pause_s = chance.uniform(0.0, 1.5)
    try:
        running.wait(timeout=pause_s)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGKILL)
    running.communicate(timeout=20)


def journals(data: Path) -> set[str]:
    """Names of the journals there are. Directories may vanish while we look."""
    try:
        return {str(path) for path in segments(data)}
    except FileNotFoundError:
        return journals(data)
