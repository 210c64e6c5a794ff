"""The database is restarted as after a crash, at once or after a while away.

A crawl goes on with what it holds while the database is away, until that is used up. So it has
resumed when the frontier has committed something again, and another request has come after that.
In a Redis Cluster it is the master that has the crawl as a whole and a third of its sites: away for
long it is replaced, and the time counts from its end.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from mannerly.config import load
from mannerly.errors import FrontierError
from mannerly.frontier.redis.link import LOOK_AGAIN_S
from mannerly.opening import existing_crawl
from mannerly.selftest import Finding
from tests.faults.crawl import wait_until
from tests.faults.ground import Ground, Tell, ground, web_of
from tests.faults.verdict import Verdict, judged
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer
from tests.services.redis_cluster import RedisCluster

LATENCY_S = 0.3
WORKERS = 40
AWAY_S = (0.0, 20.0)
"""By turns. After so long every back-off is as long as it gets."""
WITHIN_S = 10.0
IN_CLUSTER_S = 15.0
"""From the end of the master on, the promotion of its replica included."""
NODE_TIMEOUT_MS = "5000"
"""As docs/redis.md recommends."""
PAGES_EACH = 700
IN_CLUSTER_PAGES_EACH = 1400
"""More: it is given time to recover."""
SCHEMA = "mannerly"

ENGINES = ("postgres", "redis", "redis-cluster")


class Server(Protocol):
    @property
    def url(self) -> str: ...

    def restart(self, away_s: float) -> float:
        """Ended as by a crash, away, started; since when it is waited for."""

    def recover(self) -> None:
        """Until the next one may be made."""


class _Lone:
    """One server, of either kind."""

    def __init__(self, server: PostgresServer | RedisServer) -> None:
        self._server = server
        self.url = server.url

    def restart(self, away_s: float) -> float:
        if isinstance(self._server, PostgresServer):
            self._server.stop(immediate=True)
        else:
            self._server.kill()
        time.sleep(away_s)  # what the fault is
        self._server.start()
        return time.monotonic()

    def recover(self) -> None:
        pass


class _Cluster:
    def __init__(self, cluster: RedisCluster) -> None:
        self._cluster = cluster
        self._away = cluster.nodes[0]
        self.url = cluster.url

    def restart(self, away_s: float) -> float:
        self._away = self._cluster.master_of(SCHEMA)
        ended_at = time.monotonic()
        self._away.kill()
        if not away_s:
            self._away.start()
        return ended_at

    def recover(self) -> None:
        """Who was replaced comes back as a replica. What a master acknowledges before it has one
        again may be lost with it: see docs/redis.md."""
        master = self._cluster.master_of(SCHEMA)
        if master is not self._away:
            self._away.start()
        self._cluster.wait_until(master, b",state=online,", "INFO")
        time.sleep(LOOK_AGAIN_S)


@contextmanager
def _served(engine: str) -> Iterator[Server]:
    match engine:
        case "postgres":
            with PostgresServer() as postgres:
                yield _Lone(postgres)
        case "redis":
            with RedisServer() as redis:
                yield _Lone(redis)
        case _:
            with RedisCluster(cluster_node_timeout=NODE_TIMEOUT_MS) as cluster:
                yield _Cluster(cluster)


def play(engine: str, count: int, tell: Tell) -> Verdict:
    took_s = []
    within_s, pages_each = WITHIN_S, PAGES_EACH
    if engine == "redis-cluster":
        within_s, pages_each = IN_CLUSTER_S, IN_CLUSTER_PAGES_EACH
    with (
        _served(engine) as server,
        ground(web_of(count * pages_each, latency_s=LATENCY_S), {"db_url": server.url}) as there,
    ):
        there.start(there.crawl("a", processes="2", max_workers=str(WORKERS)))
        while there.faults < count:
            there.until_more(200)
            if there.any_over():
                break
            since_at = server.restart(AWAY_S[there.faults % len(AWAY_S)])
            there.faults += 1
            _until_resumed(there, server)
            took_s.append(time.monotonic() - since_at)
            tell(f"restart {there.faults}: resumed after {took_s[-1]:.1f} s")
            server.recover()
        there.until_over()
        trial = there.trial()
        late = [f"{it:.1f} s after the server was up" for it in took_s if it > within_s]
        short = [f"the crawl was over after {len(took_s)}"] if len(took_s) < count else []
        longest_s = max(took_s, default=0.0)
        more = [Finding("it resumes in time", f"{longest_s:.1f} s at most", late + short)]
        return judged(
            trial, there.web.homes(), more,
            away_s=AWAY_S, resumed_within_s=[round(it, 2) for it in took_s],
        )  # fmt: skip


def _until_resumed(there: Ground, server: Server) -> None:
    settled: list[int] = []

    def has_more() -> bool:
        try:
            settled.append(asyncio.run(_settled(server.url)))
        except FrontierError:
            return there.any_over()
        return settled[-1] > settled[0] or there.any_over()

    wait_until(has_more)
    there.until_more(1)


async def _settled(url: str) -> int:
    async with existing_crawl(load({"db_url": url}, environ={})) as (frontier, _):
        return sum((await frontier.stats()).settled.values())
