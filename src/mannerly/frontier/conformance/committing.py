"""commit: once per sequence, refused as a whole where the lease has moved on."""

import pytest

from mannerly.errors import FrontierMisuseError
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
from mannerly.frontier.contract import Committed, WriterState
from mannerly.model import Commit, Outcome, Priority, RobotsRecord, RobotsState


async def test_what_is_settled_leaves_the_queue(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease(urls=3)
    refused = await worker.commit(
        settled(lease, 0), settled(lease, 2, Outcome.TIMED_OUT), released(lease, 0)
    )
    assert refused == frozenset()
    (lease,) = await worker.lease(urls=3)
    assert hashes(lease) == [2]
    stats = await worker.frontier.stats()
    assert stats.settled == {Outcome.FETCHED: 1, Outcome.TIMED_OUT: 1}
    assert (stats.urls_known, stats.urls_pending) == (3, 1)


async def test_settling_keeps_the_lease(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease(urls=2)
    await worker.commit(settled(lease, 0))
    assert await other.lease() == []
    assert await worker.commit(settled(lease, 1), released(lease, 0)) == frozenset()
    assert (await worker.frontier.stats()).urls_pending == 0


async def test_a_release_without_work_left_parks_the_site(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 0))
    assert await worker.lease() == []
    assert await worker.next_ready_in_s() is None
    stats = await worker.frontier.stats()
    assert (stats.sites_ready, stats.sites_waiting) == (0, 0)


async def test_a_deferred_url_goes_behind_what_waits_there(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2)])
    await worker.frontier.add([url("a.example", 3, Priority.RETRY)])
    (lease,) = await worker.lease()
    await worker.commit(deferred(lease), released(lease, 0))
    await worker.frontier.add([url("a.example", 4, Priority.RETRY), url("a.example", 5)])
    (lease,) = await worker.lease(urls=9)
    assert hashes(lease) == [2, 5, 3, 1, 4]
    assert [queued.tries for queued in lease.urls] == [0, 0, 0, 1, 0]
    back = lease.urls[3]
    assert (back.url, back.priority) == ("https://a.example/1", Priority.RETRY)


async def test_a_url_deferred_to_its_own_priority_goes_to_the_end_of_it(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease(urls=2)
    await worker.commit(
        deferred(lease, 0, Priority.LINK), deferred(lease, 1, Priority.LINK), released(lease, 0)
    )
    (lease,) = await worker.lease(urls=9)
    assert hashes(lease) == [3, 1, 2]


async def test_a_stale_lease_can_do_nothing(engine: Engine, worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (stale,) = await worker.lease(urls=2, ttl_s=65)
    await engine.advance(70)
    (taken,) = await other.lease(urls=2)
    await worker.frontier.add([url("b.example", 1)])
    (live,) = await worker.lease()
    refused = await worker.commit(
        settled(stale, 0),
        deferred(stale, 1),
        robots(stale, RobotsRecord("https://a.example", RobotsState.ABSENT, b"", 0.0, 0)),
        released(stale, 0, failures=9, abandoned=True),
        settled(live),
        released(live, 0),
    )
    assert refused == {stale.token}, "all of the stale one, and nothing of the live one"
    stats = await worker.frontier.stats()
    assert (stats.refused, stats.sites_abandoned, stats.urls_pending) == (1, 0, 2)
    assert await worker.lease() == [], "the lease of the new holder still stands"
    assert await other.commit(settled(taken, 0), released(taken, 0)) == frozenset()
    (again,) = await other.lease(urls=5)
    assert [(queued.hash, queued.tries) for queued in again.urls] == [(2, 0)]
    assert (again.robots, again.failures) == ([], 0)


async def test_a_lapsed_lease_that_nobody_took_over_still_counts(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease(ttl_s=65)
    await engine.advance(70)
    assert await worker.commit(settled(lease), released(lease, 0)) == frozenset()
    assert await other.lease() == []


async def test_a_released_lease_is_stale(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease(urls=2)
    await worker.commit(settled(lease, 0), released(lease, 0))
    assert await worker.commit(settled(lease, 1)) == {lease.token}
    (again,) = await worker.lease()
    assert hashes(again) == [2]


@pytest.mark.parametrize("token", [0, 1, -(2**63)])
async def test_a_token_that_was_never_given_is_refused(worker: Worker, token: int) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(released(lease, 0))
    lease.token = token
    assert await worker.commit(settled(lease)) == {token}
    assert (await worker.frontier.stats()).urls_pending == 1


async def test_a_commit_sent_again_gives_the_stored_answer_and_counts_once(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (stale,) = await worker.lease(ttl_s=65)
    await engine.advance(70)
    await other.lease(1)
    await worker.frontier.add([url("b.example", 1), url("b.example", 2)])
    (live,) = await worker.lease()
    commit = Commit(1, [settled(stale), settled(live)], [], [released(live, 0)])
    first = await worker.frontier.commit(worker.writer, commit)
    assert first == Committed(frozenset({stale.token}))
    before = await worker.frontier.stats()
    assert before.settled == {Outcome.FETCHED: 1}
    assert names(await other.lease()) == ["b.example"]
    async with engine.open() as handle:  # a connection made anew
        assert await handle.commit(worker.writer, commit) == first
    assert await worker.frontier.commit(worker.writer, commit) == first
    after = await worker.frontier.stats()
    assert (after.settled, after.refused) == (before.settled, before.refused)
    assert await worker.lease() == [], "the repeat did not release what another has leased since"


async def test_a_repeat_is_known_by_its_number_alone(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit()
    repeat = Commit(1, [settled(lease)])
    assert await worker.frontier.commit(worker.writer, repeat) == Committed(frozenset())
    assert (await worker.frontier.stats()).urls_pending == 1


async def test_sequences_have_no_gaps_and_do_not_go_back(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit()
    await worker.commit()
    for sequence in (0, 1, 4, -1):
        with pytest.raises(FrontierMisuseError):
            await worker.frontier.commit(worker.writer, Commit(sequence, [settled(lease)]))
    state = await worker.frontier.writer_state(worker.writer)
    assert state == WriterState(2, frozenset())
    assert (await worker.frontier.stats()).urls_pending == 1
    assert await worker.commit(settled(lease)) == frozenset()


async def test_the_first_commit_has_number_one(worker: Worker) -> None:
    with pytest.raises(FrontierMisuseError):
        await worker.frontier.commit(worker.writer, Commit(2))


async def test_sequences_belong_to_writers(worker: Worker, other: Worker) -> None:
    await worker.commit()
    await worker.commit()
    with pytest.raises(FrontierMisuseError):
        await other.frontier.commit(other.writer, Commit(3))
    await other.commit()
    assert await worker.frontier.writer_state(other.writer) == WriterState(1, frozenset())


async def test_a_writer_nobody_enlisted_cannot_commit(worker: Worker) -> None:
    with pytest.raises(FrontierMisuseError):
        await worker.frontier.commit(12345, Commit(1))


async def test_many_sites_in_one_commit(worker: Worker) -> None:
    await worker.frontier.add([url(f"s{n}.example", k) for n in range(1200) for k in range(2)])
    leases = await worker.lease(1200, urls=2)
    assert len(leases) == 1200
    parts = [settled(lease, lease.handle % 2) for lease in leases]
    refused = await worker.commit(*parts, *(released(lease, 0) for lease in leases))
    assert refused == frozenset()
    again = await worker.lease(1200, urls=2)
    left = {lease.handle: hashes(lease) for lease in again}
    assert left == {lease.handle: [1 - lease.handle % 2] for lease in leases}
