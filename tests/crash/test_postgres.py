"""PostgreSQL in trouble: crashed, cut off, locked, overloaded. Real servers, processes, sockets."""

import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest

from mannerly.errors import FrontierError
from mannerly.frontier.conformance.shapes import Worker, names, released, settled, url
from mannerly.frontier.contract import Added
from mannerly.frontier.postgres import PostgresFrontier, TimeOuts
from mannerly.model import NewUrl, Outcome
from tests.services.cutting_proxy import CuttingProxy
from tests.services.postgres import PostgresServer, shared
from tests.services.postgres_audit import contradictions
from tests.services.postgres_crawler import frontier_at
from tests.unit.frontier.postgres.opening import opened

PROJECT = Path(__file__).parents[2]
NUMBERS = count(1)
REST_S = 0.02
COMMITTED = b"COMMIT\0"
"""What the server says of a transaction that is durable."""


@pytest.fixture
def schema() -> str:
    return f"crash_{next(NUMBERS)}"


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be broken."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def proxy() -> Iterator[CuttingProxy]:
    with CuttingProxy(shared().port) as proxy:
        yield proxy


def start(*arguments: str, output: Path | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.services.postgres_crawler", *arguments]
    file = None if output is None else output.open("w")
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=file or subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    if file is not None:
        file.close()
    return process


def lines(output: Path) -> list[list[Any]]:
    whole = output.read_text().rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


class Crawl:
    """Visitors in processes of their own, and what they report."""

    def __init__(self, folder: Path, server: PostgresServer, schema: str, processes: int) -> None:
        self._outputs = [folder / f"{number}.jsonl" for number in range(processes)]
        self._processes = [
            start("visit", server.url, schema, str(REST_S), output=output)
            for output in self._outputs
        ]

    def visits(self) -> list[list[Any]]:
        return [it for output in self._outputs for it in lines(output) if it[0] == "visit"]

    def wait_for_more(self, more: int) -> bool:
        """Until so many more visits were reported. False: the crawl is over."""
        before = len(self.visits())
        give_up_at = time.monotonic() + 60
        while any(process.poll() is None for process in self._processes):
            if len(self.visits()) >= before + more:
                return True
            assert time.monotonic() < give_up_at, "the crawl stands still"
            time.sleep(0.005)
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """Wait until the crawl is over; kill it if the test failed."""
        for process in self._processes:
            if kind is not None:
                process.kill()
            _, errors = process.communicate(timeout=120)
            assert kind is not None or process.returncode == 0, errors


def judge(crawl: Crawl, urls: list[NewUrl], server: PostgresServer, schema: str) -> None:
    visits = crawl.visits()
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
    assert contradictions(server, schema) == {}


async def crawl_of(server: PostgresServer, schema: str) -> list[NewUrl]:
    urls = [url(f"s{number % 60}.example", number) for number in range(2400)]
    async with opened(server.url, schema) as frontier:
        await frontier.add(urls)
    return urls


async def test_a_server_that_crashes_again_and_again(
    own_server: PostgresServer, schema: str, tmp_path: Path
) -> None:
    urls = await crawl_of(own_server, schema)
    crashes = 0
    with Crawl(tmp_path, own_server, schema, 3) as crawl:
        while crashes < 4 and crawl.wait_for_more(150):
            own_server.crash()
            crashes += 1
    assert crashes == 4, "the crawl was over too soon to say anything"
    judge(crawl, urls, own_server, schema)


async def test_connections_that_are_terminated_again_and_again(
    own_server: PostgresServer, schema: str, tmp_path: Path
) -> None:
    urls = await crawl_of(own_server, schema)
    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    terminated = 0
    with Crawl(tmp_path, own_server, schema, 3) as crawl:
        while crawl.wait_for_more(20):
            terminated += len(own_server.execute(ending, f"mannerly {schema}"))
    assert terminated > 30
    judge(crawl, urls, own_server, schema)


async def test_no_two_verbs_deadlock(own_server: PostgresServer, schema: str) -> None:
    """Four processes, all verbs, forty popular sites in any order."""
    query = "SELECT sum(deadlocks)::int FROM pg_stat_database"
    before = own_server.execute(query)
    async with opened(own_server.url, schema) as frontier:
        await frontier.create({"delay_s": "0"})
    processes = [start("storm", own_server.url, schema, str(seed), "40") for seed in range(4)]
    errors = [process.communicate(timeout=200)[1] for process in processes]
    assert errors == [""] * 4
    assert own_server.execute(query) == before
    assert contradictions(own_server, schema) == {}
    async with opened(own_server.url, schema) as frontier:
        stats = await frontier.stats()
    assert stats.settled[Outcome.FETCHED] > 100
    assert stats.urls_spilt + sum(stats.dropped.values()) > 0


async def test_eight_processes_make_the_schema_at_once(
    own_server: PostgresServer, schema: str
) -> None:
    processes = [start("open", own_server.url, schema) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == ["ready"]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate(timeout=60) for process in processes]
    assert said == [('["sites", 0]\n', "")] * 8
    made = own_server.execute("SELECT number FROM migration ORDER BY number", schema=schema)
    assert made == [(1,), (2,)]


SHORT = TimeOuts(connect_s=2, lock_s=0.3, statement_s=1.0, idle_s=5, answer_s=2)


@pytest.fixture
async def worker(schema: str) -> AsyncIterator[Worker]:
    async with opened(shared().url, schema, SHORT) as frontier:
        yield await Worker.enlist(frontier)


async def test_a_lock_that_a_person_holds(worker: Worker, schema: str) -> None:
    frontier = worker.frontier
    await frontier.add([url("a.example", 1), url("b.example", 1)])
    with psycopg.connect(shared().url, options=f"-c search_path={schema}") as person:
        person.execute("SELECT * FROM budget FOR UPDATE")
        with pytest.raises(FrontierError, match=r"lock was not given up.*pg_stat_activity"):
            await frontier.add([url("a.example", 2)])
        assert len(await worker.lease()) == 2, "a lease waits for nobody"
        with pytest.raises(FrontierError, match="lock was not given up"):
            await frontier.exclude(["a.example"])
        assert (await frontier.stats()).urls_known == 2
        person.rollback()
    assert await frontier.add([url("a.example", 2)]) == Added(1, 0, 0)


async def test_a_site_somebody_has_locked_is_passed_over(worker: Worker, schema: str) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await worker.frontier.add([url("b.example", 1)])
    with psycopg.connect(shared().url, options=f"-c search_path={schema}") as person:
        person.execute("SELECT * FROM clock ORDER BY site LIMIT 1 FOR UPDATE")
        assert names(await worker.lease()) == ["b.example"]
    assert names(await worker.lease()) == ["a.example"]


async def test_a_statement_that_takes_too_long(worker: Worker, schema: str) -> None:
    ((before,),) = shared().execute("SELECT pg_get_functiondef('now_ms'::regproc)", schema=schema)
    slow = (
        "CREATE OR REPLACE FUNCTION now_ms() RETURNS double precision LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(30); RETURN 0; END $$"
    )
    shared().execute(slow, schema=schema)
    with pytest.raises(FrontierError, match="longer than its time-out"):
        await worker.frontier.stats()
    shared().execute(str(before), schema=schema)
    assert (await worker.frontier.stats()).writers == 1


async def test_a_process_that_stands_still_in_a_transaction_gives_up_its_locks(
    schema: str,
) -> None:
    """It was stopped, say: the server ends its transaction, and it finds back by itself."""
    limits = TimeOuts(connect_s=2, lock_s=10, statement_s=20, idle_s=0.2, answer_s=30)
    async with (
        opened(shared().url, schema, limits) as stopped,
        opened(shared().url, schema, limits) as other,
    ):
        await stopped.add([url("a.example", 1)])

        async def stand_still() -> None:
            with stopped._session.writing() as transaction:
                assert len(transaction.ask("SELECT * FROM budget FOR UPDATE")) == 1
                # Waits for the lock, until the server has ended the transaction.
                assert await other.add([url("a.example", 2)]) == Added(1, 0, 0)

        with pytest.raises(FrontierError, match="stood still"):
            await stand_still()
        assert await stopped.add([url("a.example", 3)]) == Added(1, 0, 0)
        assert (await other.stats()).urls_known == 3


def behind(proxy: CuttingProxy) -> str:
    return shared().url.replace(str(shared().port), str(proxy.port))


@pytest.fixture
async def cut_off(proxy: CuttingProxy, schema: str) -> AsyncIterator[Worker]:
    """A worker whose server answers through the proxy."""
    async with opened(behind(proxy), schema, SHORT) as frontier:
        yield await Worker.enlist(frontier)


async def test_a_commit_whose_answer_is_lost(cut_off: Worker, proxy: CuttingProxy) -> None:
    await cut_off.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await cut_off.lease(urls=2)
    parts = (settled(lease), released(lease, 0))
    proxy.cut_before_answer(COMMITTED)
    with pytest.raises(FrontierError, match="cannot be reached or closed the connection"):
        await cut_off.commit(*parts)
    assert proxy.cuts == 1
    assert (await cut_off.frontier.stats()).fetched == 1, "it was done all the same"
    cut_off.sequence -= 1
    assert await cut_off.commit(*parts) == frozenset()
    stats = await cut_off.frontier.stats()
    assert (stats.fetched, stats.urls_pending, stats.refused) == (1, 1, 0)
    assert len(await cut_off.lease()) == 1


async def test_a_commit_that_is_lost_on_its_way(cut_off: Worker, proxy: CuttingProxy) -> None:
    await cut_off.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await cut_off.lease(urls=2)
    proxy.cut_at_request()
    with pytest.raises(FrontierError):
        await cut_off.commit(settled(lease), released(lease, 0))
    assert (await cut_off.frontier.stats()).fetched == 0
    cut_off.sequence -= 1
    assert await cut_off.commit(settled(lease), released(lease, 0)) == frozenset()
    assert (await cut_off.frontier.stats()).fetched == 1


async def test_a_lease_whose_answer_is_lost_lapses(cut_off: Worker, proxy: CuttingProxy) -> None:
    await cut_off.frontier.add([url("a.example", 1)])
    # The first transaction of a lease only looks, the second one writes clocks.
    proxy.cut_before_answer(b"UPDATE 1\0")
    with pytest.raises(FrontierError):
        await cut_off.lease(ttl_s=0.5)
    assert proxy.cuts == 1
    give_up_at = time.monotonic() + 20
    while not (leases := await cut_off.lease()):
        assert time.monotonic() < give_up_at
    assert names(leases) == ["a.example"]


async def test_an_add_whose_answer_is_lost(
    cut_off: Worker, proxy: CuttingProxy, schema: str
) -> None:
    batch = [url(f"s{number % 50}.example", number) for number in range(5000)]
    await cut_off.frontier.add(batch[:50])
    proxy.cut_before_answer(b"INSERT 0 ")
    with pytest.raises(FrontierError):
        await cut_off.frontier.add(batch)
    assert proxy.cuts == 1
    added = await cut_off.frontier.add(batch)
    assert added.new + added.known == 5000
    assert (await cut_off.frontier.stats()).urls_known == 5000
    assert contradictions(shared(), schema) == {}


async def test_a_server_that_falls_silent(cut_off: Worker, proxy: CuttingProxy) -> None:
    """The connection stands and nothing comes: no error of TCP's ever ends that."""
    proxy.silent = True
    start_at = time.monotonic()
    with pytest.raises(FrontierError, match="cannot be reached"):
        await cut_off.lease()
    assert time.monotonic() - start_at < 20
    with pytest.raises(FrontierError):
        await cut_off.lease()
    proxy.silent = False
    give_up_at = time.monotonic() + 30
    while True:
        try:
            assert await cut_off.lease() == []
            break
        except FrontierError:
            assert time.monotonic() < give_up_at


async def test_a_server_that_was_restarted_while_nobody_asked(
    own_server: PostgresServer, schema: str
) -> None:
    """That is noticed before a verb fails by it."""
    async with frontier_at(own_server.url, schema) as frontier:
        worker = await Worker.enlist(frontier)
        await frontier.add([url("a.example", 1)])
        own_server.crash()
        assert names(await worker.lease()) == ["a.example"]


async def test_a_server_that_is_gone_and_comes_back(
    own_server: PostgresServer, schema: str
) -> None:
    frontier: PostgresFrontier
    async with frontier_at(own_server.url, schema) as frontier:
        await frontier.add([url("a.example", 1)])
        own_server.stop()
        for _ in range(5):
            with pytest.raises(FrontierError, match=r"reached"):
                await frontier.add([url("a.example", 2)])
        own_server.start()
        give_up_at = time.monotonic() + 30
        while True:
            try:
                assert (await frontier.add([url("a.example", 2)])).new == 1
                break
            except FrontierError:
                assert time.monotonic() < give_up_at
