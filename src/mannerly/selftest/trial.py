"""The trial: real processes against a simulated web on this machine, killed at random moments.

Each crawler is the ordinary program with a data directory and a user agent of its own; all of them
share one frontier. Nothing leaves the machine but what goes to the database that was named.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mannerly.datadir import FRONTIER
from mannerly.errors import MannerlyError
from mannerly.simweb.access import AccessRecord, read_log
from mannerly.simweb.spacing import Break
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web

DELAY_S = 0.5
CRAWL_DELAY_S = 2.0
OPTIONS = {
    "email": "selftest@example.org",
    "delay": f"{DELAY_S}s",
    "crawl_delay_ceiling": f"{CRAWL_DELAY_S}s",
    "address_delay": "0",
    "visit_timeout": "2s",
    "retry_delay": "300ms",
    "retry_ceiling": "4s",
    "max_tries": "3",
    "max_failures": "20",
    "max_workers": "100",
    "checkpoint_interval": "300ms",
    "segment_size": "200kB",
    "trap_guard": "no",
    "yield_guard": "no",
    "progress": "off",
}
"""A crawl that is over in a minute, and has a lot to lose at every moment of it. No site is given
up before its last URL is settled, and the simulated web asks for no pause that is longer."""
LONGEST_S = 300.0
"""What is not over by then will never be."""
SETTLE_S = 5.0
"""So long is waited for a crawler to make something durable before it is killed."""


@dataclass(frozen=True, slots=True)
class Terms:
    seed: int
    sites: int
    crawlers: int
    kills: int
    database: dict[str, str] = field(default_factory=dict)
    """Options that name the frontier's database; empty for SQLite in the first data directory."""


@dataclass(slots=True)
class Trial:
    """What was seen."""

    terms: Terms
    web: Web
    data_dirs: list[Path]
    records: list[AccessRecord] = field(default_factory=list)
    """The web server's log."""
    breaks: dict[str, list[Break]] = field(default_factory=dict)
    """When each crawler, by its user agent, was not there."""
    failures: list[str] = field(default_factory=list)
    """Crawlers that did not come to their end."""
    problems: list[str] = field(default_factory=list)
    """What `mannerly check` found."""
    kills: int = 0
    took_s: float = 0.0


def web_of(terms: Terms) -> Web:
    """The hostile preset without endless sites: everything that can be found is known."""
    return Web(
        preset("hostile", seed=terms.seed, sites=terms.sites, traps=False, pages_mean=4.0,
               pages_max=10, body_mean=3000, links_min=10, links_max=20, latency_s=0.05,
               slow_latency_s=0.5, https=0.2, crawl_delay_s=CRAWL_DELAY_S)
    )  # fmt: skip


def carried_out(terms: Terms, folder: Path, tell: Callable[[str], None]) -> Trial:
    """Carry a trial out in `folder`, which is the caller's to remove."""
    web = web_of(terms)
    crawlers = [_Crawler(terms, folder, number) for number in range(terms.crawlers)]
    trial = Trial(terms, web, [crawler.data for crawler in crawlers])
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{web.home(number)}\n" for number in range(terms.sites)))
    log = folder / "access.jsonl"
    began_s = time.monotonic()
    try:
        with _served(terms, log) as address:
            _crawl(trial, crawlers, seeds, address, tell)
    finally:
        for crawler in crawlers:
            crawler.end()
    trial.took_s = time.monotonic() - began_s
    trial.records = list(read_log(log))
    trial.breaks = {crawler.name: crawler.breaks for crawler in crawlers}
    trial.problems = _checked(trial)
    return trial


def _crawl(
    trial: Trial,
    crawlers: list["_Crawler"],
    seeds: Path,
    address: str,
    tell: Callable[[str], None],
) -> None:
    chance = random.Random(trial.terms.seed)  # noqa: S311 - not for secrets
    first = crawlers[0]
    first.start(address, "--seed-file", str(seeds))
    # The crawl is there to be joined when its first page is about to be written.
    _wait(lambda: (first.data / "journal").exists() or first.over(), LONGEST_S)
    for crawler in crawlers[1:]:
        crawler.start(address, "--resume")
    for _ in range(trial.terms.kills):
        victim = chance.choice(crawlers)
        before = victim.written()
        _wait(lambda: victim.written() != before or victim.over(), SETTLE_S)  # noqa: B023
        _wait(victim.over, chance.uniform(0.1, 1.0))
        if victim.over():
            continue  # it has come to the end of the crawl
        victim.kill()
        trial.kills += 1
        tell(f"killed {victim.name} ({trial.kills})")
        victim.start(address, "--resume")
    tell("no more kills; waiting for the end of the crawl")
    _wait(lambda: all(crawler.over() for crawler in crawlers), LONGEST_S)
    trial.failures += [failure for crawler in crawlers if (failure := crawler.failure())]


class _Crawler:
    """One place to crawl from; one process at a time is at it."""

    def __init__(self, terms: Terms, folder: Path, number: int) -> None:
        self.name = f"mannerly/{number}"
        self.data = folder / f"crawler-{number}"
        self.breaks: list[Break] = []
        self._log = folder / f"crawler-{number}.log"
        self._killed_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        database = dict(terms.database)
        if not database and number:
            database = {"db_url": f"sqlite:///{folder / 'crawler-0' / FRONTIER}"}
        self.options = {**OPTIONS, **database, "data_dir": str(self.data), "user_agent": self.name}

    def start(self, address: str, *words: str) -> None:
        # By the environment, since what names a database may hold a password.
        options = {**self.options, "connect_to": address}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603
                [*_MANNERLY, "crawl", *words], env=_environment(options), stdout=log, stderr=log
            )
        if self._killed_at:
            self.breaks.append(Break(self._killed_at, time.time()))
            self._killed_at = 0.0

    def over(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def kill(self) -> None:
        """kill -9, and it is gone when this returns."""
        assert self._process is not None
        self._killed_at = time.time()
        self._process.kill()
        self._process.wait()

    def written(self) -> set[tuple[str, int]]:
        """What its journal looks like: another look differs when something was made durable."""
        found = set()
        for path in self.data.glob("journal/*/*.seg"):
            with suppress(FileNotFoundError):  # rolled while we looked
                found.add((path.name, path.stat().st_size))
        return found

    def failure(self) -> str:
        code = None if self._process is None else self._process.poll()
        if code == 0:
            return ""
        how = "did not come to its end" if code is None else f"ended with code {code}"
        said = self._log.read_text(errors="replace").strip().splitlines()
        return f"{self.name} {how}: {said[-1] if said else 'it said nothing'}"

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


_MANNERLY = [sys.executable, "-m", "mannerly"]


def _environment(options: dict[str, str]) -> dict[str, str]:
    """Without options that the user has in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MANNERLY_")}
    return {**kept, **{f"MANNERLY_{name.upper()}": value for name, value in options.items()}}


@contextmanager
def _served(terms: Terms, log: Path) -> Iterator[str]:
    """The simulated web in a process of its own, stopped when its log is to be read."""
    program = (
        "import sys; from pathlib import Path; from mannerly.selftest.trial import Terms, web_of;"
        "from mannerly.simweb.serve import serve;"
        "web = web_of(Terms(int(sys.argv[1]), int(sys.argv[2]), 0, 0));"
        "serve(web, '127.0.0.1', 0, 1, Path(sys.argv[3]), lambda port: print(port, flush=True))"
    )
    command = [sys.executable, "-c", program, str(terms.seed), str(terms.sites), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            port = _first_line(server.stdout)
            if not port:
                raise MannerlyError("the simulated web did not start; see the message above")
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def _first_line(output: IO[str] | None) -> str:
    assert output is not None
    return output.readline().strip()


def _checked(trial: Trial) -> list[str]:
    """What the crawl's own tool says, after the fact."""
    first, *others = trial.data_dirs
    words = ["check", *(word for path in others for word in ("--also", str(path)))]
    environment = _environment({**trial.terms.database, "data_dir": str(first)})
    done = subprocess.run(  # noqa: S603
        [*_MANNERLY, *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return []
    said = (done.stdout + done.stderr).strip().splitlines()
    return said or [f"mannerly check ended with code {done.returncode}"]


def _wait(done: Callable[[], bool], longest_s: float) -> None:
    """Until it is so, or the time is up."""
    until_at = time.monotonic() + longest_s
    while not done() and time.monotonic() < until_at:
        time.sleep(0.02)
