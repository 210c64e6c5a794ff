"""Several processes of one crawl: killed, stopped, orphaned, interrupted.

Afterwards, by the server's log and the store: every page once, no visit sooner than the delay, and
every lease given back.
"""

import asyncio
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mannerly.config import load
from mannerly.opening import existing_crawl
from mannerly.simweb import judge, pages_among
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import MANNERLY, QUICK, Served, arguments, environment, segments, served

pytestmark = pytest.mark.alone

DELAY_S = 0.3
OPTIONS = {
    **QUICK,
    "--delay": f"{DELAY_S}s",
    "--checkpoint-interval": "200ms",
    "--processes": "2",
    "--hang-timeout": "3s",
    "--max-workers": "8",
}
"""So few workers that one process cannot hold all sites, and the others have none."""
SPEC = preset("plain", seed=8, sites=60, pages_mean=8.0, pages_max=24, body_mean=3000,
              links_min=10, links_max=20, latency_s=0.02)  # fmt: skip
SMALL = dataclasses.replace(SPEC, sites=40, pages_mean=4.0, pages_max=10)


class Crawl:
    """`mannerly crawl` with several processes, in a process group of its own, like a terminal's."""

    def __init__(self, web: Served, folder: Path) -> None:
        self.data = folder / "data"
        self._words = ["crawl", "--data-dir", str(self.data), "--connect-to", web.address,
                       *arguments(OPTIONS)]  # fmt: skip
        self._seeds = web.write_seeds(folder / "seeds.txt")
        self.running = self.start("--seed-file", str(self._seeds))

    def start(self, *more: str) -> "subprocess.Popen[str]":
        self.running = subprocess.Popen(
            [*MANNERLY, *self._words, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment(), start_new_session=True)  # fmt: skip
        return self.running

    def children(self) -> list[int]:
        listed = Path(f"/proc/{self.running.pid}/task/{self.running.pid}/children")
        return [int(pid) for pid in listed.read_text().split()]

    def writers(self) -> set[str]:
        """Who has made a page durable and not left."""
        return {path.parent.name for path in segments(self.data)}

    def wait_for(self, done: Callable[[], bool]) -> None:
        deadline_at = time.monotonic() + 60
        while not done():
            assert self.running.poll() is None, self.running.communicate()
            assert time.monotonic() < deadline_at, "it never came"
            time.sleep(0.01)

    def wait_for_new(self, known: set[str], count: int = 1) -> set[str]:
        self.wait_for(lambda: len(self.writers() - known) >= count)
        return known | self.writers()

    def to_the_end(self, timeout_s: float = 60) -> tuple[str, str]:
        try:
            return self.running.communicate(timeout=timeout_s)
        finally:
            self.running.kill()


def test_a_process_that_dies_or_hangs_is_replaced(tmp_path: Path) -> None:
    with served(tmp_path, SPEC) as web:
        crawl = Crawl(web, tmp_path)
        crawl.wait_for_new(set(), count=2)
        dying, hanging = crawl.children()
        os.kill(dying, signal.SIGKILL)
        crawl.wait_for(lambda: len(set(crawl.children()) - {dying, hanging}) == 1)
        # It holds sites, so nobody can finish without it.
        os.kill(hanging, signal.SIGSTOP)
        crawl.wait_for(lambda: len(set(crawl.children()) - {dying, hanging}) == 2)
        out, err = crawl.to_the_end()
        records = web.records()
    assert crawl.running.returncode == 0, err
    assert "finished: nothing is left to do" in out
    assert err.count("died (signal 9)") == 2
    assert err.count("gave no sign of life") == 1
    judge_crawl(web, crawl, records)


def test_processes_without_a_parent_end_and_the_crawl_goes_on(tmp_path: Path) -> None:
    with served(tmp_path, SMALL) as web:
        crawl = Crawl(web, tmp_path)
        crawl.wait_for_new(set(), count=2)
        orphans = crawl.children()
        crawl.running.kill()
        crawl.to_the_end()
        resumed_at = time.monotonic()
        crawl.start("--resume")
        # Not beside them: the directory is theirs until the last one has ended.
        crawl.wait_for(lambda: bool(crawl.writers()) and not any(map(lives, orphans)))
        assert time.monotonic() - resumed_at < 15
        out, err = crawl.to_the_end()
        records = web.records()
    assert crawl.running.returncode == 0, err
    assert "finished" in out
    # They left by themselves and cleanly: nothing was there to be recovered.
    assert "cut off" not in err
    judge_crawl(web, crawl, records)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_all_end_together_and_give_back_what_they_hold(tmp_path: Path, number: int) -> None:
    with served(tmp_path, SPEC) as web:
        crawl = Crawl(web, tmp_path)
        crawl.wait_for_new(set(), count=2)
        children = crawl.children()
        told_at = time.monotonic()
        # A terminal tells the whole group, `kill` tells the one that it knows.
        if number == signal.SIGINT:
            os.killpg(crawl.running.pid, number)
        else:
            crawl.running.send_signal(number)
        out, err = crawl.to_the_end()
        assert time.monotonic() - told_at < 15
        assert not any(map(lives, children))
    assert crawl.running.returncode == 0, err
    assert "stopped by" in out
    assert "died" not in err
    assert "Traceback" not in err
    assert leased(crawl.data) == []
    assert crawl.writers() == set()


def test_a_second_ctrl_c_ends_all_at_once(tmp_path: Path) -> None:
    with served(tmp_path, SPEC) as web:
        crawl = Crawl(web, tmp_path)
        crawl.wait_for_new(set(), count=2)
        children = crawl.children()
        # One that cannot answer keeps the others from being waited for to the end.
        os.kill(children[0], signal.SIGSTOP)
        os.killpg(crawl.running.pid, signal.SIGINT)
        assert crawl.running.stderr is not None
        while "Ctrl-C again quits at once" not in crawl.running.stderr.readline():
            pass
        os.killpg(crawl.running.pid, signal.SIGINT)
        crawl.to_the_end(timeout_s=5)
        assert crawl.running.returncode == 130
        deadline_at = time.monotonic() + 5
        while any(map(lives, children)):
            assert time.monotonic() < deadline_at
            time.sleep(0.01)


def test_one_that_cannot_end_holds_nothing_and_holds_nobody_up(tmp_path: Path) -> None:
    """What it holds is given back; what it has journalled waits for the next start, since nobody
    knows how long that takes."""
    with served(tmp_path, SPEC) as web:
        crawl = Crawl(web, tmp_path)
        crawl.wait_for_new(set(), count=2)
        os.kill(crawl.children()[0], signal.SIGSTOP)
        told_at = time.monotonic()
        crawl.running.send_signal(signal.SIGTERM)
        _, err = crawl.to_the_end()
        assert time.monotonic() - told_at < 15
    assert crawl.running.returncode == 0, err
    assert "ended early: signal 9" in err
    assert leased(crawl.data) == []
    assert len(crawl.writers()) == 1


def judge_crawl(web: Served, crawl: Crawl, records: list[AccessRecord]) -> None:
    expected = reachable(web.web, web.homes())
    assert {record.url for record in records if record.path != judge.ROBOTS} == expected
    with open_store(crawl.data) as store:
        pages = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
        fetches = [url for (url,) in store.execute("SELECT url FROM fetches").fetchall()]
    assert sorted(pages) == sorted(pages_among(web.web, expected))
    assert len(fetches) == len(set(fetches))
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.too_soon(visits, DELAY_S, from_start=True) == []
    assert judge.pages_before_robots(records) == []
    assert judge.disallowed_requests(web.web, records) == []
    assert leased(crawl.data) == []


def leased(data: Path) -> list[str]:
    """Sites that somebody still holds."""

    async def ask() -> list[str]:
        config = load({"data_dir": str(data)}, environ={})
        async with existing_crawl(config) as (frontier, _):
            portion = await frontier.iterate_sites(limit=10_000)
            return [facts.site for facts in portion.sites if facts.leased]

    return asyncio.run(ask())


def lives(pid: int) -> bool:
    """Zombies are dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
