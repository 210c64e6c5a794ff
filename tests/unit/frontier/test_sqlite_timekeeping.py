"""The frontier's clock over reboots: pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.frontier.leases import duration_ms
from mannerly.frontier.sqlite.timekeeping import (
    LONGEST_GAP_MS,
    Epoch,
    first_epoch,
    instant,
    resumed,
)

WALL_S = 1_800_000_000.0
BEFORE = Epoch("boot 1", offset_ms=7_000, last_at=107_000, last_wall_s=WALL_S, rest_until=3)
SECONDS = st.floats(0, 1e9)


def test_the_same_boot_keeps_its_epoch() -> None:
    assert resumed(BEFORE, "boot 1", 100.0, WALL_S - 5, 30) == BEFORE
    assert resumed(BEFORE, "boot 1", 9e9, WALL_S + 9e9, 30) == BEFORE


def test_another_boot_goes_on_by_the_wall_clock_and_rests() -> None:
    after = resumed(BEFORE, "boot 2", 12.0, WALL_S + 60, delay_s=30)
    now = instant(after, 12.0)
    assert now.at == 107_000 + 60_000
    assert after.rest_until - now.up_at >= 30_000
    assert resumed(after, "boot 2", 13.0, WALL_S, 30) == after


@pytest.mark.parametrize("boot_id", ["boot 1", ""])
def test_a_clock_that_went_back_or_an_unknown_boot_is_another_boot(boot_id: str) -> None:
    after = resumed(BEFORE, boot_id, 99.0, WALL_S, delay_s=30)
    assert instant(after, 99.0).at == BEFORE.last_at
    assert after.rest_until >= BEFORE.last_at + 30_000


def test_an_unknown_boot_is_never_the_same_one() -> None:
    before = BEFORE._replace(boot_id="")
    assert resumed(before, "", 500.0, WALL_S + 1, 30).rest_until > before.last_at


def test_a_wall_clock_that_was_set_back_takes_no_time_away() -> None:
    after = resumed(BEFORE, "boot 2", 1.0, WALL_S - 1e6, 0)
    assert instant(after, 1.0).at == BEFORE.last_at


def test_a_wall_clock_that_was_set_ahead_is_not_believed_without_bound() -> None:
    after = resumed(BEFORE, "boot 2", 1.0, WALL_S * 2, 0)
    assert instant(after, 1.0).at == BEFORE.last_at + LONGEST_GAP_MS


def test_a_longer_rest_is_kept() -> None:
    before = BEFORE._replace(rest_until=10**9)
    assert resumed(before, "boot 2", 1.0, WALL_S, 30).rest_until == 10**9


def test_a_new_file_rests_nothing() -> None:
    epoch = first_epoch("boot 1", 12.3456, WALL_S)
    assert epoch.rest_until <= instant(epoch, 12.3456).at


@given(start_s=SECONDS, rest_s=st.floats(0, 1e6), early_s=st.floats(0.0015, 10))
def test_rounding_never_makes_a_site_early(start_s: float, rest_s: float, early_s: float) -> None:
    """A site released at `start_s` is not ready at any instant before `start_s + rest_s`."""
    ready_at = instant(BEFORE, start_s).up_at + duration_ms(rest_s)
    assert instant(BEFORE, start_s + rest_s - early_s).at < ready_at
    assert instant(BEFORE, start_s + rest_s + 0.003).at >= ready_at


def test_durations_are_never_negative() -> None:
    assert duration_ms(-1) == 0
    assert duration_ms(0.0001) == 1
