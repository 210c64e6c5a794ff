"""Leases that lapse and are taken over; commits that come late, twice, or from an old copy."""

from collections.abc import Awaitable, Callable

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    Worker,
    deferred,
    hashes,
    listed,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Committed, Kind, WriterState
from mannerly.model import Commit, Lease, Outcome

Step = Callable[[Worker, Lease], Awaitable[object]]


async def _nothing(worker: Worker, lease: Lease) -> None:
    pass


async def _add(worker: Worker, lease: Lease) -> None:
    await worker.frontier.add([url("a.example", 9)])


async def _settle(worker: Worker, lease: Lease) -> None:
    await worker.commit(settled(lease, 0))


async def _defer(worker: Worker, lease: Lease) -> None:
    await worker.commit(deferred(lease, 0))


async def _add_and_settle(worker: Worker, lease: Lease) -> None:
    await _add(worker, lease)
    await _settle(worker, lease)


LEFT = {
    "leased": (_nothing, [1, 2, 3]),
    "added": (_add, [1, 2, 3, 9]),
    "settled": (_settle, [2, 3]),
    "deferred": (_defer, [2, 3, 1]),
    "added and settled": (_add_and_settle, [2, 3, 9]),
}
"""How far a worker came before it fell silent, and what it left in the queue."""


@pytest.mark.parametrize("came", LEFT)
async def test_a_worker_that_falls_silent_is_followed_where_it_stopped(
    engine: Engine, worker: Worker, other: Worker, came: str
) -> None:
    step, left = LEFT[came]
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease(urls=2, ttl_s=65)
    await step(worker, lease)
    await engine.advance(60)
    assert await other.lease() == []
    await engine.advance(10)
    (taken,) = await other.lease(urls=9, ttl_s=605)
    assert hashes(taken) == left
    # It wakes up, and knows nothing of that.
    before = await other.frontier.stats()
    assert await worker.commit(settled(lease, 1), released(lease, 0)) == {lease.token}
    after = await other.frontier.stats()
    assert after.refused == before.refused + 1
    assert (after.settled, after.urls_pending) == (before.settled, before.urls_pending)
    assert await worker.lease() == [], "the site is still its new holder's"
    parts = [settled(taken, index) for index in range(len(left))]
    assert await other.commit(*parts, released(taken, 0)) == frozenset()
    stats = await other.frontier.stats()
    assert stats.urls_pending == 0
    assert stats.urls_known == stats.fetched


async def test_the_last_commit_sent_again_after_a_takeover_changes_nothing(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    """Its answer was lost. Meanwhile the site has another holder."""
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease(urls=3, ttl_s=65)
    commit = Commit(1, [settled(lease, 0)], [deferred(lease, 1)], [released(lease, 0)])
    await worker.frontier.commit(worker.writer, commit)
    (taken,) = await other.lease(urls=9)
    before = await other.frontier.stats()
    for _ in range(3):
        answer = await worker.frontier.commit(worker.writer, commit)
        assert answer == Committed(frozenset())
    assert await other.frontier.stats() == before
    assert await other.commit(settled(taken, 0)) == frozenset(), "it still holds the site"


async def test_a_refused_commit_sent_again_is_refused_and_counted_once(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 1)])
    stale = await worker.lease(ttl_s=65)
    await engine.advance(70)
    await other.lease(ttl_s=65)
    commit = Commit(1, [settled(lease) for lease in stale])
    refused = frozenset(lease.token for lease in stale)
    for _ in range(3):
        assert await worker.frontier.commit(worker.writer, commit) == Committed(refused)
    assert (await worker.frontier.stats()).refused == 2
    # Even when the sites are free again: the answer was given.
    await engine.advance(70)
    assert await worker.frontier.commit(worker.writer, commit) == Committed(refused)
    assert await worker.frontier.writer_state(worker.writer) == WriterState(1, refused)


async def test_a_commit_from_an_old_copy_is_refused(worker: Worker, other: Worker) -> None:
    """Two processes under one id, one of them restored from a copy: nothing of it is applied."""
    await worker.frontier.add([url("a.example", number) for number in range(5)])
    (lease,) = await worker.lease(urls=5)
    await worker.commit(settled(lease, 0))
    copy = Worker(other.frontier, worker.writer)
    copy.sequence = worker.sequence
    await worker.commit(settled(lease, 1))
    await worker.commit(settled(lease, 2))
    before = await worker.frontier.stats()
    with pytest.raises(FrontierMisuseError):
        await copy.commit(settled(lease, 3), released(lease, 0))
    assert await worker.frontier.stats() == before
    assert await worker.commit(settled(lease, 3), released(lease, 0)) == frozenset()
    assert await listed(worker.frontier, Kind.PENDING) == [4]


async def test_a_site_changes_hands_again_and_again(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    tokens = []
    for holder in [worker, other] * 5:
        (lease,) = await holder.lease(ttl_s=65)
        tokens.append(lease)
        await engine.advance(70)
    *stale, last = tokens
    assert len({lease.token for lease in tokens}) == 10
    refused = {lease.token for lease in stale}
    assert await worker.commit(*(settled(lease) for lease in stale)) == refused
    assert await other.commit(settled(last), released(last, 0)) == frozenset()
    stats = await worker.frontier.stats()
    assert (stats.leases, stats.refused) == (10, 9)
    assert stats.settled == {Outcome.FETCHED: 1}


async def test_a_retired_writer_can_lease_nothing(worker: Worker, other: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    await other.frontier.retire(worker.writer, 0)
    with pytest.raises(FrontierMisuseError):
        await worker.lease()
    assert names(await other.lease()) == ["a.example"]


@pytest.mark.parametrize("outcome", [Outcome.PENDING, Outcome.NOT_SENT])
async def test_nothing_is_settled_as_not_settled(worker: Worker, outcome: Outcome) -> None:
    await worker.frontier.add([url("a.example", 1), url("a.example", 2)])
    (lease,) = await worker.lease(urls=2)
    with pytest.raises(FrontierMisuseError):
        await worker.commit(settled(lease, 0), settled(lease, 1, outcome))
    worker.sequence -= 1
    assert (await worker.frontier.stats()).urls_pending == 2
    assert await worker.commit(settled(lease, 0)) == frozenset()


async def test_a_url_that_is_not_at_its_place_is_a_mistake(worker: Worker) -> None:
    """Settled or deferred twice: nothing of that commit is applied."""
    await worker.frontier.add([url("a.example", number) for number in (1, 2, 3)])
    (lease,) = await worker.lease(urls=3)
    await worker.commit(settled(lease, 0), deferred(lease, 1))
    for part in (settled(lease, 0), deferred(lease, 0), settled(lease, 1), deferred(lease, 1)):
        with pytest.raises(FrontierMisuseError):
            await worker.commit(settled(lease, 2), part, released(lease, 0))
        worker.sequence -= 1
    assert await listed(worker.frontier, Kind.PENDING) == [3, 2]
    assert await worker.commit(settled(lease, 2), released(lease, 0)) == frozenset()
