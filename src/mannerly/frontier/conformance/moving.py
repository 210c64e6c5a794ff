"""hand_over, export, restore: a crawl that is carried over is the same crawl; nobody is early."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mannerly.errors import CrawlMovedError, FrontierMisuseError, NoCrawlError
from mannerly.frontier.conformance.engine import Engine, MakeEngine
from mannerly.frontier.conformance.shapes import (
    REST_S,
    TTL_S,
    Worker,
    deferred,
    every_site,
    everything,
    hashes,
    names,
    released,
    robots,
    settled,
    url,
)
from mannerly.frontier.contract import MOVED_TO, Frontier, Kind
from mannerly.frontier.moving import MARGIN_MS, copy, exported, judge, shift_between, weighed
from mannerly.frontier.rows import CountRow, SiteRow
from mannerly.model import (
    Caps,
    Deferred,
    Outcome,
    Priority,
    Released,
    RobotsRecord,
    RobotsState,
    Settled,
)

CAPS = Caps(pending=4, spilt=5, pages=0)
SETTINGS = {"delay_s": "10", "crawl_id": "abc"}


@asynccontextmanager
async def half_done(engine: Engine) -> AsyncIterator[Frontier]:
    """A crawl with something of everything: sites that are ready, resting, leased, parked,
    abandoned, excluded; URLs that wait, are spilt, deferred, settled, dropped."""
    async with engine.open(caps=CAPS) as frontier:
        for site in ("rests", "leased", "parked", "abandoned", "excluded", "full"):
            await frontier.add([url(f"{site}.example", number) for number in range(3)])
        worker = await Worker.enlist(frontier, "häus:1")
        await frontier.create(SETTINGS)
        for lease in await worker.lease(urls=3):
            record = RobotsRecord(f"https://{lease.site}", RobotsState.FOUND, b"\x00\xff", 3.0, 1)
            learnt = robots(lease, record)
            parts: tuple[Settled | Deferred | Released, ...]
            match lease.site.partition(".")[0]:
                case "rests":
                    parts = (settled(lease), deferred(lease, 1), released(lease, REST_S, 2))
                case "parked":
                    all_ = [settled(lease, n, Outcome.HTTP_ERROR) for n in range(3)]
                    parts = (*all_, released(lease, REST_S))
                case "abandoned":
                    parts = (settled(lease), released(lease, REST_S, 7, abandoned=True))
                case "leased":
                    parts = (settled(lease, 0, Outcome.REDIRECTED),)
                case _:
                    parts = (released(lease, 0),)
            await worker.commit(learnt, *parts)
        for number in range(10, 20):
            priority = Priority.SEED if number % 2 else Priority.LINK
            await frontier.add([url("full.example", number, priority)])
            await frontier.add([url("excluded.example", number)])
        await frontier.add([url("ready.example", 1), url("zürich.example", -5)])
        await frontier.exclude(["excluded.example", "unknown.example"])
        yield frontier


@asynccontextmanager
async def moved(source: Frontier, engine: Engine) -> AsyncIterator[Frontier]:
    """The same crawl in another engine."""
    async with engine.open(caps=CAPS) as target:
        await carry(source, target)
        yield target


async def carry(source: Frontier, target: Frontier) -> None:
    await target.clear()
    await source.hand_over("elsewhere")
    clocks = await source.clock(), await target.clock()
    shift = shift_between(*clocks)
    left = await copy(source, target, shift, lambda _: None)
    arrived = await weighed(target, lambda _: None)
    assert left.difference(arrived) == ""
    assert left.contradiction() == ""
    judge(shift, *clocks)
    await target.create(SETTINGS)


@pytest.fixture
async def other_engine(make_engine: MakeEngine, tmp_path: Path) -> AsyncIterator[Engine]:
    folder = tmp_path / "other"
    folder.mkdir()
    made = make_engine(folder)
    yield made
    made.close()


async def test_all_of_a_crawl_arrives(engine: Engine, other_engine: Engine) -> None:
    async with half_done(engine) as source, moved(source, other_engine) as target:
        # Sites are a little late where they arrive.
        await other_engine.advance(10)
        assert await target.stats() == await source.stats()
        assert (await target.stats()).urls_spilt
        assert (await target.stats()).dropped
        for kind in Kind:
            left, arrived = [
                {(it.site, it.hash, it.state, it.outcome) for it in await everything(at, kind)}
                for at in (source, target)
            ]
            assert left
            assert arrived == left
        facts = [
            {it.site: it._replace(ready_in_s=0) for it in await every_site(at)}
            for at in (source, target)
        ]
        assert facts[0] == facts[1]
        assert await target.settings() == SETTINGS
        record = await source.robots_of("rests.example", "https://rests.example")
        there = await target.robots_of("rests.example", "https://rests.example")
        assert record is not None
        assert there is not None
        assert there._replace(age_s=0) == record._replace(age_s=0)
        assert there.age_s == pytest.approx(record.age_s + 10, abs=2 * MARGIN_MS / 1000)


async def test_a_writer_is_known_where_its_crawl_went(engine: Engine, other_engine: Engine) -> None:
    async with half_done(engine) as source:
        worker = await Worker.enlist(source, "late")
        await source.add([url("a.example", 1)])
        leases = {it.site: it for it in await worker.lease()}
        await source.exclude(["a.example"])
        refused = await worker.commit(settled(leases["a.example"]))
        assert refused
        async with moved(source, other_engine) as target:
            state = await target.writer_state(worker.writer)
            assert state == await source.writer_state(worker.writer)
            assert state is not None
            assert state.refused == refused
            await other_engine.advance(10 + TTL_S)
            with pytest.raises(FrontierMisuseError):
                await target.lease(worker.writer, 1, ttl_s=TTL_S, urls_per_site=1)


async def test_no_site_is_early_where_it_arrives(engine: Engine, other_engine: Engine) -> None:
    async with half_done(engine) as source:
        before = {it.site: it.ready_in_s for it in await every_site(source)}
        async with moved(source, other_engine) as target:
            after = {it.site: it.ready_in_s for it in await every_site(target)}
            assert before.keys() == after.keys()
            late = {site: after[site] - before[site] for site in before}
            # What this test itself took is off both clocks, where they run on by themselves.
            assert max(late.values()) - min(late.values()) < 1
            assert all(0 < it <= 2 * MARGIN_MS / 1000 for it in late.values()), late
            worker = await Worker.enlist(target)
            await other_engine.advance(10)
            found = names(await worker.lease())
            assert "ready.example" in found
            assert not {"rests.example", "leased.example"} & set(found)
            await other_engine.advance(TTL_S)
            assert {"rests.example", "leased.example"} <= set(names(await worker.lease()))


async def test_queue_and_spill_keep_their_order_and_what_comes_later_is_behind(
    engine: Engine, other_engine: Engine
) -> None:
    async with half_done(engine) as source:
        orders = []
        async with moved(source, other_engine) as target:
            await source.hand_over("")
            for at, where in ((source, engine), (target, other_engine)):
                await where.advance(10)
                await at.add([url("ready.example", 2)])
                worker = await Worker.enlist(at)
                order: list[int] = []
                while len(order) < 9:
                    leases = {it.site: it for it in await worker.lease(urls=9)}
                    lease = leases.pop("full.example")
                    order += hashes(lease)
                    ready = leases.get("ready.example")
                    if ready is not None:
                        assert hashes(ready) == [1, 2]
                    parts = [settled(lease, number) for number in range(len(lease.urls))]
                    others = [released(it, 1000) for it in leases.values()]
                    await worker.commit(*parts, released(lease, 0), *others)
                orders.append(order)
        assert orders[0] == orders[1]
        assert len(orders[0]) == 9


async def test_who_crawled_what_is_handed_over_can_do_nothing_more(frontier: Frontier) -> None:
    worker = await Worker.enlist(frontier)
    await frontier.add([url("a.example", 1), url("b.example", 1)])
    await frontier.create(SETTINGS)
    (lease,) = await worker.lease(1)
    await frontier.hand_over("elsewhere")
    await frontier.hand_over("elsewhere")
    settings = await frontier.settings()
    assert settings == {**SETTINGS, MOVED_TO: "elsewhere"}
    assert await worker.commit(settled(lease), released(lease, 0)) == {lease.token}
    with pytest.raises(FrontierMisuseError):
        await worker.lease()
    with pytest.raises(CrawlMovedError, match="elsewhere"):
        await frontier.enlist("another")
    stats = await frontier.stats()
    assert (stats.writers, stats.urls_pending, stats.sites_waiting) == (0, 2, 1)


async def test_what_was_handed_over_is_taken_back(engine: Engine, frontier: Frontier) -> None:
    worker = await Worker.enlist(frontier)
    await frontier.add([url("a.example", 1)])
    await frontier.create(SETTINGS)
    await worker.lease()
    await frontier.hand_over("elsewhere")
    await frontier.hand_over("")
    assert await frontier.settings() == SETTINGS
    again = await Worker.enlist(frontier)
    assert await again.lease() == [], "the lease that was ended may still be visiting"
    await engine.advance(TTL_S)
    assert names(await again.lease()) == ["a.example"]


async def test_there_must_be_a_crawl_to_hand_over(frontier: Frontier) -> None:
    with pytest.raises(NoCrawlError):
        await frontier.hand_over("elsewhere")


async def test_only_who_cleared_may_restore(engine: Engine, frontier: Frontier) -> None:
    row = SiteRow("a.example", 0, 5, 0, 0, 0, 0, 0, 0)
    with pytest.raises(FrontierMisuseError):
        await frontier.restore([row])
    await frontier.clear()
    async with engine.open() as another:
        with pytest.raises(FrontierMisuseError):
            await another.restore([row])
    await frontier.restore([row])
    await frontier.restore([])
    await frontier.create(SETTINGS)
    with pytest.raises(FrontierMisuseError):
        await frontier.restore([row])


async def test_a_restore_that_was_cut_off_is_begun_again(
    engine: Engine, other_engine: Engine
) -> None:
    async with half_done(engine) as source:
        async with other_engine.open() as target:
            await target.clear()
            async for rows in exported(source):
                await target.restore(rows)
            await target.restore([CountRow("urls", 0, 1000)])
            assert await target.settings() is None
        async with moved(source, other_engine) as target:
            await other_engine.advance(10)
            assert await target.stats() == await source.stats()


async def test_nothing_is_exported_of_nothing(frontier: Frontier) -> None:
    assert [rows async for rows in exported(frontier)] == []
