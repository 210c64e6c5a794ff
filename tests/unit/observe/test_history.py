"""The points behind the charts."""

from dataclasses import replace

from mannerly.observe.durations import Durations
from mannerly.observe.history import COARSE_POINTS, FINE_POINTS, History
from mannerly.observe.snapshot import Snapshot


def at(second: float, pages: int) -> Snapshot:
    return Snapshot(
        at=1_800_000_000 + second,
        elapsed_s=second,
        settled={"fetched": pages, "broken": pages // 10, "redirected": 7},
        statuses={"2xx": pages},
        cpu_s={"parse": 0.25 * second},
    )


def test_rates_are_of_the_last_seconds() -> None:
    history = History()
    for second in range(60):
        history.note(at(second, 10 * second if second < 30 else 300 + 50 * (second - 30)))
    points = history.points()
    assert len(points) == 59
    assert points[20]["pages"] == points[20]["status_2xx"] == 10
    assert points[-1]["pages"] == 50
    assert points[-1]["failures"] == 5
    assert points[-1]["cpu_parse"] == 0.25


def test_a_day_is_kept_by_the_minute_and_no_more() -> None:
    history = History()
    for second in range(0, 100_000, 20):
        history.note(at(second, second))
    assert len(history.points()) == FINE_POINTS
    day = history.points(day=True)
    assert len(day) == COARSE_POINTS
    assert 54 <= day[-1]["at"] - day[-2]["at"] <= 60


def test_where_nothing_was_answered_the_last_times_stay() -> None:
    history = History()
    durations = Durations()
    for second in range(30):
        if second < 10:
            durations.note(0.12)
        history.note(replace(at(second, 0), durations=durations.copy()))
    assert history.points()[-1]["p50"] == history.points()[8]["p50"] > 0.1
