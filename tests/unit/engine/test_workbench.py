from mannerly.engine.workbench import Seat, Workbench, by_origin
from mannerly.model import Lease, QueuedUrl


def seat(token: int) -> Seat:
    return Seat(Lease("example.org", 1, token, [], [], 0, 0.0), start_by_at=60.0)


def test_seats_are_taken_in_order_of_their_time() -> None:
    bench = Workbench()
    late, early, at_once = seat(1), seat(2), seat(3)
    bench.sit(late, 20.0, 0.0)
    bench.sit(early, 10.0, 0.0)
    bench.sit(at_once, 0.0, 0.0)
    assert len(bench) == 3
    assert bench.take(0.0) is at_once
    assert bench.take(9.9) is None
    assert bench.next_ready_at() == 10.0
    assert bench.ready(25.0) == 2
    assert bench.take(25.0) is early
    assert bench.take(25.0) is late
    assert bench.next_ready_at() is None


def test_revoked_seats_are_marked_wherever_they_sit() -> None:
    bench = Workbench()
    ready, resting, other = seat(1), seat(2), seat(3)
    bench.sit(ready, 0.0, 0.0)
    bench.sit(resting, 9.0, 0.0)
    bench.sit(other, 0.0, 0.0)
    bench.revoke({1, 2})
    assert (ready.revoked, resting.revoked, other.revoked) == (True, True, False)
    assert len(bench.drain()) == 3
    assert len(bench) == 0


def test_who_is_shed_would_have_come_last_and_the_others_keep_their_order() -> None:
    bench = Workbench()
    ready = [seat(1), seat(2)]
    resting = [seat(number) for number in range(3, 8)]
    for one in ready:
        bench.sit(one, 0.0, 0.0)
    for at, one in zip((30.0, 10.0, 50.0, 20.0, 40.0), resting, strict=True):
        bench.sit(one, at, 0.0)
    assert bench.shed(7) == []
    assert [it.lease.token for it in bench.shed(4)] == [3, 7, 5]
    assert [it.lease.token for it in bench.shed(1)] == [4, 6, 2]
    assert bench.take(100.0) is ready[0]
    assert len(bench) == 0


def test_what_is_left_after_shedding_still_wakes_in_time() -> None:
    bench = Workbench()
    for number in range(20):
        bench.sit(seat(number), 100.0 - number, 0.0)
    bench.shed(10)
    bench.sit(seat(99), 85.5, 0.0)
    woken = [taken.lease.token for _ in range(11) if (taken := bench.take(200.0))]
    assert woken == [19, 18, 17, 16, 15, 99, 14, 13, 12, 11, 10]


def queued(seq: int, url: str, priority: int = 5) -> QueuedUrl:
    return QueuedUrl(url, seq, 0, priority, seq, 2, 0, 0)


def test_urls_of_an_origin_are_side_by_side_and_the_oldest_is_first() -> None:
    urls = [
        queued(3, "https://z.example/first", 4),
        queued(1, "https://www.example/a"),
        queued(2, "http://a.example/b"),
        queued(4, "https://www.example/c"),
        queued(5, "http://a.example/d"),
        queued(6, "https://z.example/e"),
    ]
    assert [url.seq for url in by_origin(urls)] == [3, 1, 4, 2, 5, 6]
    assert by_origin([]) == []
    # What nobody should have put there ends as a URL, and not with the crawl.
    assert by_origin([queued(7, "odd")]) == [queued(7, "odd")]


def test_nobody_waits_for_ever_where_only_the_first_of_a_lease_is_visited() -> None:
    """New ones come as fast as old ones go, all of an origin that the alphabet puts first."""
    queue = [queued(0, "https://z.example/"), *(queued(n, f"http://a.example/{n}") for n in (1, 2))]
    for n in range(3, 20):
        visited = by_origin(queue[:4])[0]
        queue.remove(visited)
        queue.append(queued(n, f"http://a.example/{n}"))
    assert queue[0].seq == 17
