"""Two crawlers of one crawl, killed and paused: their manners, judged from the server's log.

2,000 sites, many with a Crawl-delay or a Retry-After. One crawler is killed twice and then stopped
(SIGSTOP) for longer than its leases last, so that the other one takes its sites over while it holds
them; the other is killed and stopped in turns. In the end every page is stored once, and no visit
came sooner than the site had asked for.
"""

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mannerly.engine.plan import HOLD_S
from mannerly.simweb import judge
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Kind
from mannerly.simweb.reach import reachable
from mannerly.simweb.spacing import Break, Spacing
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import Served, arguments, mannerly, segments, served, start

DELAY_S = 1.0
CRAWL_DELAY_S = 3.0
VISIT_TIMEOUT_S = 3.0
LEASE_S = HOLD_S + VISIT_TIMEOUT_S + CRAWL_DELAY_S
"""What `EnginePlan` makes of the options below."""
OPTIONS = {
    "--email": "test@example.org",
    "--delay": f"{DELAY_S}s",
    "--crawl-delay-ceiling": f"{CRAWL_DELAY_S}s",
    "--visit-timeout": f"{VISIT_TIMEOUT_S}s",
    "--retry-delay": "500ms",
    "--retry-ceiling": "4s",
    "--max-tries": "12",
    "--max-failures": "12",
    "--max-workers": "24",
    "--checkpoint-interval": "300ms",
    "--progress": "off",
}
"""So few workers that the web's latency bounds the pace, not the machine: where a crawl is nearly
over when its script is, most pauses were broken off and few can be judged in full."""
SPEC = preset("mixed", seed=11, sites=2000, traps=False, pages_mean=3.0, pages_max=8,
              body_mean=3000, links_min=10, links_max=20, latency_s=0.05, slow_latency_s=0.5,
              https=0.1, crawl_delay_s=CRAWL_DELAY_S, busy_pages=0.15, files=0.0,
              stalling_sites=0.0, closing_sites=0.0, stalled_pages=0.0, stopped_pages=0.0,
              cut_pages=0.0, failing_pages=0.0, robots_rules=0.2, robots_delays=0.25,
              robots_failing=0.0, robots_huge=0.001)  # fmt: skip

KILL = 0.0
"""In a script: kill -9 and start again. Any other number: SIGSTOP, and SIGCONT so long after."""
LONG_S = VISIT_TIMEOUT_S + 1
LONGEST_S = LEASE_S + 1
"""Its leases have just lapsed, so that the other one is at its sites when it wakes."""
SETTLE_S = 6.0
"""What it gets to crawl before that: so many links are known then that it holds sites of which
several pages wait for their turn. What is in flight is not sent late anyway: its time is up."""
SCRIPTS = {
    "mannerly/a": (KILL, KILL, LONGEST_S),
    "mannerly/b": (LONG_S, KILL, 0.5, KILL, LONG_S, KILL, 1.5, KILL),
}


@dataclass
class Crawler:
    """One process of the crawl at a time; its user agent is its name."""

    name: str
    data: Path
    words: list[str]
    seeds: Path | None
    breaks: list[Break] = field(default_factory=list)

    def play(self, script: tuple[float, ...]) -> str:
        """Run to the end of the crawl, through what the script says; what it printed last."""
        chance = random.Random(self.name)
        running = self._start()
        try:
            for stopped_s in script:
                settle_s = SETTLE_S if stopped_s == LONGEST_S else 0.5
                self._let_it_crawl(running, chance.uniform(settle_s, settle_s + 1.5))
                from_at = time.time()
                if stopped_s:
                    self._stop(running, between=stopped_s == LONGEST_S)
                    _pass(running, stopped_s)
                    running.send_signal(signal.SIGCONT)
                else:
                    running.kill()
                    running.communicate(timeout=20)
                    running = self._start()
                self.breaks.append(Break(from_at, time.time()))
            out, err = running.communicate(timeout=300)
        finally:
            running.kill()
        assert running.returncode == 0, err
        return out

    def _stop(self, running: "subprocess.Popen[str]", *, between: bool) -> None:
        """SIGSTOP; with `between`, not while it writes to the database: as long as it does, nobody
        else can, and nobody could take its sites over."""
        while True:
            running.send_signal(signal.SIGSTOP)
            wait_until(lambda: state_of(running.pid) == "T")
            if not (between and self._writing(running.pid)):
                return
            running.send_signal(signal.SIGCONT)
            _pass(running, 0.01)

    def _writing(self, pid: int) -> bool:
        """Does it hold one of the locks by which processes take turns?"""
        inodes = {path.stat().st_ino for path in self.data.glob("frontier.db.*")}
        held = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        return any(
            int(words[4]) == pid and int(words[5].split(":")[2]) in inodes
            for words in held
            if words[1] == "FLOCK"
        )

    def _start(self) -> "subprocess.Popen[str]":
        begins = self.seeds is not None and not (self.data / "journal").exists()
        more = ["--seed-file", str(self.seeds)] if begins else ["--resume"]
        return start("crawl", "--data-dir", str(self.data), "--user-agent", self.name,
                     *self.words, *more)  # fmt: skip

    def _let_it_crawl(self, running: "subprocess.Popen[str]", moment_s: float) -> None:
        """Until it has made something durable, and then a moment that nobody chose."""
        before = self._written()
        wait_until(lambda: self._written() != before or running.poll() is not None)
        _pass(running, moment_s)
        assert running.poll() is None, "the crawl was over before its script: " + str(
            running.communicate()
        )

    def _written(self) -> set[tuple[str, int]]:
        found = set()
        for path in segments(self.data):
            try:
                found.add((str(path), path.stat().st_size))
            except FileNotFoundError:  # rolled while we looked
                continue
        return found


@pytest.mark.timeout(500)
def test_two_thousand_sites_get_the_pauses_they_ask_for(tmp_path: Path) -> None:
    with served(tmp_path, SPEC) as web:
        crawlers = make_crawlers(web, tmp_path)
        with ThreadPoolExecutor() as threads:
            first, second = crawlers
            playing = [threads.submit(first.play, SCRIPTS[first.name])]
            # The crawl is there to be joined when its first page is about to be written.
            wait_until(lambda: (first.data / "journal").exists() or playing[0].done())
            playing.append(threads.submit(second.play, SCRIPTS[second.name]))
            for told in playing:
                assert "finished: nothing is left to do" in told.result()
        records = web.records()
    judge_manners(web.web, records, crawlers)
    judge_store(web, records, crawlers)
    judge_audit(records, crawlers)


def make_crawlers(web: Served, directory: Path) -> list[Crawler]:
    """Both use the database in the first one's data directory."""
    seeds = web.write_seeds(directory / "seeds.txt")
    words = ["--connect-to", web.address, *arguments(OPTIONS)]
    joining = ["--db-url", f"sqlite:///{directory / 'a' / 'frontier.db'}"]
    return [
        Crawler("mannerly/a", directory / "a", words, seeds),
        Crawler("mannerly/b", directory / "b", [*words, *joining], None),
    ]


def judge_manners(web: Web, records: list[AccessRecord], crawlers: list[Crawler]) -> None:
    spacing = Spacing(web, DELAY_S, {crawler.name: crawler.breaks for crawler in crawlers})
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.early(visits, spacing.required) == []
    assert judge.pages_before_robots(records) == []
    assert judge.disallowed_requests(web, records) == []
    # The evidence is of every kind, and there is enough of it.
    assert len(visits) >= 0.95 * SPEC.sites
    assert spacing.judged["whole"] > 3000
    assert spacing.judged["crawl-delay"] > 500
    assert spacing.judged["retry-after"] > 100
    assert spacing.judged["broken"] > 500
    assert {record.user_agent for record in records} == set(SCRIPTS)


def judge_store(web: Served, records: list[AccessRecord], crawlers: list[Crawler]) -> None:
    expected = reachable(web.web, web.homes())
    assert {record.url for record in records if record.path != judge.ROBOTS} == expected
    fetched: list[str] = []
    stored: list[str] = []
    for crawler in crawlers:
        with open_store(crawler.data) as store:
            stored += [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
            fetched += [
                url
                for (url,) in store.execute(
                    "SELECT url FROM fetches WHERE outcome <> 'disallowed'"
                ).fetchall()
            ]
    assert sorted(fetched) == sorted(expected)
    assert sorted(stored) == sorted(url for url in expected if is_page(web.web, url))


def judge_audit(records: list[AccessRecord], crawlers: list[Crawler]) -> None:
    """What the crawl's own records say of its manners."""
    first, second = crawlers
    asked = mannerly("audit", "--data-dir", str(first.data), "--also", str(second.data), "--json")
    report = json.loads(asked.stdout)
    assert (asked.returncode, report["violations"]) == (0, [])
    # Missing is what was not durable yet when a process was killed.
    assert 0.8 * len(records) < report["requests"] <= len(records)


def is_page(web: Web, url: str) -> bool:
    answer = web.answer(url, attempt=100)
    return answer.status == 200 and answer.kind is not Kind.SITEMAP and not answer.noindex


def state_of(pid: int) -> str:
    """As the kernel says: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_until(done: Callable[[], bool], timeout_s: float = 120) -> None:
    deadline_at = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < deadline_at, "it never came"
        time.sleep(0.01)


def _pass(running: "subprocess.Popen[str]", seconds: float) -> None:
    """Let time pass, or less if the process ends."""
    with suppress(subprocess.TimeoutExpired):
        running.wait(timeout=seconds)
