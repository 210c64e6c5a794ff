"""A crawl of every earlier schema is opened and goes on, with its counts right."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mannerly.frontier.conformance import old_crawl
from mannerly.frontier.conformance.engine import Engine, MakeEngine
from mannerly.frontier.conformance.shapes import (
    Worker,
    everything,
    facts_of,
    hashes,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Kind, WriterState
from mannerly.model import Caps, FrontierStats, Lease, Outcome, SiteState


@asynccontextmanager
async def _each(make_engine: MakeEngine, folder: Path) -> AsyncIterator[list[Engine]]:
    """An engine of its own for each earlier schema, with the old crawl in it."""
    engines = []
    first = make_engine(folder)
    for number, old in enumerate(first.old_versions()):
        place = folder / str(number)
        place.mkdir()
        engine = make_engine(place)
        await engine.old_versions()[number].make()
        assert engine.old_versions()[number].name == old.name
        engines.append(engine)
    yield engines
    for engine in [first, *engines]:
        engine.close()


async def test_every_count_is_right_after_the_upgrade(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    pending = sum(len(site.pending) for site in old_crawl.SITES)
    outcomes = Counter(outcome for site in old_crawl.SITES for _, outcome in site.settled)
    async with _each(make_engine, tmp_path) as engines:
        for engine in engines:
            async with engine.open() as frontier:
                assert await frontier.stats() == FrontierStats(
                    sites=5,
                    sites_ready=1,
                    sites_waiting=2,
                    sites_abandoned=1,
                    urls_known=pending + outcomes.total(),
                    urls_pending=pending,
                    urls_abandoned=2,
                    settled=dict(outcomes),
                    leases=old_crawl.LEASES,
                    refused=len(old_crawl.REFUSED),
                    writers=1,
                )
                for site in old_crawl.SITES:
                    facts = await facts_of(frontier, site.name)
                    pages = sum(outcome is Outcome.FETCHED for _, outcome in site.settled)
                    counts = (len(site.pending), 0, pages, 0)
                    assert (facts.site, *facts[-4:]) == (site.name, *counts)
                    state = SiteState.ABANDONED if site.abandoned else SiteState.OPEN
                    assert (facts.state, facts.leased) == (state, site.leased)
                    assert facts.holder == (old_crawl.LABEL if site.leased else "")
                    assert (facts.failures, facts.delay_s) == (site.failures, site.delay_s)
                    assert facts.ready_in_s == pytest.approx(site.ready_in_s, abs=5)


async def test_every_url_is_there_after_the_upgrade(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    async with _each(make_engine, tmp_path) as engines:
        for engine in engines:
            async with engine.open() as frontier:
                pending = await everything(frontier, Kind.PENDING, 2)
                for site in old_crawl.SITES:
                    queue = tuple(it.queued for it in pending if it.site == site.name)
                    assert queue == site.pending
                done = {
                    (it.site, it.hash): it.outcome
                    for it in await everything(frontier, Kind.SETTLED, 2)
                }
                assert done == {
                    (site.name, hash_): outcome
                    for site in old_crawl.SITES
                    for hash_, outcome in site.settled
                }
                assert await everything(frontier, Kind.SPILT) == []


async def test_the_crawl_goes_on_after_the_upgrade(make_engine: MakeEngine, tmp_path: Path) -> None:
    async with _each(make_engine, tmp_path) as engines:
        for engine in engines:
            async with engine.open() as frontier:
                assert await frontier.settings() == old_crawl.SETTINGS
                # What was added first stays before what is added now.
                assert await frontier.add([url("ready.example", 1), url("ready.example", 4)]) == (
                    Added(1, 1, 0)
                )
                worker = await Worker.enlist(frontier)
                (ready,) = await worker.lease(urls=9, ttl_s=10_000)
                assert (ready.site, hashes(ready), ready.failures) == (
                    "ready.example",
                    [3, 1, 4, 2],
                    2,
                )
                (robots,) = ready.robots
                assert robots[:3] == old_crawl.ROBOTS[:3]
                await engine.advance(100)
                assert names(await worker.lease(ttl_s=1000)) == ["resting.example"]
                await engine.advance(510)
                assert "leased.example" in names(await worker.lease())


async def test_the_old_holder_goes_on_after_the_upgrade(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    async with _each(make_engine, tmp_path) as engines:
        for engine in engines:
            async with engine.open() as frontier:
                state = await frontier.writer_state(old_crawl.WRITER)
                assert state == WriterState(old_crawl.SEQUENCE, frozenset(old_crawl.REFUSED))
                assert await frontier.retire(old_crawl.WRITER, 15) == 1
                worker = await Worker.enlist(frontier)
                await engine.advance(20)
                found = {lease.site: lease for lease in await worker.lease(urls=9)}
                assert hashes(found["leased.example"]) == [1, 2]
                # The number of its site is the same, so the old process can still be answered.
                stale = Lease(
                    "leased.example",
                    found["leased.example"].handle,
                    old_crawl.TOKEN,
                    found["leased.example"].urls,
                    [],
                    0,
                    0.0,
                )
                old = Worker(frontier, old_crawl.WRITER)
                old.sequence = old_crawl.SEQUENCE
                assert await old.commit(settled(stale), released(stale, 0)) == {old_crawl.TOKEN}


async def test_caps_count_what_there_was_before_the_upgrade(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    """Two pages and three pending URLs: with a cap of six there is room for one more."""
    async with _each(make_engine, tmp_path) as engines:
        for engine in engines:
            async with engine.open(caps=Caps(pending=5, spilt=1, pages=6)) as frontier:
                batch = [url("ready.example", number) for number in (20, 21, 22)]
                assert await frontier.add(batch) == Added(1, 0, 0, spilt=1, dropped=1)
