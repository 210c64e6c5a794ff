"""A Redis Cluster in trouble: a master is killed, slots are moved. Real servers and processes."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mannerly.errors import ConfigError, FrontierError, SchemaError
from mannerly.frontier.conformance.shapes import Worker, names, released, settled, url
from mannerly.frontier.contract import Added, WriterState
from mannerly.frontier.redis import TimeOuts, link
from mannerly.frontier.redis.cluster import CRAWL, slots_of
from mannerly.frontier.redis.packing import bucket_of
from mannerly.model import Lease
from tests.crash.test_redis import (
    PROJECT,
    REST_S,
    judge,
    opened,
    until_done,
    visits_in,
    wait_for_more,
)
from tests.services.redis import USUAL, VALKEY, RedisServer
from tests.services.redis_cluster import MASTERS, RedisCluster

NUMBERS = count(1)
SHORT = TimeOuts(connect_s=2, answer_s=5)
GOES_ON_WITHOUT_S = 40.0
"""A master that says nothing. On one server an answer may take 60 s."""
LOST_S = 3.0
"""A lease that may have been lost with a master. What it had rests so long when it is back."""
GOES_ON_WITHIN_S = 15.0
"""After a master was killed, the rest for as long as the longest lease (3 s here) included."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RedisCluster]:
    with RedisCluster() as cluster:
        yield cluster


@pytest.fixture(params=dict.fromkeys((USUAL, VALKEY)))
def pair(request: pytest.FixtureRequest) -> Iterator[RedisCluster]:
    """Two masters and no replica, of each program: what they say of slots is not the same."""
    with RedisCluster(2, 0, request.param) as cluster:
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
    # The crawlers hear of it when it has something that is theirs.
    new = cluster.join()
    with Visitors(cluster, name, tmp_path) as crawl:
        for part in (CRAWL, 3, 17):
            wait_for_more(crawl.outputs, 100)
            to = another(cluster, cluster.master_of(name)) if part == CRAWL else new
            cluster.move(name, to, part)
        assert crawl.end() == [0, 0, 0]
        assert {cluster.master_of(name, part) for part in (3, 17)} == {new}
    judge(visits_in(crawl.outputs), urls)


async def test_nothing_is_done_while_only_some_keys_have_been_moved(
    pair: RedisCluster, name: str
) -> None:
    *sites, new = in_bucket(5, 41)
    async with opened(pair.url, name, SHORT) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url(site, 1) for site in sites])
        leases = await worker.lease(2)
        source, slot = pair.master_of(name, 5), slots_of(name)[5]
        to = another(pair, source)
        ids = begin_to_move(source, to, slot)
        for part in (0, 10, 500):
            if part:
                pair.move_keys(source, to, slot, part)
            with pytest.raises(FrontierError, match=r"moving|a moment ago"):
                await worker.commit(*(settled(it) for it in leases))
            worker.sequence -= 1
            with pytest.raises(FrontierError):
                await frontier.add([url(new, 1)])
        for node in (to, source):
            node.execute("CLUSTER", "SETSLOT", slot, "NODE", ids[1])
        assert pair.master_of(name, 5) is to
        parts = [part for it in leases for part in (settled(it), released(it, 0))]
        await until_done(frontier)
        assert await worker.commit(*parts) == frozenset()
        assert await frontier.add([url(new, 1)]) == Added(1, 0, 0)
        stats = await frontier.stats()
        assert (stats.sites, stats.urls_known, stats.fetched) == (41, 41, 2)


def in_bucket(bucket: int, count_: int) -> list[str]:
    numbered = (f"s{number}.example" for number in count())
    return [next(it for it in numbered if bucket_of(it) == bucket) for _ in range(count_)]


def another(cluster: RedisCluster, master: RedisServer) -> RedisServer:
    return next(it for it in cluster.nodes[:MASTERS] if it is not master)


def begin_to_move(source: RedisServer, to: RedisServer, slot: int) -> list[str]:
    """The ids of both."""
    ids = [it.execute("CLUSTER", "MYID") for it in (source, to)]
    to.execute("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
    source.execute("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
    return ids


async def test_a_commit_that_was_cut_off_is_refused_where_it_did_not_arrive(
    cluster: RedisCluster, name: str
) -> None:
    """Its process may be dead. Then its pages count where their URLs were settled, only there."""
    masters = cluster.masters_of(name)
    elsewhere = next(part for part, it in masters.items() if part >= 0 and it is not masters[5])
    sites = [*in_bucket(5, 2), *in_bucket(elsewhere, 2)]
    async with opened(cluster.url, name, SHORT) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url(site, number) for site in sites for number in (1, 2)])
        leases = {it.site: it for it in await worker.lease()}
        parts = [part for it in leases.values() for part in (settled(it), released(it, 0))]
        source, slot = masters[5], slots_of(name)[5]
        to = another(cluster, source)
        begin_to_move(source, to, slot)
        with pytest.raises(FrontierError, match="moving"):
            await worker.commit(*parts)
        for node in (source, to):
            node.execute("CLUSTER", "SETSLOT", slot, "STABLE")
        lost = frozenset(leases[site].token for site in sites[:2])
        async with opened(cluster.url, name, SHORT) as other:
            await until_done(other)
            assert await other.retire(worker.writer, 0) == 2, "two were released by then"
            assert await other.writer_state(worker.writer) == WriterState(1, lost)
            assert await other.writer_state(worker.writer) == WriterState(1, lost)
            stats = await other.stats()
            assert (stats.fetched, stats.urls_pending, stats.refused) == (2, 6, 2)
        # It was only asleep, and sends it again.
        await until_done(frontier)
        worker.sequence -= 1
        assert await worker.commit(*parts) == lost
        assert (await frontier.stats()).fetched == 2


async def test_a_crawl_in_one_slot_is_refused(cluster: RedisCluster, name: str) -> None:
    """As it was once: its buckets would seem to be empty."""
    cluster.master_of(name).execute("HSET", f"{{mannerly:{name}}}:meta", "version", "1")
    with pytest.raises(SchemaError, match="older"):
        async with opened(cluster.url, name, SHORT):
            pass


async def test_what_the_crawl_as_a_whole_forgot_its_buckets_know(
    cluster: RedisCluster, name: str
) -> None:
    async with opened(cluster.url, name, SHORT) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url(f"s{number}.example", 1) for number in range(10)])
        before = cluster.master_of(name).execute("HGETALL", f"{{mannerly:{name}}}:writers")
        leases = await worker.lease(10)
        await worker.commit(*(settled(it) for it in leases))
        crawl = cluster.master_of(name)
        crawl.execute("HSET", f"{{mannerly:{name}}}:writers", *before)
        crawl.execute("DEL", f"{{mannerly:{name}}}:open")
        assert await frontier.writer_state(worker.writer) == WriterState(1, frozenset())


async def test_a_master_that_hangs_is_not_waited_for_long(cluster: RedisCluster, name: str) -> None:
    """As one does whose machine is gone. The time-outs are those of a crawl."""
    async with opened(cluster.url, name, TimeOuts()) as frontier:
        await frontier.add([url(f"s{number}.example", 1) for number in range(100)])
        master = cluster.master_of(name)
        os.kill(master.pid, signal.SIGSTOP)
        begun_at = time.monotonic()
        try:
            await until_done(frontier, GOES_ON_WITHOUT_S)
            assert time.monotonic() - begun_at < GOES_ON_WITHOUT_S
        finally:
            os.kill(master.pid, signal.SIGCONT)
        assert (await frontier.stats()).urls_pending == 100
    cluster.wait_until(master, b"master_link_status:up", "INFO")


async def test_a_replica_that_is_in_step_again_is_waited_for_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was killed and is back at once has no replica in the first moments."""
    monkeypatch.setattr(link, "LOOK_AGAIN_S", 0.1)
    with RedisCluster(1, 1) as small:
        async with opened(small.url, name, SHORT) as frontier:
            await frontier.add([url("a.example", 1)])
            master = small.nodes[0]
            assert waits(master) > 0
            master.crash()
            await until_done(frontier)
            small.wait_until(master, b",state=online,", "INFO")
            before = waits(master)
            give_up_at = time.monotonic() + 10
            while waits(master) == before:
                assert time.monotonic() < give_up_at, "what it acknowledges no replica has"
                await frontier.add([url("a.example", 2)])


def waits(server: RedisServer) -> int:
    """How often it was asked whether a replica has something, too."""
    told: bytes = server.execute("INFO", "commandstats")
    found = re.search(rb"cmdstat_wait:calls=(\d+)", told)
    return int(found[1]) if found else 0


async def test_a_master_that_is_killed_under_load(
    cluster: RedisCluster, name: str, tmp_path: Path
) -> None:
    """The last test of this Cluster: a node is gone after it."""
    urls = [url(f"s{number % 60}.example", number) for number in range(1800)]
    quiet = opened(cluster.url, f"{name}_quiet", SHORT)
    async with opened(cluster.url, name, SHORT) as frontier, quiet:
        worker = await Worker.enlist(frontier)
        await frontier.add(urls)
        other = await Worker.enlist(quiet)
        await quiet.add([url(f"s{number}.example", 1) for number in range(200)])
        # Leases that lapse, so that what may have been lost is waited for.
        await other.lease(200, ttl_s=LOST_S)
        with Visitors(cluster, name, tmp_path) as crawl:
            wait_for_more(crawl.outputs, 100)
            master = cluster.master_of(name)
            masters = cluster.masters_of(f"{name}_quiet")
            gone = {part for part, it in masters.items() if it is master}
            assert gone - {CRAWL}
            master.kill()
            killed_at = time.monotonic()
            await others_go_on(other, gone, give_up_at=killed_at + 2 * LOST_S)
            wait_for_more(crawl.outputs, 20)
            assert time.monotonic() - killed_at < GOES_ON_WITHIN_S
            assert crawl.end() == [0, 0, 0]
        judge(visits_in(crawl.outputs), urls)
        await until_done(frontier)
        stats = await frontier.stats()
        assert (stats.fetched, stats.urls_pending) == (1800, 0)
        await frontier.add([url("late.example", 1)])
        assert names(await worker.lease()) == ["late.example"]
        await until_done(quiet)
        left = set(names(await until_leased(other)))
        assert {bucket_of(site) for site in left} == gone - {CRAWL}


async def others_go_on(worker: Worker, gone: set[int], give_up_at: float) -> None:
    """All that the other masters have is leased at once, and nobody thinks that this is all."""
    sites = {f"s{number}.example" for number in range(200)}
    left = {site for site in sites if bucket_of(site) not in gone}
    while left:
        assert time.monotonic() < give_up_at, "who is gone is waited for"
        await asyncio.sleep(0.02)
        try:
            leased = await worker.frontier.lease(worker.writer, 200, ttl_s=600, urls_per_site=1)
        except FrontierError:
            continue  # the others have nothing that is ready, and of one nobody knows
        assert leased.next_ready_in_s is not None
        assert not any(bucket_of(it.site) in gone for it in leased.leases)
        left -= set(names(leased.leases))


async def until_leased(worker: Worker) -> list[Lease]:
    give_up_at = time.monotonic() + 30
    while not (leases := await worker.lease(200, ttl_s=600)):
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.05)
    return leases


async def test_a_url_says_whether_it_is_a_cluster(cluster: RedisCluster, name: str) -> None:
    with pytest.raises(ConfigError, match=r"redis\+cluster://, not redis://"):
        async with opened(cluster.nodes[-1].url, name, SHORT):
            pass
    with RedisServer() as alone:
        address = alone.url.replace("redis://", "redis+cluster://")
        with pytest.raises((ConfigError, FrontierError)):
            async with opened(address, name, SHORT):
                pass
