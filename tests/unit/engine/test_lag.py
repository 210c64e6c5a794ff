"""Lags of the event loop, and whose fault a time-out was."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.clock import SystemClock, VirtualRunner
from mannerly.engine.lag import NOTICED_S, OURS_SHARE, Lag, LagWatch, is_ours, lost_s

at = st.floats(0, 100)
lags = st.lists(st.tuples(at, at).map(sorted).map(lambda pair: Lag(*pair)), max_size=20)


@pytest.mark.parametrize(
    ("late", "ours"),
    [
        ([], False),
        ([Lag(10, 70)], True),
        ([Lag(0, 9), Lag(70, 200)], False),
        ([Lag(5, 15)], False),  # half of it before the visit
        ([Lag(5, 16)], True),
        ([Lag(20, 22), Lag(30, 32), Lag(40, 42)], True),
        ([Lag(20, 20.05)], False),
    ],
)
def test_a_visit_is_judged_by_the_lags_in_its_own_span(late: list[Lag], ours: bool) -> None:
    assert is_ours(late, 10, 70) is ours


def test_a_short_visit_is_not_excused_for_a_hiccup() -> None:
    assert not is_ours([Lag(10, 10 + NOTICED_S / 2)], 10, 10.2)
    assert not is_ours([], 10, 10)


@settings(deadline=None)
@given(lags, at, st.floats(0, 50), st.floats(0, 50))
def test_what_is_lost_adds_up(late: list[Lag], start: float, one_s: float, more_s: float) -> None:
    middle, end = start + one_s, start + one_s + more_s
    parts = lost_s(late, start, middle) + lost_s(late, middle, end)
    assert lost_s(late, start, end) == pytest.approx(parts)
    assert 0 <= lost_s(late, start, end) <= len(late) * (end - start) + 1e-9


@settings(deadline=None)
@given(lags, at, st.floats(0.1, 50), st.integers(0, 19))
def test_one_more_lag_never_makes_it_the_sites_fault(
    late: list[Lag], start: float, span_s: float, left_out: int
) -> None:
    fewer = late[:left_out] + late[left_out + 1 :]
    assert is_ours(late, start, start + span_s) or not is_ours(fewer, start, start + span_s)


@settings(deadline=None)
@given(lags, at, st.floats(2, 50))
def test_without_a_tenth_lost_it_is_the_sites(late: list[Lag], start: float, span_s: float) -> None:
    ours = is_ours(late, start, start + span_s)
    assert ours == (lost_s(late, start, start + span_s) >= OURS_SHARE * (start + span_s - start))


async def stalled(watch: LagWatch, *, heard_first: bool) -> tuple[bool, bool, float]:
    """A real loop that is blocked for a while: was the visit in it late; and one before it?"""
    clock = SystemClock()
    watching = asyncio.create_task(watch.run(lambda: None))
    await asyncio.sleep(0.05)
    began_at = clock.now()
    time.sleep(0.6)  # noqa: ASYNC251 - the loop stands still
    ended_at = clock.now()
    if not heard_first:
        await asyncio.sleep(0.15)
    during = watch.was_late(began_at, ended_at)
    await asyncio.sleep(0.25)
    watching.cancel()
    return during, watch.was_late(began_at - 60, began_at), watch.worst_s(began_at)


@pytest.mark.parametrize("heard_first", [True, False])
def test_a_loop_that_stands_still_is_late(heard_first: bool) -> None:
    """Also for who asks before the watch itself has woken."""
    during, before, worst_s = asyncio.run(stalled(LagWatch(SystemClock()), heard_first=heard_first))
    assert during
    assert not before
    assert worst_s > 0.4


def test_no_lag_on_virtual_time() -> None:
    async def day(watch: LagWatch) -> float:
        watching = asyncio.create_task(watch.run(lambda: None))
        await asyncio.sleep(600)
        watching.cancel()
        return watch.worst_s(0.0)

    with VirtualRunner() as runner:
        assert runner.run(day(LagWatch(runner.clock))) == 0.0


def test_nobody_watches_where_it_is_turned_off() -> None:
    asyncio.run(asyncio.wait_for(LagWatch(SystemClock(), 0.0).run(lambda: None), 5))
