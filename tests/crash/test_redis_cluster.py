"""A Redis Cluster in trouble: a master is killed, slots are moved. Real servers and processes."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mannerly.errors import ConfigError, FrontierError
from mannerly.frontier.conformance.shapes import Worker, names, released, settled, url
from mannerly.frontier.contract import Added
from mannerly.frontier.redis import RedisFrontier, TimeOuts
from mannerly.frontier.redis.cluster import slot_of
from tests.crash.test_redis import PROJECT, REST_S, judge, opened, visits_in, wait_for_more
from tests.services.redis import RedisServer
from tests.services.redis_cluster import MASTERS, RedisCluster

NUMBERS = count(1)
SHORT = TimeOuts(connect_s=2, answer_s=5)
GOES_ON_WITHIN_S = 15.0
"""After a master was killed, the rest for as long as the longest lease (3 s here) included."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RedisCluster]:
    with RedisCluster() as cluster:
        yield cluster


@pytest.fixture
def name() -> str:
    return f"cluster_{next(NUMBERS)}"


class Visitors:
    """Three crawlers without a web, as processes of their own."""

    def __init__(self, cluster: RedisCluster, name: str, folder: Path) -> None:
        self.outputs = [folder / f"{number}.jsonl" for number in range(3)]
        program = [sys.executable, "-m", "tests.services.redis_crawler", cluster.url, name]
        self._processes = []
        for output in self.outputs:
            with output.open("w") as file:
                started = subprocess.Popen([*program, str(REST_S)], stdout=file, cwd=PROJECT)
            self._processes.append(started)

    def end(self) -> list[int]:
        """Wait for them; their exit codes."""
        return [process.wait(timeout=90) for process in self._processes]

    def __enter__(self) -> "Visitors":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


async def test_slots_that_are_moved_under_load_cost_retries_only(
    cluster: RedisCluster, name: str, tmp_path: Path
) -> None:
    urls = [url(f"s{number % 60}.example", number) for number in range(1800)]
    async with opened(cluster.url, name, SHORT) as frontier:
        await frontier.add(urls)
    with Visitors(cluster, name, tmp_path) as crawl:
        for _ in range(2):
            wait_for_more(crawl.outputs, 100)
            before = cluster.master_of(name)
            to = next(it for it in cluster.nodes[:MASTERS] if it is not before)
            cluster.move(name, to)
        assert crawl.end() == [0, 0, 0]
    judge(visits_in(crawl.outputs), urls)


async def test_nothing_is_done_while_only_some_keys_have_been_moved(
    cluster: RedisCluster, name: str
) -> None:
    async with opened(cluster.url, name, SHORT) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url(f"s{number}.example", 1) for number in range(40)])
        leases = await worker.lease(2)
        source, slot = cluster.master_of(name), slot_of(f"mannerly:{name}")
        to = next(it for it in cluster.nodes[:MASTERS] if it is not source)
        ids = [it.execute("CLUSTER", "MYID") for it in (source, to)]
        to.execute("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
        source.execute("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
        for part in (0, 10, 500):
            if part:
                cluster.move_keys(source, to, slot, part)
            with pytest.raises(FrontierError, match=r"moving the crawl|a moment ago"):
                await worker.commit(*(settled(it) for it in leases))
            worker.sequence -= 1
            with pytest.raises(FrontierError):
                await frontier.add([url("new.example", 1)])
        for node in (to, source):
            node.execute("CLUSTER", "SETSLOT", slot, "NODE", ids[1])
        assert cluster.master_of(name) is to
        parts = [part for it in leases for part in (settled(it), released(it, 0))]
        await until_done(frontier)
        assert await worker.commit(*parts) == frozenset()
        assert await frontier.add([url("new.example", 1)]) == Added(1, 0, 0)
        stats = await frontier.stats()
        assert (stats.sites, stats.urls_known, stats.fetched) == (41, 41, 2)


async def until_done(frontier: RedisFrontier) -> None:
    """Until it answers again."""
    give_up_at = time.monotonic() + 20
    while True:
        try:
            await frontier.settings()
        except FrontierError:
            assert time.monotonic() < give_up_at
            await asyncio.sleep(0.05)
        else:
            return


async def test_a_master_that_is_killed_under_load(
    cluster: RedisCluster, name: str, tmp_path: Path
) -> None:
    """The last test of this Cluster: a node is gone after it."""
    urls = [url(f"s{number % 60}.example", number) for number in range(1800)]
    async with opened(cluster.url, name, SHORT) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add(urls)
        with Visitors(cluster, name, tmp_path) as crawl:
            wait_for_more(crawl.outputs, 100)
            cluster.master_of(name).kill()
            killed_at = time.monotonic()
            wait_for_more(crawl.outputs, 20)
            assert time.monotonic() - killed_at < GOES_ON_WITHIN_S
            assert crawl.end() == [0, 0, 0]
        judge(visits_in(crawl.outputs), urls)
        await until_done(frontier)
        stats = await frontier.stats()
        assert (stats.fetched, stats.urls_pending) == (1800, 0)
        await frontier.add([url("late.example", 1)])
        assert names(await worker.lease()) == ["late.example"]


async def test_a_url_says_whether_it_is_a_cluster(cluster: RedisCluster, name: str) -> None:
    with pytest.raises(ConfigError, match=r"redis\+cluster://, not redis://"):
        async with opened(cluster.nodes[-1].url, name, SHORT):
            pass
    with RedisServer() as alone:
        address = alone.url.replace("redis://", "redis+cluster://")
        with pytest.raises((ConfigError, FrontierError)):
            async with opened(address, name, SHORT):
                pass
