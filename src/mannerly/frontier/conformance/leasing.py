"""lease: one live lease per site, longest ready first, the head of the queue, never early."""

import pytest

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    hashes,
    names,
    released,
    robots,
    settled,
    url,
)
from mannerly.model import Priority, RobotsRecord, RobotsState


async def test_a_leased_site_is_not_leased_again(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    assert names(await worker.lease()) == ["a.example"]
    assert await worker.lease() == []
    assert await other.lease() == []


async def test_no_more_than_wanted_and_none_twice(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url(f"s{number}.example", 1) for number in range(7)])
    batches = [await worker.lease(3), await other.lease(3), await worker.lease(3)]
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert len({lease.site for batch in batches for lease in batch}) == 7
    tokens = {lease.token for batch in batches for lease in batch}
    assert len(tokens) == 7
    assert 0 not in tokens


async def test_longest_ready_first(engine: Engine, worker: Worker) -> None:
    for site in ("c.example", "a.example", "b.example"):
        await worker.frontier.add([url(site, 1)])
        await engine.advance(10)
    taken = [names(await worker.lease(1)) for _ in range(3)]
    assert taken == [["c.example"], ["a.example"], ["b.example"]]


async def test_priority_first_then_age(worker: Worker) -> None:
    await worker.frontier.add(
        [url("a.example", 9), url("a.example", 5), url("a.example", 7, Priority.RETRY)]
    )
    await worker.frontier.add([url("a.example", 3), url("a.example", 8, Priority.SEED)])
    await worker.frontier.add([url("a.example", 4, Priority.NEXT)])
    (lease,) = await worker.lease(urls=10)
    assert hashes(lease) == [4, 8, 9, 5, 3, 7]


@pytest.mark.parametrize("urls", [1, 2, 5])
async def test_only_the_head_is_given_and_nothing_is_removed(
    engine: Engine, worker: Worker, urls: int
) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    for _ in range(2):
        (lease,) = await worker.lease(urls=urls)
        assert hashes(lease) == [1, 2, 3][:urls]
        await engine.advance(70)
    assert (await worker.frontier.stats()).urls_pending == 3


async def test_wanting_none_only_asks(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    assert await worker.next_ready_in_s() == 0
    assert (await worker.frontier.stats()).leases == 0
    assert names(await worker.lease()) == ["a.example"]


async def test_the_next_ready_time_counts_leases_and_rests(engine: Engine, worker: Worker) -> None:
    frontier = worker.frontier
    assert await worker.next_ready_in_s() is None
    await frontier.add([url("a.example", 1), url("a.example", 2), url("b.example", 1)])
    leased = await frontier.lease(worker.writer, 1, ttl_s=65, urls_per_site=1)
    assert leased.next_ready_in_s == 0, "the other site is ready"
    leased = await frontier.lease(worker.writer, 1, ttl_s=45, urls_per_site=1)
    assert leased.next_ready_in_s is not None
    assert 40 < leased.next_ready_in_s <= 45, "the second lease lapses first"
    await engine.advance(30)
    wait_s = await worker.next_ready_in_s()
    assert wait_s is not None
    assert 10 < wait_s <= 15


async def test_a_released_site_rests_as_long_as_it_was_told(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await engine.advance(50)
    await worker.commit(settled(lease), released(lease, 95))
    for _ in range(9):
        await engine.advance(10)
        assert await other.lease() == []
    await engine.advance(10)
    assert names(await other.lease()) == ["a.example"]


async def test_a_site_that_rests_is_not_leased_along_with_one_that_is_ready(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2), url("b.example", 1)])
    leases = {lease.site: lease for lease in await worker.lease(ttl_s=605)}
    await worker.commit(settled(leases["a.example"]), released(leases["a.example"], 15))
    await engine.advance(10)
    await worker.frontier.add([url("c.example", 1)])
    assert names(await other.lease()) == ["c.example"]


async def test_a_release_without_rest_makes_ready_at_once(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0))
    (taken,) = await other.lease()
    assert hashes(taken) == [2]


async def test_a_lease_lapses_after_its_ttl_and_not_before(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lapsed,) = await worker.lease(ttl_s=65)
    await engine.advance(60)
    assert await other.lease() == []
    await engine.advance(10)
    (taken,) = await other.lease()
    assert hashes(taken) == [1]
    assert taken.token != lapsed.token


async def test_a_site_that_was_settled_but_never_released_is_no_work(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    first, second = await worker.lease()
    await worker.commit(settled(first))
    await engine.advance(70)
    assert names(await other.lease(1)) == [second.site], "no room is lost to the empty one"
    assert await other.lease() == []
    assert (await worker.frontier.stats()).sites_waiting == 1
    await worker.frontier.add([url(first.site, 2)])
    assert names(await other.lease()) == [first.site]


async def test_a_lease_counts_from_before_it_was_asked_for(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    (first,) = await worker.lease(1)
    await engine.advance(10)
    (second,) = await worker.lease(1)
    assert second.leased_at >= first.leased_at


async def test_failures_come_back_with_the_lease(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    said, found = (1, 2, 0, 3), []
    for failures in said:
        (lease,) = await worker.lease()
        found.append(lease.failures)
        await worker.commit(deferred(lease), released(lease, 0, failures))
    assert found == [0, 1, 2, 0]


async def test_robots_records_come_back_with_their_age(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    # Both are ready equally long, so which of them comes first is the engine's choice.
    first, second = sorted(await worker.lease(), key=lambda lease: lease.site)
    assert first.robots == second.robots == []
    body = bytes(range(256)) * 50
    found = RobotsRecord("https://a.example", RobotsState.FOUND, body, 30.0, 0)
    gone = RobotsRecord("http://a.example:81", RobotsState.UNREACHABLE, b"", 0.0, 4)
    other = RobotsRecord("https://unasked.a.example", RobotsState.FOUND, body, 0.0, 0)
    at_port = url("a.example", 2)._replace(url="http://a.example:81/2")
    await worker.frontier.add([at_port])
    await worker.commit(
        robots(first, found),
        robots(first, gone),
        robots(first, other),  # of no URL in the lease, so it does not come along
        released(first, 0),
        released(second, 0),
    )
    await engine.advance(100)
    leases = {lease.site: lease for lease in await worker.lease(urls=2)}
    records = {record.origin: record for record in leases[first.site].robots}
    assert leases[second.site].robots == []
    assert {it.origin: (it.state, it.body, it.failures) for it in records.values()} == {
        found.origin: (found.state, body, 0),
        gone.origin: (gone.state, b"", 4),
    }
    assert records[found.origin].age_s == pytest.approx(130, abs=5)
    assert records[gone.origin].age_s == pytest.approx(100, abs=5)


async def test_a_new_robots_record_takes_the_place_of_the_old_one(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    old = RobotsRecord("https://a.example", RobotsState.UNREACHABLE, b"", 0.0, 2)
    new = RobotsRecord("https://a.example", RobotsState.ABSENT, b"", 0.0, 0)
    await worker.commit(robots(lease, old))
    await worker.commit(robots(lease, new), released(lease, 0))
    (lease,) = await worker.lease()
    assert [(it.state, it.failures) for it in lease.robots] == [(RobotsState.ABSENT, 0)]
