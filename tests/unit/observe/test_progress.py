"""What a terminal shows, and what goes into files."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from mannerly.observe.durations import Durations
from mannerly.observe.pace import Pace, Reading
from mannerly.observe.panel import curve, panel
from mannerly.observe.progress import JsonView, LineView, view_for
from mannerly.observe.snapshot import Counts, Snapshot


def readings() -> list[Reading]:
    """A run of 100 s at 30 pages a second, with everything that there is to tell."""
    pace = Pace()
    durations = Durations()
    made = []
    for second in range(100):
        durations.note(0.3)
        now = Snapshot(
            elapsed_s=second,
            processes=4,
            workers=500,
            visit_limit=500,
            in_flight=123,
            max_pages=9_000,
            wire_bytes=171_100_000_000,
            settled={"fetched": 30 * second, "http_error": 2_333_000, "redirected": 1_386_000,
                     "timed_out": 4_260_000, "broken": 1_000, "disallowed": 426_000},
            deferred={"http 503": 120_000, "http 429": 92_000, "robots unreachable": 21_000,
                      "broken": 60, "timed_out": 9},
            excused={"timed_out": 91, "broken": 49},
            leases_unused={"address": 4_100},
            statuses={"2xx": 900, "3xx": 20, "4xx": 70, "5xx": 10},
            durations=durations.copy(),
            cpu_s={"fetch": 0.4 * second, "parse": 0.6 * second, "store": 0.1 * second},
            lag_s=0.25,
            memory_bytes=1_378_000_000,
            open_files=12_345,
            counts=Counts(sites=2_396_000, sites_ready=1, sites_waiting=1_461_000,
                          sites_abandoned=12_000, urls_known=19_236_000 + 500 * second,
                          urls_pending=15_616_000),
        )  # fmt: skip
        made.append(pace.read(now))
    return made


def drawn(width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    told = readings()
    with console.capture() as capture:
        console.print(panel(told[-1], [it.now for it in told], width))
    return capture.get().splitlines()


def test_rates_and_what_is_left() -> None:
    last = readings()[-1]
    assert (last.now, last.minute) == (30, 30)
    assert last.mean == pytest.approx(30)
    assert last.growth == 500
    assert last.cores == pytest.approx(1.1)
    assert last.left_s == pytest.approx((9_000 - 30 * 99) / 30)


@pytest.mark.parametrize("width", [80, 200])
def test_the_live_view_fits_the_terminal(width: int) -> None:
    lines = drawn(width)
    assert len(lines) <= 18, "so that messages have room above it in 24 lines"
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for told in ("2,970", "30.0/s now", "1,461,000 waiting", "123 of 500",
                 "250 ms/295 ms/299 ms", "2xx 90 %", "tried again",
                 "timed out 4,260,000", "http 503 120,000", "1.10 cores", "4 processes",
                 "limited by politeness", "time left"):  # fmt: skip
        assert told in text, text
    assert len(lines[-2].strip()) == min(99, width - 13), "the first look has no rate"


def test_the_curve() -> None:
    assert curve([0, 4, 8, 2], 10) == " ▄█▂"
    assert curve([0, 4, 8, 2], 2) == "█▂"
    assert curve([0, 0], 10) == ""
    assert curve([], 10) == ""


def test_lines_of_json() -> None:
    console = Console(file=io.StringIO(), width=40)
    with console.capture() as capture, JsonView(console) as view:
        view.show(readings()[-1])
    told = json.loads(capture.get())
    assert told["event"] == "progress"
    assert told["pages"] == 2970
    assert told["limit"] == "politeness"
    assert told["counts"]["sites"] == 2_396_000


def test_which_view() -> None:
    pipe, terminal = Console(file=io.StringIO()), Console(force_terminal=True)
    assert type(view_for("auto", pipe)) is LineView
    assert type(view_for("auto", pipe, as_json=True)) is JsonView
    assert type(view_for("auto", terminal, as_json=True)) is JsonView
    assert view_for("auto", terminal).interval_s == 1
    assert view_for("off", terminal).interval_s == 0


def test_trouble_is_told() -> None:
    now = replace(readings()[-1].snapshot, trouble="no room on the disk")
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as capture:
        console.print(panel(Pace().read(now), [], 80))
    assert "limited by trouble" in capture.get()
    assert "no room on the disk" in capture.get()
