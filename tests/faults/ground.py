"""Where a fault is played: a simulated web, a database, crawlers; and what comes of it."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mannerly.datadir import FRONTIER
from mannerly.selftest import Terms, Trial
from mannerly.selftest.trial import CRAWL_DELAY_S
from mannerly.simweb.spec import WebSpec, preset
from tests.faults.crawl import Crawl, wait_until
from tests.programs import Served, mannerly, served
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

ENGINES = ("sqlite", "postgres", "redis")
END_S = 900.0
"""What is not over so long after the last fault will never be."""
SEED = 6


def web_of(pages: int, *, latency_s: float, per_site: int = 10) -> WebSpec:
    """About so many pages. Pages that are busy at first, sites with a Crawl-delay, redirects: but
    every page can be read in the end, so all that must be there is known."""
    return preset("mixed", seed=SEED, sites=max(10, pages // per_site), traps=False,
                  pages_mean=1.1 * per_site, pages_max=3 * per_site, body_mean=3000,
                  links_min=10, links_max=20, latency_s=latency_s, slow_sites=0.0,
                  https=0.1, crawl_delay_s=CRAWL_DELAY_S, busy_pages=0.05,
                  files=0.0, stalling_sites=0.0, closing_sites=0.0, stalled_pages=0.0,
                  stopped_pages=0.0, cut_pages=0.0, failing_pages=0.0, robots_rules=0.2,
                  robots_delays=0.1, robots_failing=0.0, robots_huge=0.001)  # fmt: skip


@contextmanager
def database(engine: str) -> Iterator[dict[str, str]]:
    """The options that name a private server; none for SQLite, which needs no server."""
    if engine == "postgres":
        with PostgresServer() as postgres:
            yield {"db_url": postgres.url}
    elif engine == "redis":
        with RedisServer() as redis:
            yield {"db_url": redis.url}
    else:
        yield {}


@dataclass
class Ground:
    folder: Path
    web: Served
    database: dict[str, str]
    crawls: list[Crawl] = field(default_factory=list)
    faults: int = 0
    """That were made."""
    began_at: float = field(default_factory=time.monotonic)

    def crawl(self, name: str, **options: str) -> Crawl:
        """A place to crawl from. All of them share one frontier: the first one's file, where there
        is no server."""
        crawl = Crawl(name, self.folder, self.shared() | options)
        self.crawls.append(crawl)
        return crawl

    def shared(self) -> dict[str, str]:
        """The options on which all that crawl here agree."""
        where = self.database
        if not where and self.crawls:
            where = {"db_url": f"sqlite:///{self.crawls[0].data / FRONTIER}"}
        return {**where, "connect_to": self.web.address}

    def start(self, crawl: Crawl) -> None:
        """Begin the crawl, or join it, or go on after its death."""
        if self.crawls[0].begun():
            crawl.start("--resume")
        else:
            crawl.start("--seed-file", str(self.web.write_seeds(self.folder / "seeds.txt")))

    def start_all(self) -> None:
        first, *others = self.crawls
        self.start(first)
        first.until(first.begun)
        for crawl in others:
            self.start(crawl)

    def requests(self) -> int:
        """That the web has answered and logged."""
        return self.web.log.read_bytes().count(b"\n") if self.web.log.exists() else 0

    def until_more(self, requests: int) -> None:
        wanted = self.requests() + requests
        wait_until(lambda: self.requests() >= wanted or self.any_over())

    def any_over(self) -> bool:
        return any(crawl.over() for crawl in self.crawls)

    def until_over(self) -> None:
        wait_until(lambda: all(crawl.over() for crawl in self.crawls), END_S)

    def refused(self) -> int:
        """Leases with which somebody came too late, as `mannerly status` says in the end."""
        told = mannerly("status", "--json", variables=self._variables())
        refused: int = json.loads(told.stdout)["refused"]
        return refused

    def trial(self) -> Trial:
        """What was seen, for the judge. Stops the web, so that its log is whole."""
        terms = Terms(SEED, self.web.web.spec.sites, len(self.crawls), self.faults, self.database)
        first, *others = [crawl.data for crawl in self.crawls]
        also = [word for path in others for word in ("--also", str(path))]
        checked = mannerly("check", *also, timeout_s=300, variables=self._variables())
        return Trial(
            terms,
            self.web.web,
            [first, *others],
            records=self.web.records(),
            breaks={crawl.name: crawl.breaks for crawl in self.crawls},
            failures=[failure for crawl in self.crawls if (failure := crawl.failure())],
            problems=checked.stdout.splitlines()[-20:] if checked.returncode else [],
            kills=self.faults,
            took_s=time.monotonic() - self.began_at,
        )

    def _variables(self) -> dict[str, str]:
        options: Mapping[str, str] = {**self.database, "data_dir": str(self.crawls[0].data)}
        return {f"MANNERLY_{name.upper()}": text for name, text in options.items()}


@contextmanager
def ground(spec: WebSpec, where: Mapping[str, str], host: str = "127.0.0.1") -> Iterator[Ground]:
    """All that runs on it is ended when it is left."""
    with tempfile.TemporaryDirectory(prefix="mannerly-faults-") as name:
        folder = Path(name)
        with served(folder, spec, host=host) as web:
            there = Ground(folder, web, dict(where))
            try:
                yield there
            finally:
                for crawl in there.crawls:
                    crawl.end()


Tell = Callable[[str], None]
