import json
from collections import Counter, deque

from mannerly.model import Outcome
from mannerly.observe.summing import document, from_document, sum_into
from mannerly.observe.tally import Tally
from mannerly.url import Closed, LeftOut


def one(pages: int) -> Tally:
    tally = Tally(5.0, workers=10, in_flight=3, visits=pages, visit_limit=9, lag_s=pages / 10,
                  seats=4, unsettled=2)  # fmt: skip
    tally.settled = Counter({Outcome.FETCHED: pages, Outcome.DISALLOWED: 1})
    tally.left_out = Counter({LeftOut.DEPTH: 2})
    tally.deferred = Counter({"timeout": 1})
    tally.closed = deque([Closed("example.org", "/a/*", pages)])
    return tally


def test_a_tally_survives_the_way_to_the_parent() -> None:
    tally = one(7)
    tally.trouble = "the disk is full"
    sent = from_document(json.loads(json.dumps(document(tally))))
    sent.started_at = tally.started_at
    assert sent == tally


def test_the_sum_is_of_all_but_what_is_in_flight_is_of_the_living() -> None:
    total = Tally(1.0, ending="stopped")
    sum_into(total, [one(7), one(2)], [one(100)])
    assert total.fetched == 109
    assert total.settled[Outcome.DISALLOWED] == 3
    assert total.left_out[LeftOut.DEPTH] == 6
    assert (total.workers, total.in_flight, total.visit_limit) == (20, 6, 18)
    assert (total.seats, total.unsettled) == (8, 4)
    assert total.lag_s == 0.7
    assert (total.started_at, total.ending) == (1.0, "stopped")
    assert [closed.pages for closed in total.closed] == [100, 7, 2]


def test_summing_again_counts_nothing_twice() -> None:
    total = Tally(1.0)
    for _ in range(2):
        sum_into(total, [one(7)], [])
    assert total.fetched == 7
