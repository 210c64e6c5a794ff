"""Redis and Valkey in trouble: killed, cut off, full, demoted, ill set up. Real servers and
processes."""

import asyncio
import json
import logging
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from redis import exceptions

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.errors import (
    ConfigError,
    CrawlBusyError,
    CrawlExistsError,
    FrontierError,
    SchemaError,
)
from mannerly.frontier.conformance.shapes import Worker, names, released, settled, url
from mannerly.frontier.contract import Added
from mannerly.frontier.redis import RedisFrontier, TimeOuts
from mannerly.frontier.redis.connection import Connection
from mannerly.model import Caps, NewUrl
from tests.services.cutting_proxy import CuttingProxy
from tests.services.redis import USUAL, VALKEY, RedisServer, free_port

PROJECT = Path(__file__).parents[2]
NUMBERS = count(1)
REST_S = 0.02
SHORT = TimeOuts(connect_s=2, answer_s=2)


@pytest.fixture(scope="module", params=dict.fromkeys((USUAL, VALKEY)))
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(program: str) -> Iterator[RedisServer]:
    """One that may be broken. Nothing that it acknowledged is lost."""
    with RedisServer(program) as server:
        yield server


@pytest.fixture
def name() -> str:
    return f"crash_{next(NUMBERS)}"


def opened(address: str, name: str, time_outs: TimeOuts = SHORT) -> RedisFrontier:
    return RedisFrontier(
        address,
        schema=name,
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.SystemRandom(),
        caps=Caps(),
        time_outs=time_outs,
    )


@pytest.fixture
async def worker(server: RedisServer, name: str) -> AsyncIterator[Worker]:
    async with opened(server.url, name) as frontier:
        yield await Worker.enlist(frontier)


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[CuttingProxy]:
    with CuttingProxy(server.port) as proxy:
        yield proxy


@pytest.fixture
async def cut_off(proxy: CuttingProxy, name: str) -> AsyncIterator[Worker]:
    """A worker whose server answers through the proxy."""
    async with opened(f"redis://127.0.0.1:{proxy.port}/0", name) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", number) for number in range(3)])
        yield worker


def lines(output: Path) -> list[list[Any]]:
    whole = output.read_text().rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def visits_in(outputs: list[Path]) -> list[list[Any]]:
    return [it for output in outputs for it in lines(output) if it[0] == "visit"]


def wait_for_more(outputs: list[Path], more: int) -> None:
    wanted = len(visits_in(outputs)) + more
    give_up_at = time.monotonic() + 60
    while len(visits_in(outputs)) < wanted:
        assert time.monotonic() < give_up_at, "the crawl stands still"
        time.sleep(0.005)


def visitor(server: RedisServer, name: str, output: Path) -> "subprocess.Popen[bytes]":
    program = [sys.executable, "-m", "tests.services.redis_crawler", server.url, name, str(REST_S)]
    with output.open("w") as file:
        return subprocess.Popen(program, stdout=file, cwd=PROJECT)


async def test_a_server_that_is_killed_again_and_again(
    server: RedisServer, name: str, tmp_path: Path
) -> None:
    urls = [url(f"s{number % 60}.example", number) for number in range(2400)]
    async with opened(server.url, name) as frontier:
        await frontier.add(urls)
    outputs = [tmp_path / f"{number}.jsonl" for number in range(3)]
    processes = [visitor(server, name, output) for output in outputs]
    try:
        for _ in range(4):
            wait_for_more(outputs, 100)
            assert any(process.poll() is None for process in processes), "over too soon"
            server.crash()
        assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    finally:
        for process in processes:
            process.kill()
    judge(visits_in(outputs), urls)
    async with opened(server.url, name) as frontier:
        stats = await frontier.stats()
    assert (stats.fetched, stats.urls_pending, stats.sites_waiting) == (2400, 0, 0)


def judge(visits: list[list[Any]], urls: list[NewUrl]) -> None:
    done = Counter((site, hash_) for _, site, hashes, *_ in visits for hash_ in hashes)
    assert done == Counter(it[:2] for it in urls), "each once: none lost, none twice"
    by_site = defaultdict(list)
    for _, site, _, begun_at, ended_at in visits:
        by_site[site].append((begun_at, ended_at))
    gaps = [
        begun_at - ended_at
        for visited in by_site.values()
        for (_, ended_at), (begun_at, _) in pairwise(sorted(visited))
    ]
    assert min(gaps) >= REST_S, "a site was leased while leased, or before its rest was over"


async def test_a_commit_whose_answer_is_lost(
    cut_off: Worker, proxy: CuttingProxy, worker: Worker
) -> None:
    (lease,) = await cut_off.lease()
    parts = (settled(lease), released(lease, 0))
    proxy.cut_before_answer(b"*4\r\n")
    with pytest.raises(FrontierError, match="cannot be reached"):
        await cut_off.commit(*parts)
    assert proxy.cuts == 1
    assert (await worker.frontier.stats()).fetched == 1, "it was done"
    cut_off.sequence -= 1
    assert await cut_off.commit(*parts) == frozenset()
    assert (await worker.frontier.stats()).fetched == 1, "and not twice"


async def test_a_lease_whose_answer_is_lost_lapses(cut_off: Worker, proxy: CuttingProxy) -> None:
    proxy.cut_before_answer(b"a.example")
    with pytest.raises(FrontierError):
        await cut_off.lease(ttl_s=0.3)
    asked_at = time.monotonic()
    while not await cut_off.lease():
        assert time.monotonic() < asked_at + 10
    assert (await cut_off.frontier.stats()).leases == 2


async def test_a_silent_server_is_given_up(cut_off: Worker, proxy: CuttingProxy) -> None:
    proxy.silent = True
    begun_at = time.monotonic()
    with pytest.raises(FrontierError, match="cannot be reached"):
        await cut_off.lease()
    assert time.monotonic() - begun_at < SHORT.answer_s + 2


async def test_a_server_that_may_have_lost_leases_rests_as_long_as_the_longest(
    program: str, name: str
) -> None:
    with RedisServer(program, appendfsync="everysec") as forgetful:
        async with opened(forgetful.url, name) as frontier:
            worker = await Worker.enlist(frontier)
            await frontier.add([url("a.example", 1), url("a.example", 2)])
            (lease,) = await worker.lease(ttl_s=2)
            await worker.commit(settled(lease), released(lease, 0))
            forgetful.crash()
            begun_at = time.monotonic()
            leases, wait_s = await frontier.lease(worker.writer, 1, ttl_s=2, urls_per_site=1)
            assert leases == []
            assert wait_s is not None
            assert 1 < wait_s < 2.1  # the server's clock has milliseconds, and is rounded up
            assert await frontier.claim(worker.writer, "b.example", ttl_s=2) is None
            assert (await frontier.stats()).sites_ready == 0
            while not await worker.lease(ttl_s=2):
                assert time.monotonic() < begun_at + 30
            assert time.monotonic() - begun_at >= 1.9


async def test_a_server_whose_log_is_synced_goes_on_at_once(
    server: RedisServer, worker: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    assert len(await worker.lease(1, ttl_s=60)) == 1
    server.crash()
    assert len(await worker.lease(2, ttl_s=60)) == 1


async def test_a_server_that_still_loads_its_log_is_waited_for(program: str, name: str) -> None:
    with RedisServer(program, key_load_delay="150") as slow:
        async with opened(slow.url, name) as frontier:
            await frontier.add([url(f"s{number}.example", 1) for number in range(1200)])
            slow.kill()
            slow.begin()
            until_it_loads(slow)
            with pytest.raises(FrontierError, match="still loads"):
                await frontier.stats()
            slow.wait()
            await until_done(frontier)
            assert (await frontier.stats()).urls_pending == 1200


def until_it_loads(server: RedisServer) -> None:
    give_up_at = time.monotonic() + 60
    while time.monotonic() < give_up_at:
        try:
            server.execute("PING")
        except exceptions.BusyLoadingError:
            return
        except exceptions.ConnectionError:
            time.sleep(0.005)  # it does not listen yet
        else:
            break
    pytest.fail("it has never been seen to load")


async def until_done(frontier: RedisFrontier, within_s: float = 20) -> None:
    """Until all servers answer again."""
    give_up_at = time.monotonic() + within_s
    while True:
        try:
            await frontier.stats()
        except FrontierError:
            assert time.monotonic() < give_up_at
            await asyncio.sleep(0.05)
        else:
            return


async def test_a_server_without_memory_takes_leases_back(
    server: RedisServer, worker: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    server.execute("CONFIG", "SET", "maxmemory", "100kb")
    try:
        with pytest.raises(FrontierError, match="no memory left"):
            await worker.frontier.add([url("b.example", 1)])
        assert await worker.commit(settled(lease), released(lease, 0)) == frozenset()
    finally:
        server.execute("CONFIG", "SET", "maxmemory", "0")
    assert await worker.frontier.add([url("b.example", 1)]) == Added(1, 0, 0)


async def test_a_server_that_became_a_replica(server: RedisServer, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    with RedisServer() as master:
        server.execute("CONFIG", "SET", "replica-serve-stale-data", "yes")
        # A port where nobody answers: its data stay as they are.
        master.kill()
        server.execute("REPLICAOF", "127.0.0.1", str(master.port))
        try:
            with pytest.raises(FrontierError, match="replica"):
                await worker.lease()
        finally:
            server.execute("REPLICAOF", "NO", "ONE")
    while True:
        try:
            assert names(await worker.lease()) == ["a.example"]
        except FrontierError:
            await asyncio.sleep(0.05)  # it was not reached a moment ago
        else:
            break


async def test_functions_that_somebody_removed_are_loaded_again(
    server: RedisServer, worker: Worker
) -> None:
    server.execute("FUNCTION", "FLUSH")
    with pytest.raises(FrontierError):
        await worker.frontier.add([url("a.example", 1)])
    assert await worker.frontier.add([url("a.example", 1)]) == Added(1, 0, 0)


async def test_who_lost_its_connection_at_the_beginning_has_lost_the_beginning(
    server: RedisServer, name: str
) -> None:
    async with opened(server.url, name) as first, opened(server.url, name) as second:
        await first.clear()
        with pytest.raises(CrawlBusyError):
            await second.clear()
        server.execute("CLIENT", "KILL", "TYPE", "normal")
        await second.clear()
        with pytest.raises(CrawlBusyError):
            await first.clear()
        with pytest.raises(CrawlExistsError):
            await first.create({"a": "1"})
        await second.create({"b": "2"})
        assert await first.settings() == {"b": "2"}


async def test_a_beginning_ends_with_the_server_and_is_begun_anew(
    server: RedisServer, name: str
) -> None:
    for _ in range(50):
        server.execute("PING")  # connections with low numbers are gone when others need them
    async with opened(server.url, name) as first:
        await first.clear()
        await first.add([url("a.example", 1)])
        beginner: bytes = server.execute("HGET", f"{{mannerly:{name}}}:meta", "beginner")
        server.crash()
        stranger = connected_as(server, int(beginner.split()[-1]))
        async with opened(server.url, name) as second:
            await second.clear()
            assert (await second.stats()).sites == 0
            await second.create({})
        stranger.close()


def connected_as(server: RedisServer, number: int) -> Connection:
    """A connection with this number."""
    while True:
        connection = Connection(server.url, "stranger", SHORT)
        (mine,) = connection.ask(["CLIENT", "ID"])
        if mine == number:
            return connection
        connection.close()
        assert isinstance(mine, int)
        assert mine < number


async def test_settings_that_would_lose_a_crawl_are_warned_of(
    program: str, name: str, server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with RedisServer(program, appendonly="no", maxmemory_policy="allkeys-lru") as careless:
        async with opened(careless.url, name):
            pass
    said = [it.getMessage() for it in caplog.records if it.levelno == logging.WARNING]
    assert len(said) == 2
    assert "maxmemory-policy is allkeys-lru" in said[0]
    assert "append-only file is off" in said[1]
    caplog.clear()
    async with opened(server.url, name):
        pass
    assert caplog.records == []


async def test_a_node_of_a_cluster_is_told_from_a_lone_server(program: str, name: str) -> None:
    """Valkey has another name for its mode."""
    with (
        RedisServer(program, cluster_enabled="yes", cluster_port=str(free_port())) as node,
        pytest.raises(ConfigError, match="mode cluster"),
    ):
        async with opened(node.url, name):
            pass


async def test_a_newer_layout_is_refused(server: RedisServer, name: str) -> None:
    async with opened(server.url, name) as frontier:
        await frontier.create({})
    server.execute("HSET", f"{{mannerly:{name}}}:meta", "version", "99")
    with pytest.raises(SchemaError, match="newer"):
        async with opened(server.url, name):
            pass


async def test_a_server_that_is_not_there(name: str) -> None:
    server = RedisServer()
    with pytest.raises(FrontierError, match="check that it runs"):
        async with opened(server.url, name):
            pass
    server.remove()
