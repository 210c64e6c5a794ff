"""Fewer visits at once while we lag, and excuses that run out."""

import asyncio
import logging
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.config import build
from mannerly.engine.lag import LagWatch
from mannerly.engine.overload import (
    EXCUSES,
    LARGE_PAGE,
    PATIENCE_S,
    Excuses,
    Overload,
    adjusted,
    floor_of,
)
from mannerly.engine.plan import EnginePlan
from mannerly.engine.resources import LOOKS_BETWEEN, Resources
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome
from mannerly.observe.strain import CPU
from mannerly.observe.tally import Tally

LONG_S = 1.0


def step(limit: int, lag_s: float, workers: int = 500, in_flight: int | None = None) -> int:
    in_flight = limit if in_flight is None else in_flight
    return adjusted(limit, workers=workers, in_flight=in_flight, lag_s=lag_s, long_s=LONG_S)


def test_a_long_lag_cuts_and_short_ones_raise_slowly() -> None:
    assert step(400, 1.0) == 300
    assert step(400, 0.7) == 400
    assert step(400, 0.2) == 425
    assert step(490, 0.0) == 500


@pytest.mark.parametrize(
    ("share", "limit"), [(0.5, 425), (0.79, 425), (0.8, 400), (0.9, 300), (1.5, 300)]
)
def test_memory_that_gets_short_cuts_and_holds(share: float, limit: int) -> None:
    found = adjusted(400, workers=500, in_flight=400, lag_s=0.0, long_s=LONG_S, memory_share=share)
    assert found == limit


@pytest.mark.parametrize(("limit", "next_one"), [(1, 2), (8, 9), (80, 90), (480, 500)])
def test_after_memory_was_short_the_limit_rises_by_a_part_of_itself(
    limit: int, next_one: int
) -> None:
    found = adjusted(
        limit, workers=500, in_flight=limit, lag_s=0.0, long_s=LONG_S, memory_share=0.5,
        careful=True,
    )  # fmt: skip
    assert found == next_one


def test_for_memory_the_floor_does_not_hold() -> None:
    limit = 500
    for _ in range(50):
        limit = adjusted(
            limit, workers=500, in_flight=limit, lag_s=0.0, long_s=LONG_S, memory_share=1.1
        )
    assert limit == 1


def test_the_workbench_shrinks_with_the_limit_where_memory_is_short_and_only_there() -> None:
    clock, resident = HandClock(), [0]
    tally = Tally(0.0)
    resources = Resources(memory_limit=1000, resident=lambda: resident[0])
    plan = EnginePlan.of(build({}), 100)
    overload = Overload(plan, LagWatch(clock, 1.0), tally, clock, resources)
    seats = []
    for taken in (500, 900, 950, 850, 700):
        resident[0] = taken
        tally.in_flight = tally.visit_limit
        clock.at += 1.0
        overload._adjust(lambda: None)
        seats.append((tally.visit_limit, overload.seats))
    assert seats == [(100, 400), (75, 300), (56, 224), (56, 224), (63, 252)]
    tally.limited_by = CPU
    assert overload.seats == 400, "to lag is no reason to give leases back"


def test_where_large_pages_would_not_fit_visits_at_most_double_between_two_looks() -> None:
    clock = HandClock()
    tally = Tally(0.0)
    plan = EnginePlan.of(build({}), 1000)
    resources = Resources(1000 * LARGE_PAGE - 1, resident=lambda: 0)
    overload = Overload(plan, LagWatch(clock, 1.0), tally, clock, resources)
    limits = []
    for in_flight in (10, 50, 90, 180, 360, 720, 1000, 40, *[40] * 10):
        limits.append(overload.limit)
        tally.in_flight = in_flight
        clock.at += 1.0
        overload._adjust(lambda: None)
    assert limits[:10] == [50, 50, 100, 180, 360, 720, 1000, 1000, 750, 562]
    assert overload.limit == 80, "who is ready all at once after a lull is not let in all at once"
    assert tally.visit_limit == 1000, "nothing is short"
    roomy = Resources(1000 * LARGE_PAGE, resident=lambda: 0)
    assert Overload(plan, LagWatch(clock, 1.0), tally, clock, roomy).limit == 1000


def test_memory_that_is_only_free_is_given_back_and_is_not_short() -> None:
    taken, trims = [500], []

    def trim() -> None:
        trims.append(taken[0])
        taken[0] = min(taken[0], 850)

    resources = Resources(memory_limit=1000, resident=lambda: taken[0], trim=trim)
    assert resources.memory_share() == 0.5
    assert trims == []
    for _ in range(2):
        taken[0] = 950
        assert resources.memory_share() == 0.85
    assert trims == [950, 950]
    shares = [resources.memory_share() for _ in range(LOOKS_BETWEEN + 1)]
    assert shares == [0.85] * (LOOKS_BETWEEN + 1)
    assert trims == [950, 950, 850, 850], "in use as it is: tried again, but not each time"
    assert Resources(0, resident=lambda: 10**15, trim=trim).memory_share() == 0.0


def test_nothing_is_started_while_a_disk_is_nearly_full(caplog: pytest.LogCaptureFixture) -> None:
    clock, free = HandClock(), [50]
    tally = Tally(0.0)
    plan = EnginePlan.of(build({}), 20)
    resources = Resources(min_free_disk=100, folders=[Path("/")], free=lambda _: free[0])
    overload = Overload(plan, LagWatch(clock, 1.0), tally, clock, resources)
    raised: list[int] = []
    limits = []
    with caplog.at_level(logging.INFO):
        for left in (50, 99, 100, 100, 99):
            free[0] = left
            clock.at += 1.0
            overload._adjust(partial(raised.append, left))
            limits.append(overload.limit)
    assert limits == [0, 0, 20, 20, 0]
    assert raised == [100]
    assert "--min-free-disk" in tally.trouble
    told = [record.message for record in caplog.records]
    assert len([text for text in told if "paused" in text]) == 2
    assert told.count("the crawl goes on") == 1


def test_a_disk_that_does_not_answer_is_not_called_full() -> None:
    def broken(_: Path) -> int:
        raise OSError("stale")

    assert Resources(min_free_disk=100, folders=[Path("/")], free=broken).shortage() == ""


def test_the_cut_is_of_what_is_in_flight() -> None:
    assert step(500, 3.0, in_flight=200) == 150


def test_a_cut_gets_time_to_work() -> None:
    limit = step(400, 2.0)
    assert step(limit, 2.0, in_flight=390) == limit
    assert step(limit, 2.0, in_flight=limit) < limit


@pytest.mark.parametrize(("workers", "floor"), [(1, 1), (5, 5), (20, 8), (500, 50)])
def test_the_floor(workers: int, floor: int) -> None:
    assert floor_of(workers) == floor
    limit = workers
    for _ in range(50):
        limit = step(limit, 10.0, workers)
    assert limit == floor


@settings(deadline=None)
@given(st.integers(1, 20_000), st.lists(st.floats(0, 10), max_size=100), st.floats(0, 1))
def test_it_stays_within_its_bounds_and_comes_back(
    workers: int, lags_s: list[float], busy: float
) -> None:
    limit = workers
    for lag_s in lags_s:
        limit = step(limit, lag_s, workers, in_flight=int(busy * workers))
        assert floor_of(workers) <= limit <= workers
    for _ in range(40):
        limit = step(limit, 0.0, workers)
    assert limit == workers


@settings(deadline=None)
@given(st.floats(0.1, 20), st.integers(100, 5000))
def test_it_settles_about_where_the_lag_is_tolerable(lag_per_100: float, workers: int) -> None:
    """Where the lag grows with what is in flight, the limit ends near what gives a long lag."""
    limit = workers
    seen = []
    for _ in range(300):
        limit = step(limit, lag_per_100 * limit / 100, workers)
        seen.append(limit)
    tolerable = 100 * LONG_S / lag_per_100
    for settled in seen[-50:]:
        assert settled >= min(floor_of(workers), workers)
        assert settled <= max(tolerable + workers / 20 + 1, floor_of(workers))
        assert settled >= min(0.3 * tolerable, workers, floor_of(workers) + 0.3 * tolerable)


def test_excuses_run_out_until_the_site_answers() -> None:
    excuses = Excuses()
    assert [excuses.give("a.example") for _ in range(EXCUSES + 3)] == [True] * EXCUSES + [False] * 3
    assert excuses.give("b.example")
    excuses.forget("a.example")
    assert excuses.give("a.example")


def test_only_so_many_sites_are_remembered() -> None:
    excuses = Excuses(most_sites=10)
    for number in range(100):
        excuses.give(str(number))
    assert len(excuses) == 10


class HandClock:
    """A clock that a test moves by hand: a loop that sees it jump was late."""

    def __init__(self) -> None:
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    def wall(self) -> float:
        return self.at


def failed(failure: Outcome | None, ended_at: float, *, timed_out: bool = False) -> Fetched:
    return Fetched("http://a.example/", failure, timed_out=timed_out, ended_at=ended_at)


async def overloaded(clock: HandClock) -> Overload:
    """After a lag of ten seconds, from 1000 to 1010."""
    watch = LagWatch(clock, 0.001)
    probed = asyncio.Event()
    running = asyncio.create_task(watch.run(probed.set))
    await asyncio.sleep(0)
    clock.at += 10.0
    await asyncio.wait_for(probed.wait(), 10)
    running.cancel()
    plan = EnginePlan.of(build({"email": "a@example.org"}), 100)
    return Overload(plan, watch, Tally(0.0), clock)


def test_only_what_a_late_process_can_cause_is_excused_and_only_while_it_is_late() -> None:
    clock = HandClock()
    overload = asyncio.run(overloaded(clock))
    late = [Outcome.TIMED_OUT, Outcome.DNS_TROUBLE, Outcome.TLS_FAILED, Outcome.BROKEN]
    for number, failure in enumerate(late):
        assert overload.excuses(f"{number}.example", failed(failure, 1012.0), 1000.0)
        assert not overload.excuses(f"{number}.example", failed(failure, 1072.0), 1012.0)
    for other in (Outcome.NO_SUCH_NAME, Outcome.CONNECT_FAILED, Outcome.ADDRESS_REFUSED, None):
        assert not overload.excuses("a.example", failed(other, 1012.0), 1000.0)
    in_vain = failed(Outcome.CONNECT_FAILED, 1012.0, timed_out=True)
    assert overload.excuses("a.example", in_vain, 1000.0)


def test_who_breaks_off_during_a_hiccup_of_ours_means_it() -> None:
    """The lag is all of the visit, and still shorter than any server's patience."""
    clock = HandClock()
    overload = asyncio.run(overloaded(clock))
    began_at = 1010.0 - PATIENCE_S / 2
    for failure in (Outcome.DNS_TROUBLE, Outcome.TLS_FAILED, Outcome.BROKEN):
        assert not overload.excuses("a.example", failed(failure, 1010.0), began_at)
    assert overload.excuses("a.example", failed(Outcome.TIMED_OUT, 1010.0), began_at)


def test_a_site_that_never_answers_is_not_excused_for_ever() -> None:
    clock = HandClock()
    overload = asyncio.run(overloaded(clock))
    fetched = failed(Outcome.TIMED_OUT, 1012.0)
    excused = [overload.excuses("a.example", fetched, 1000.0) for _ in range(2 * EXCUSES)]
    assert excused == [True] * EXCUSES + [False] * EXCUSES
    overload.answered("a.example")
    assert overload.excuses("a.example", fetched, 1000.0)
