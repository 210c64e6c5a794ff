"""What is known of a large site lies in many leaves, and nothing is lost as they split."""

import random
from collections.abc import AsyncIterator
from itertools import count

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.conformance.shapes import Worker, listed, released, settled
from mannerly.frontier.contract import Added, Forgotten, Kind
from mannerly.frontier.redis import RedisFrontier
from mannerly.model import Caps, DropCause, NewUrl, Outcome, UrlState
from tests.services.redis import shared

NUMBERS = count(1)
SITE = "large.example"
URLS = 3000
CAPS = Caps(pending=2000, spilt=0, pages=1500)


def url(hash_: int, number: int) -> NewUrl:
    return NewUrl(
        SITE, hash_, f"https://{SITE}/{number}", 1, (-(2**15), 2**15 - 1)[number % 2], 2, 0
    )


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    async with RedisFrontier(
        shared().url,
        schema=f"leaves_{next(NUMBERS)}",
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.SystemRandom(),
        caps=CAPS,
    ) as frontier:
        yield await Worker.enlist(frontier)


async def test_a_large_site(worker: Worker) -> None:
    chance = random.Random(3)
    # Some that differ in a few low bits only, and some that hold one another's bytes.
    hashes = [chance.getrandbits(64) - 2**63 for _ in range(URLS - 260)]
    hashes += range(250)
    hashes += [int.from_bytes(bytes([7] * n + [9] + [7] * (7 - n)), signed=True) for n in range(8)]
    hashes += [0x0707070707070707, -1]
    urls = [url(hash_, number) for number, hash_ in enumerate(hashes)]
    frontier = worker.frontier
    assert await frontier.add(urls) == Added(1500, 0, 0, spilt=1500)
    assert await frontier.add(urls[::-1]) == Added(0, 1500, 0, spilt=1500)
    waiting = await listed(frontier, Kind.PENDING)
    assert sorted(waiting + await listed(frontier, Kind.SPILT)) == sorted(hashes)
    (lease,) = await worker.lease(urls=1500)
    assert [it.hash for it in lease.urls] == waiting
    assert {it.priority for it in lease.urls} == {-(2**15)}
    done = [settled(lease, index) for index in range(1400)]
    await worker.commit(*done, settled(lease, 1400, Outcome.TIMED_OUT))
    assert set(await listed(frontier, Kind.SETTLED)) == set(waiting[:1401])
    for place in (0, 700, 1400):
        facts = await frontier.explain(SITE, waiting[place])
        assert facts.state is UrlState.SETTLED
    # All pages were given: what is spilt is dropped, and is as if it had never been.
    await worker.commit(*(settled(lease, index) for index in range(1401, 1500)))
    await worker.commit(released(lease, 0))
    (again,) = await worker.lease(urls=10)
    await worker.commit(settled(again, 0), released(again, 0))
    stats = await frontier.stats()
    assert (stats.fetched, stats.urls_spilt, stats.dropped) == (
        1500,
        0,
        {DropCause.SITE_FULL: 1499},
    )
    assert await frontier.add(urls) == Added(0, 1501, 0, dropped=1499)
    await frontier.exclude([SITE])
    assert await frontier.forget(SITE) == Forgotten(waiting=0, settled=1501, robots=0)
    assert await listed(frontier, Kind.SETTLED) == []
