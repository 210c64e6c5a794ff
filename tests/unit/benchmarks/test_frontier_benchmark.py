"""The frontier's benchmark in small: that it runs, and that it measures what it says."""

from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest
from benchmarks.frontier import naive
from benchmarks.frontier.__main__ import main
from benchmarks.frontier.cost import Cost, durations_ms
from benchmarks.frontier.engines import Engine, PostgresEngine, SqliteEngine
from benchmarks.frontier.steps import Shape
from benchmarks.frontier.workload import OTHER_LINKS, OWN_LINKS, Discovery, fill

from mannerly.frontier.contract import Kind
from tests.services.postgres import shared

ENGINES = ["sqlite", "postgres"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_benchmark_in_small(engine: str) -> None:
    url = shared().url if engine == "postgres" else ""
    figures: Any = main(
        ["--engine", engine, "--sizes", "20k,60k", "--sites", "4k", "--small", "--url", url]
    )  # fmt: skip
    assert list(figures["frontier"]) == ["20000", "60000"]
    for size, at in figures["frontier"].items():
        assert at["pending"] == pytest.approx(int(size), rel=0.2)
        assert at["pages"] == 2_500
        assert at["add_links"]["urls"] == 149 * (OWN_LINKS + OTHER_LINKS)
        assert at["add_uniform"]["urls"] == 10_000
        for part in ("add_links", "add_uniform", "add_links_known", "lease", "commit"):
            assert at[part]["cpu_us"] > 0
            assert at[part]["wall_us"] > 0
        assert at["while_adding"]["lease"]["calls"] > 0
        assert at["while_adding"]["adder"]["urls"] > 0
        assert at["bytes_per_url"] > 76
        for way in ("plain", "indexed"):
            claimed = figures["naive"][size][way]
            # In so small a web the domains that may be visited run out.
            assert 0 < claimed["usable"] <= claimed["urls"] <= naive.ROUNDS * naive.CLAIM
            assert claimed["claim"]["cpu_us"] > 0


def test_the_same_on_redis() -> None:
    figures: Any = main(["--engine", "redis", "--sizes", "4k", "--sites", "1k", "--small"])
    assert "naive" not in figures
    at = figures["frontier"]["4000"]
    assert at["pending"] == 4_000
    assert at["lease"]["cpu_us"] > 0
    assert at["add_uniform"]["urls"] == 10_000
    assert at["while_adding"]["adder"]["urls"] > 0
    assert 76 < at["bytes_per_url"] < 500


@pytest.mark.parametrize("name", ENGINES)
def test_a_claim_of_the_old_design_is_broken_off(name: str, tmp_path: Path) -> None:
    engine = (
        SqliteEngine(tmp_path / "frontier.db") if name == "sqlite" else PostgresEngine(shared().url)
    )
    figures: Any = naive.measure(engine, tmp_path, 2_000, [100_000], 0.002)
    assert figures["100000"]["plain"] == {"claim": "over 0.002 s"}


def test_the_servers_work_is_counted_also_after_its_process_ended() -> None:
    engine = PostgresEngine(shared().url)
    cost = Cost(engine.server_cpu_s)
    with cost.spent(), psycopg.connect(engine.address) as connection:
        connection.execute("SELECT sum(n) FROM generate_series(1, 3000000) AS n")
    after_end = engine.server_cpu_s()
    assert cost.cpu_s > 0.1
    with cost.spent():
        pass
    assert engine.server_cpu_s() >= after_end


def test_most_links_of_a_page_go_to_its_own_site() -> None:
    batch = next(Discovery(50_000, 100_000, 1).links())
    assert len(batch) == 1_492 * (OWN_LINKS + OTHER_LINKS)
    assert len({(url.site, url.hash) for url in batch}) == len(batch)
    by_page: dict[int, Counter[str]] = {}
    for url in batch:
        by_page.setdefault(url.referrer, Counter())[url.site] += 1
    assert len(by_page) == 1_492
    assert all(max(sites.values()) >= OWN_LINKS for sites in by_page.values())


def test_what_one_finds_is_new_to_the_others_and_to_the_fill() -> None:
    filled = {url.url for batch in fill(100, 0, 50) for url in batch}
    first = {url.url for url in next(Discovery(100, 1_000, 1).links())}
    second = {url.url for url in next(Discovery(100, 1_000, 2).links())}
    third = {url.url for url in next(Discovery(100, 1_000, 2).uniform())}
    together = filled | first | second | third
    assert len(together) == sum(map(len, (filled, first, second, third)))


def test_a_fill_is_in_the_order_of_the_tables_and_goes_on() -> None:
    (batch,) = fill(50, 0, 3)
    (more,) = fill(50, 3, 2)
    assert len(batch) == 150
    assert [url.site for url in batch] == sorted(url.site for url in batch)
    assert not {url.hash for url in batch} & {url.hash for url in more}


def test_percentiles_of_calls() -> None:
    told = durations_ms([n / 1000 for n in range(1, 101)])
    assert told == {"calls": 100, "p50_ms": 50.0, "p99_ms": 99.0, "max_ms": 100.0}
    assert durations_ms([]) == {"calls": 0}


@pytest.mark.parametrize("name", ENGINES)
async def test_loading_leaves_what_adding_would(name: str, tmp_path: Path) -> None:
    shape = Shape(sites=300)

    async def listed(number: int, *, load: bool) -> tuple[object, ...]:
        engine: Engine = (
            SqliteEngine(tmp_path / f"{number}.db")
            if name == "sqlite"
            else PostgresEngine(shared().url)
        )
        engine.drop()
        async with engine.open() as frontier:
            for batch in fill(shape.sites, 0, 2):
                await frontier.add(batch)
            if load:
                assert engine.load(2, 7) == 7 * shape.sites
            else:
                for batch in fill(shape.sites, 2, 7):
                    await frontier.add(batch)
            urls = (await frontier.iterate(Kind.PENDING, limit=10_000)).urls
            sites = (await frontier.iterate_sites(limit=1_000)).sites
            # It goes on from there: nothing that is added meets a place that is taken.
            writer = await frontier.enlist("test")
            leased = await frontier.lease(writer, 1_000, ttl_s=60, urls_per_site=9)
            assert sum(len(lease.urls) for lease in leased.leases) == 9 * shape.sites
            assert (await frontier.add(next(fill(shape.sites, 9, 1)))).new == shape.sites
            stats = await frontier.stats()
        engine.drop()
        texts = [(url.site, url.hash, url.queued.url) for url in urls if url.queued is not None]
        return stats, sorted(texts), [it._replace(ready_in_s=0) for it in sites]

    assert await listed(1, load=True) == await listed(2, load=False)
