import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.timing import Operation, Timings, merged

DURATIONS = st.lists(st.floats(min_value=0.0, max_value=1e5), min_size=1, max_size=200)
FRACTIONS = st.sampled_from([0.01, 0.5, 0.95, 0.99, 1.0])


def timed(durations: list[float], *, slow_s: float = 1e9) -> Operation:
    timings = Timings(slow_s=slow_s)
    for duration_s in durations:
        timings.record("it", duration_s, {})
    return timings.operations()["it"]


@given(DURATIONS, FRACTIONS)
def test_a_percentile_is_never_too_low_and_at_most_nine_percent_too_high(
    durations: list[float], fraction: float
) -> None:
    rank = -int(-fraction * len(durations) // 1)
    true_s = sorted(durations)[rank - 1]
    told_s = timed(durations).percentile_s(fraction)
    assert told_s >= true_s * (1 - 1e-9)
    assert told_s <= max(true_s * 2 ** (1 / 8), 1e-6) * (1 + 1e-9)
    assert told_s <= max(durations)


def test_an_operation_that_never_ran_has_no_percentile() -> None:
    assert Operation().percentile_s(0.5) == 0.0


@given(DURATIONS, DURATIONS)
def test_two_processes_merged_are_like_one(first: list[float], second: list[float]) -> None:
    together = merged([{"it": timed(first)}, {"it": timed(second)}])["it"]
    one = timed(first + second)
    assert together.total_s == pytest.approx(one.total_s)
    assert together.slowest_s == one.slowest_s
    assert together.count == one.count
    assert together.buckets == one.buckets


def test_merging_shares_nothing_with_what_was_given() -> None:
    part = {"it": timed([1.0])}
    merged([part])["it"].buckets.clear()
    assert part["it"].percentile_s(0.5) == 1.0


def test_the_slowest_is_kept_with_its_sizes() -> None:
    timings = Timings()
    timings.record("add", 0.2, {"urls": 10})
    timings.record("add", 0.5, {"urls": 99_000})
    timings.record("add", 0.1, {"urls": 5})
    assert timings.operations()["add"].slowest_sizes == {"urls": 99_000}
    assert timings.operations()["add"].slowest_s == 0.5


def test_a_block_that_raises_is_counted_and_no_longer_running() -> None:
    timings = Timings()
    seen = []

    def work() -> None:
        with timings.measure("lease", sites=3):
            seen.extend(timings.running())
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()
    assert [(it.name, it.sizes) for it in seen] == [("lease", {"sites": 3})]
    assert timings.running() == []
    assert timings.operations()["lease"].count == 1


def test_a_slow_operation_is_warned_of_by_name_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    timings = Timings(slow_s=1.0)
    timings.record("lease", 0.9, {"sites": 500})
    assert caplog.messages == []
    timings.record("lease", 7.25, {"sites": 500})
    timings.record("lease", 8.0, {"sites": 500})
    timings.record("commit", 2.0, {})
    assert caplog.messages == ["slow: lease took 7.2 s (500 sites)", "slow: commit took 2.0 s"]
    assert timings.operations()["lease"].slow == 2


def test_the_next_warning_tells_how_many_there_were(caplog: pytest.LogCaptureFixture) -> None:
    timings = Timings(slow_s=1.0, warn_again_s=1e9)
    timings.record("lease", 2.0, {})
    timings.record("lease", 2.0, {})
    timings._warn_again_s = 0.0
    timings.record("lease", 3.0, {})
    assert caplog.messages[1:] == ["slow: lease took 3.0 s; 1 more since the last warning"]


def test_what_hangs_is_warned_of_before_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    timings = Timings(slow_s=-1.0, warn_again_s=1e9)
    with timings.measure("connect"):
        timings.warn_of_running()
        timings.warn_of_running()
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("slow: connect has been running for 0.0 s")
    assert caplog.records[0].levelno == logging.WARNING


def test_threads_lose_no_count() -> None:
    timings = Timings()

    def work() -> None:
        for _ in range(2_000):
            with timings.measure("it"):
                timings.running()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert timings.operations()["it"].count == 8_000
    assert timings.running() == []
