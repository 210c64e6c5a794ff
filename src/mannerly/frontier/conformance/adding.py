"""add: idempotent, counted, and never making a site early."""

from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import (
    REST_S,
    Worker,
    hashes,
    names,
    released,
    settled,
    url,
)
from mannerly.frontier.contract import Added, Frontier
from mannerly.model import NewUrl, Outcome, Priority, QueuedUrl, Source


async def test_nothing_to_add_is_nothing_added(frontier: Frontier) -> None:
    assert await frontier.add([]) == Added(0, 0, 0)
    assert (await frontier.stats()).sites == 0


async def test_a_url_comes_back_as_it_was_given(worker: Worker) -> None:
    odd = "https://a.example/%F0%9F%A6%86?q='%22;--&ü"
    given = NewUrl("a.example", -(2**63), odd, 3, Priority.SEED, Source.SITEMAP, 2**63 - 1)
    await worker.frontier.add([given])
    (lease,) = await worker.lease()
    (queued,) = lease.urls
    assert lease.site == "a.example"
    assert queued == QueuedUrl(
        url=odd,
        hash=-(2**63),
        depth=3,
        priority=Priority.SEED,
        seq=queued.seq,
        source=Source.SITEMAP,
        referrer=2**63 - 1,
        tries=0,
    )


async def test_new_and_known_are_told_apart_on_every_handle(
    engine: Engine, frontier: Frontier
) -> None:
    assert await frontier.add([url("a.example", 1), url("b.example", 1)]) == Added(2, 0, 0)
    async with engine.open() as another:
        again = [url("a.example", 1), url("a.example", 2), url("c.example", 1)]
        assert await another.add(again) == Added(new=2, known=1, foreign=0)
    stats = await frontier.stats()
    assert (stats.sites, stats.urls_known, stats.urls_pending) == (3, 4, 4)


async def test_repeats_in_one_batch_count_once_and_the_first_stays(worker: Worker) -> None:
    first = url("a.example", 1)
    repeat = first._replace(url="https://a.example/other", priority=Priority.NEXT)
    assert await worker.frontier.add([first, repeat, first]) == Added(1, 0, 0)
    (lease,) = await worker.lease(urls=5)
    assert [queued.url for queued in lease.urls] == [first.url]


async def test_of_a_known_url_nothing_changes(worker: Worker) -> None:
    known = url("a.example", 1)
    await worker.frontier.add([known, url("a.example", 2)])
    await worker.frontier.add([known._replace(url="https://a.example/?", priority=Priority.NEXT)])
    (lease,) = await worker.lease(urls=5)
    assert [(it.url, it.priority) for it in lease.urls] == [
        ("https://a.example/1", Priority.LINK),
        ("https://a.example/2", Priority.LINK),
    ]


async def test_a_settled_url_is_known_for_ever(worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease, outcome=Outcome.HTTP_ERROR), released(lease, 0))
    assert await worker.frontier.add([url("a.example", 1)]) == Added(0, 1, 0)
    assert await worker.lease() == []
    assert await worker.next_ready_in_s() is None


async def test_unknown_sites_are_foreign_on_request(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1)])
    batch = [url("a.example", 1), url("a.example", 2), url("b.example", 3), url("b.example", 3)]
    async with engine.open() as another:
        assert await another.add(batch, new_sites=False) == Added(1, 1, 1)
    assert names(await worker.lease()) == ["a.example"]
    assert (await worker.frontier.stats()).sites == 1
    # What was foreign is not known: it can still be added.
    assert await worker.frontier.add(batch) == Added(1, 2, 0)


async def test_new_sites_are_ready_at_once(worker: Worker) -> None:
    assert await worker.next_ready_in_s() is None
    await worker.frontier.add([url("a.example", 1)])
    assert await worker.next_ready_in_s() == 0
    assert names(await worker.lease()) == ["a.example"]


async def test_a_url_added_to_a_resting_site_does_not_make_it_early(
    engine: Engine, worker: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease), released(lease, 35))
    assert await worker.next_ready_in_s() is None
    await engine.advance(10)
    await worker.frontier.add([url("a.example", 2)])
    wait_s = await worker.next_ready_in_s()
    assert wait_s is not None
    assert 20 < wait_s <= 25
    await engine.advance(20)
    assert await worker.lease() == []
    await engine.advance(10)
    assert names(await worker.lease()) == ["a.example"]


async def test_a_url_added_under_a_lease_waits_for_its_release(
    engine: Engine, worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await other.frontier.add([url("a.example", 2)])
    assert await other.lease() == []
    await worker.commit(settled(lease), released(lease, REST_S))
    assert await other.lease() == []
    await engine.advance(20)
    (taken,) = await other.lease(urls=5)
    assert hashes(taken) == [2]


async def test_a_url_added_after_everything_was_settled_survives_the_release(
    worker: Worker, other: Worker
) -> None:
    await worker.frontier.add([url("a.example", 1)])
    (lease,) = await worker.lease()
    await worker.commit(settled(lease))
    await other.frontier.add([url("a.example", 2)])
    await worker.commit(released(lease, 0))
    (taken,) = await other.lease()
    assert hashes(taken) == [2]


async def test_a_large_batch_is_added_as_a_whole(worker: Worker) -> None:
    batch = [url(f"s{number % 700}.example", number) for number in range(7000)]
    assert await worker.frontier.add(batch) == Added(7000, 0, 0)
    assert await worker.frontier.add(batch[::-1]) == Added(0, 7000, 0)
    leases = await worker.lease(1000, urls=20)
    assert len(leases) == 700
    found = {lease.site: hashes(lease) for lease in leases}
    # Older first: in the order in which the batch had them.
    assert found == {f"s{n}.example": list(range(n, 7000, 700)) for n in range(700)}
