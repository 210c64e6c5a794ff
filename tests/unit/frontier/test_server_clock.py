"""The frontier's clock over jumps of the server's: pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.frontier.leases import duration_ms
from mannerly.frontier.server_clock import (
    LONGEST_GAP_MS,
    TOLERANCE_MS,
    Instant,
    Reading,
    instant,
    judged,
    lead_of,
    opened,
    rested,
)

SERVER_MS = 1_800_000_000_000.0
HOUR_MS = 3_600_000
JUMPS = st.integers(-(10**10), 10**10).filter(lambda it: abs(it) > 2 * TOLERANCE_MS)
TRIPS = st.floats(0.0001, 0.5)


def reading(at_s: float, *, jump_ms: float = 0, offset_ms: int = 0, trip_s: float = 0.0) -> Reading:
    """The server's clock, asked at `at_s` of ours and answered after `trip_s`."""
    server_ms = SERVER_MS + (at_s + trip_s / 2) * 1000 + jump_ms
    return Reading(at_s, at_s + trip_s, server_ms, offset_ms)


@given(trip_s=TRIPS, later_s=st.floats(0, 1e6), other_trip_s=TRIPS)
def test_a_steady_clock_never_jumps(trip_s: float, later_s: float, other_trip_s: float) -> None:
    before = lead_of(reading(5.0, trip_s=trip_s))
    after, jump_ms = judged(before, reading(6.0 + later_s, trip_s=other_trip_s))
    assert jump_ms == 0
    true_ms = SERVER_MS
    assert after.low_ms - 0.01 <= true_ms <= after.high_ms + 0.01
    assert after.high_ms - after.low_ms <= other_trip_s * 1000 + 0.01


@given(jump_ms=JUMPS, trip_s=TRIPS)
def test_a_jump_is_noticed_and_now_goes_on_by_our_own_clock(jump_ms: int, trip_s: float) -> None:
    before = lead_of(reading(5.0, trip_s=0.001))
    jumped = reading(7.0, jump_ms=jump_ms, trip_s=trip_s)
    after, found_ms = judged(before, jumped)
    assert found_ms == pytest.approx(jump_ms, abs=trip_s * 1000 + 10)
    now = instant(after, jumped, found_ms)
    true_ms = SERVER_MS + 7000
    assert true_ms - 10 <= now.at <= true_ms + trip_s * 1000 + 10
    assert true_ms - 10 <= now.up_at <= true_ms + trip_s * 1000 + 10
    mended = jumped._replace(offset_ms=-found_ms)
    assert judged(after, mended)[1] == 0, "mended, it is no jump any more"


@given(step_ms=st.floats(-900, 900))
def test_a_small_step_makes_no_site_early(step_ms: float) -> None:
    before = lead_of(reading(5.0))
    stepped = reading(6.0, jump_ms=step_ms)
    after, jump_ms = judged(before, stepped)
    assert jump_ms == 0
    now = instant(after, stepped, jump_ms)
    assert now.at <= SERVER_MS + 6000 + 1
    assert now.up_at >= SERVER_MS + 6000 - 1


def test_steps_below_the_tolerance_add_up_to_a_jump() -> None:
    lead = lead_of(reading(0.0))
    jumps = []
    for second in range(1, 6):
        lead, jump_ms = judged(lead, reading(float(second), jump_ms=600 * second))
        jumps.append(jump_ms)
    assert jumps[0] == 0
    assert jumps[1] > 0


def test_a_clock_that_drifts_is_followed() -> None:
    lead = lead_of(reading(0.0))
    drifts_ms = [0.0003 * minute * 60_000 for minute in range(600)]
    for minute, drift_ms in enumerate(drifts_ms):
        lead, jump_ms = judged(lead, reading(minute * 60.0, jump_ms=drift_ms))
        assert jump_ms == 0
    assert drifts_ms[-1] > TOLERANCE_MS


def test_an_offset_that_another_process_lowered_is_accepted() -> None:
    """It was frozen for an hour, and takes our clock for one that was set ahead."""
    before = lead_of(reading(5.0))
    after, jump_ms = judged(before, reading(6.0, offset_ms=-HOUR_MS))
    assert jump_ms == 0
    assert after.low_ms == pytest.approx(before.low_ms - HOUR_MS, abs=10)


def test_an_offset_that_another_process_raised_is_lowered_again() -> None:
    """That would make sites early. The other one accepts it: see above."""
    before = lead_of(reading(5.0))
    _, jump_ms = judged(before, reading(6.0, offset_ms=HOUR_MS))
    assert jump_ms == pytest.approx(HOUR_MS, abs=10)


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS])
def test_a_jump_that_another_process_mended_is_none(jump_ms: int) -> None:
    before = lead_of(reading(5.0))
    after, found_ms = judged(before, reading(6.0, jump_ms=jump_ms, offset_ms=-jump_ms))
    assert found_ms == 0
    assert after.low_ms == pytest.approx(before.low_ms, abs=10)


def test_who_opens_believes_a_clock_that_somebody_vouched_for() -> None:
    now = reading(5.0)
    assert opened(now, int(now.at) - 1500) == (0, False)
    assert opened(now, int(now.at) + 1500) == (0, False), "a process with a quicker clock"
    assert opened(now, 0) == (0, False), "nothing was ever leased"


def test_who_opens_later_rests() -> None:
    now = reading(5.0)
    assert opened(now, int(now.at) - 10_000) == (0, True)


def test_a_clock_that_was_set_back_goes_on_from_the_last_instant() -> None:
    now = reading(5.0)
    offset_ms, rests = opened(now, int(now.at) + HOUR_MS)
    assert (offset_ms, rests) == (HOUR_MS, False)


def test_a_clock_that_nobody_watched_is_not_believed_without_bound() -> None:
    now = reading(5.0)
    last_at = int(now.at) - 10 * LONGEST_GAP_MS
    offset_ms, rests = opened(now, last_at)
    assert now.server_ms + offset_ms == last_at + LONGEST_GAP_MS
    assert rests


def test_rests_are_rounded_up_and_none_is_none() -> None:
    now = Instant(at=100, up_at=101)
    assert rested(now, duration_ms(0.0001)) == 102
    assert rested(now, duration_ms(0)) == 100
    assert duration_ms(-1) == 0
