"""What limits the rate, by the figures."""

from dataclasses import replace

import pytest

from mannerly.observe.durations import Durations
from mannerly.observe.limits import Limit, verdict
from mannerly.observe.snapshot import Counts, Snapshot

BEFORE = Snapshot(elapsed_s=100.0, workers=500, visit_limit=500)
QUIET = Snapshot(
    elapsed_s=110.0,
    workers=500,
    visit_limit=500,
    in_flight=20,
    counts=Counts(sites_ready=0, sites_waiting=900),
)


def took(seconds: float, times: int) -> Durations:
    durations = Durations()
    for _ in range(times):
        durations.note(seconds)
    return durations


@pytest.mark.parametrize(
    ("now", "limit"),
    [
        (QUIET, Limit.POLITENESS),
        (replace(QUIET, paused=True), Limit.PERSON),
        (replace(QUIET, trouble="disk full", paused=True), Limit.TROUBLE),
        (replace(QUIET, ending="stopped by Ctrl-C", trouble="disk full"), Limit.ENDING),
        (replace(QUIET, visit_limit=120, lag_s=2.0), Limit.CPU),
        (replace(QUIET, visit_limit=120, limited_by="memory"), Limit.MEMORY),
        (replace(QUIET, cpu_s={"fetch": 4.0, "parse": 5.0}), Limit.CPU),
        (replace(QUIET, cpu_s={"fetch": 4.0, "parse": 5.0}, processes=2), Limit.POLITENESS),
        (replace(QUIET, lag_s=0.6), Limit.CPU),
        (replace(QUIET, database_s=9.0, store_s=1.0), Limit.DATABASE),
        (replace(QUIET, database_s=1.0, store_s=9.0), Limit.DISK),
        (replace(QUIET, in_flight=490, durations=took(2.0, 50)), Limit.NETWORK),
        (replace(QUIET, in_flight=490, durations=took(0.3, 50), dns_s=40.0), Limit.DNS),
        (replace(QUIET, in_flight=0, counts=Counts()), Limit.NOTHING_LEFT),
        (replace(QUIET, in_flight=3, counts=Counts(sites_waiting=3)), Limit.NETWORK),
        (BEFORE, Limit.UNKNOWN),
    ],
)
def test_the_verdict(now: Snapshot, limit: Limit) -> None:
    told = verdict(BEFORE, now)
    assert told.limit is limit
    assert told.because


def test_what_was_before_does_not_count() -> None:
    busy = {"fetch": 400.0, "parse": 500.0}
    before, now = replace(BEFORE, cpu_s=busy), replace(QUIET, cpu_s=busy)
    assert verdict(before, now).limit is Limit.POLITENESS


def test_where_nobody_answers_no_time_is_told() -> None:
    told = verdict(BEFORE, replace(QUIET, in_flight=500))
    assert (told.limit, told.because) == (
        Limit.NETWORK,
        "All 500 slots are taken; nobody has answered lately.",
    )


@pytest.mark.parametrize(("lag_s", "late"), [(2.0, "is late by 2.0 s"), (0.01, "was late")])
def test_a_limit_outlasts_the_lateness_that_made_it(lag_s: float, late: str) -> None:
    told = verdict(BEFORE, replace(QUIET, visit_limit=120, lag_s=lag_s))
    assert told.because == (f"The event loop {late}, so only 120 of 500 visits are made at once.")
