"""iterate, iterate_sites: all of it, once, a portion at a time, while others go on.

And find_sites: what a person looks for."""

from collections import Counter
from itertools import count
from typing import Any

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    every_site,
    everything,
    facts_of,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Cursor, Frontier, Kind, SiteOrder
from mannerly.model import Caps, ListedUrl, Outcome, Priority, UrlState

LIMITS = [1, 2, 3, 7, 1000]


@pytest.mark.parametrize("kind", list(Kind))
async def test_nothing_is_listed_of_nothing(frontier: Frontier, kind: Kind) -> None:
    assert await everything(frontier, kind) == []
    assert await every_site(frontier) == []


@pytest.mark.parametrize("limit", LIMITS)
async def test_pending_urls_in_the_order_of_their_visits(worker: Worker, limit: int) -> None:
    frontier = worker.frontier
    for k in range(4):
        for n in range(3):
            priority = Priority.SEED if k == 2 else Priority.LINK
            await frontier.add([url(f"s{n}.example", k, priority)])
    listed = await everything(frontier, Kind.PENDING, limit)
    assert {(it.state, it.outcome) for it in listed} == {(UrlState.PENDING, Outcome.PENDING)}
    leases = await worker.lease(urls=9)
    assert len(listed) == 12
    for lease in leases:
        found = [it for it in listed if it.site == lease.site]
        assert [it.queued for it in found] == lease.urls
        assert [it.hash for it in found] == [2, 0, 1, 3]
    assert await everything(frontier, Kind.PENDING, limit) == listed, "leased is still pending"


@pytest.mark.parametrize("limit", LIMITS)
async def test_settled_urls_with_their_outcomes(worker: Worker, limit: int) -> None:
    await worker.frontier.add([url(f"s{n}.example", k) for n in range(3) for k in range(-2, 3)])
    outcomes = [Outcome.FETCHED, Outcome.HTTP_ERROR, Outcome.TIMED_OUT]
    expected = set()
    for lease in await worker.lease(urls=4):
        parts = [settled(lease, index, outcome) for index, outcome in enumerate(outcomes)]
        expected |= {
            ListedUrl(lease.site, part.hash, UrlState.SETTLED, part.outcome, None) for part in parts
        }
        await worker.commit(*parts, released(lease, 0))
    listed = await everything(worker.frontier, Kind.SETTLED, limit)
    assert len(listed) == 9
    assert set(listed) == expected
    assert len(await everything(worker.frontier, Kind.PENDING, limit)) == 6


@pytest.mark.parametrize("limit", LIMITS)
async def test_spilt_urls(engine: Engine, limit: int) -> None:
    async with engine.open(caps=Caps(pending=2, spilt=0, pages=0)) as frontier:
        batch = [url(f"s{n}.example", k) for k in range(5) for n in range(3)]
        await frontier.add(batch)
        listed = await everything(frontier, Kind.SPILT, limit)
        assert len(listed) == 9
        assert {(it.site, it.hash) for it in listed} == {it[:2] for it in batch[6:]}
        assert {it.state for it in listed} == {UrlState.SPILT}
        assert {it.queued.url for it in listed if it.queued} == {it.url for it in batch[6:]}
        assert len(await everything(frontier, Kind.PENDING, limit)) == 6


async def test_abandoned_sites_have_pending_urls(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in range(3)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0, 7, abandoned=True))
    assert [it.hash for it in await everything(worker.frontier, Kind.PENDING, 1)] == [1, 2]


async def test_a_listing_goes_on_on_another_handle(engine: Engine, frontier: Frontier) -> None:
    await frontier.add([url(f"s{number}.example", number) for number in range(10)])
    async with engine.open() as another:
        first = await frontier.iterate(Kind.PENDING, limit=4)
        assert first.after is not None
        second = await another.iterate(Kind.PENDING, after=first.after, limit=100)
        sites = await frontier.iterate_sites(limit=4)
        rest = await another.iterate_sites(after=sites.after, limit=100)
    assert sorted(it.hash for it in first.urls + second.urls) == list(range(10))
    assert len({it.site for it in sites.sites + rest.sites}) == 10


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_what_stands_still_is_listed_once_while_others_add_and_settle(
    worker: Worker, other: Worker, limit: int
) -> None:
    frontier = worker.frontier
    standing = {(f"s{n}.example", k) for n in range(0, 20, 2) for k in range(4)}
    await frontier.add([url(f"s{n}.example", k) for n in range(20) for k in range(4)])
    moving = {lease.site: lease for lease in await other.lease(urls=4)}
    settling = iter([moving[f"s{n}.example"] for n in range(1, 20, 2)])
    seen: Counter[tuple[str, int]] = Counter()
    after: Cursor | None = None
    for turn in count():
        urls, after = await frontier.iterate(Kind.PENDING, after=after, limit=limit)
        seen.update((it.site, it.hash) for it in urls)
        if after is None:
            break
        lease = next(settling, None)
        if lease:
            await other.frontier.add([url(f"s{turn}.example", 1000), url(f"s{turn}.new", 1)])
            parts = [settled(lease, index) for index in range(4)]
            assert await other.commit(*parts, released(lease, 0)) == frozenset()
    assert {key: seen[key] for key in standing} == dict.fromkeys(standing, 1)
    assert set(seen.values()) == {1}, "nothing moved in its queue, so nothing is listed twice"


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_what_is_settled_is_listed_once_while_more_is_settled(
    worker: Worker, other: Worker, limit: int
) -> None:
    await worker.frontier.add([url(f"s{n}.example", k) for n in range(10) for k in range(4)])
    leases = await other.lease(urls=4)
    await other.commit(*(settled(lease, index) for lease in leases for index in (0, 2)))
    before = {(lease.site, lease.urls[index].hash) for lease in leases for index in (0, 2)}
    more = iter([settled(lease, index) for lease in leases for index in (1, 3)])
    seen: Counter[tuple[str, int]] = Counter()
    after: Cursor | None = None
    while True:
        urls, after = await worker.frontier.iterate(Kind.SETTLED, after=after, limit=limit)
        seen.update((it.site, it.hash) for it in urls)
        if after is None:
            break
        part = next(more, None)
        if part:
            await other.commit(part)
    assert {key: seen[key] for key in before} == dict.fromkeys(before, 1)
    assert set(seen.values()) == {1}


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_sites_are_listed_once_while_others_are_added(
    worker: Worker, other: Worker, limit: int
) -> None:
    standing = [f"s{number}.example" for number in range(20)]
    await worker.frontier.add([url(site, 1) for site in standing])
    seen: Counter[str] = Counter()
    after: Cursor | None = None
    for turn in count():
        sites, after = await worker.frontier.iterate_sites(after=after, limit=limit)
        seen.update(it.site for it in sites)
        if after is None:
            break
        if turn < 15:
            await other.frontier.add([url(f"new{turn}.example", 1)])
            await other.lease(1)
    assert {site: seen[site] for site in standing} == dict.fromkeys(standing, 1)
    assert set(seen.values()) == {1}


async def test_sites_are_found_by_the_beginning_of_their_names_a_page_at_a_time(
    frontier: Frontier,
) -> None:
    names = ["b.example", "ab.example", "aa.example", "ac.example", "zürich.example", "a.example"]
    await frontier.add([url(site, 1) for site in names])
    assert await found(frontier) == sorted(names)
    assert await found(frontier, begins="a") == [
        "a.example",
        "aa.example",
        "ab.example",
        "ac.example",
    ]
    assert await found(frontier, begins="a", skip=1, limit=2) == ["aa.example", "ab.example"]
    assert await found(frontier, begins="zü") == ["zürich.example"]
    assert await found(frontier, begins="a%") == []
    assert await found(frontier, skip=6) == []


@pytest.mark.parametrize("begins", ["", "s"])
async def test_sites_are_found_in_an_order(worker: Worker, begins: str) -> None:
    frontier = worker.frontier
    pages = {"s1.example": 1, "s2.example": 3, "s3.example": 2}
    failures = {"s1.example": 2, "s2.example": 1, "s3.example": 0}
    await frontier.add([url(site, k) for site in pages for k in range(4)])
    for lease in await worker.lease(urls=4):
        parts = [settled(lease, index) for index in range(pages[lease.site])]
        rest_s = 100.0 * pages[lease.site]
        await worker.commit(*parts, released(lease, rest_s, failures[lease.site]))
    by_pages = ["s2.example", "s3.example", "s1.example"]
    assert await found(frontier, begins=begins, order=SiteOrder.PAGES) == by_pages
    assert await found(frontier, begins=begins, order=SiteOrder.PENDING) == by_pages[::-1]
    assert await found(frontier, begins=begins, order=SiteOrder.NEXT) == by_pages[::-1]
    by_failures = ["s1.example", "s2.example", "s3.example"]
    assert await found(frontier, begins=begins, order=SiteOrder.FAILURES) == by_failures
    page = await found(frontier, begins=begins, order=SiteOrder.PAGES, skip=1, limit=1)
    assert page == ["s3.example"]
    (facts,) = await frontier.find_sites(begins="s2", limit=1)
    assert facts._replace(ready_in_s=0) == (await facts_of(frontier, "s2.example"))._replace(
        ready_in_s=0
    )


async def found(frontier: Frontier, **asked: Any) -> list[str]:
    return [facts.site for facts in await frontier.find_sites(**asked)]
