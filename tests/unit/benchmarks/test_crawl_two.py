"""One process against two: the figures of each, and ratios that a slow round does not spoil."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.crawl.share import held_to
from benchmarks.crawl.two import compared

SMALL = ["--sites", "4", "--pages-mean", "2", "--rounds", "1", "--webs"]


def test_both_are_crawled_and_compared(tmp_path: Path) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "benchmarks.crawl.two", *SMALL, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    told = json.loads(printed)
    (one,), (two,) = told["one"], told["two"]
    assert (one["processes"], two["processes"]) == (1, 2)
    assert one["pages"] == two["pages"] > 0
    assert told["speed_up"] == round(two["pages_per_s"] / one["pages_per_s"], 3)
    assert told["cpu_ratio"] == round(two["cpu_ms_per_page"] / one["cpu_ms_per_page"], 3)


def test_a_share_of_a_core_is_all_it_gets() -> None:
    spin = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\n"
    spin += "print(time.process_time())"
    with held_to(0.25) as limited:
        words = [*limited, sys.executable, "-c", spin]
        spent_s = float(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    assert spent_s < 0.5


def test_neighbours_are_compared_and_the_middle_counts() -> None:
    told = compared(
        [
            (
                {"pages_per_s": 100, "cpu_ms_per_page": 2},
                {"pages_per_s": 190, "cpu_ms_per_page": 2},
            ),
            (
                {"pages_per_s": 50, "cpu_ms_per_page": 4},
                {"pages_per_s": 90, "cpu_ms_per_page": 4.4},
            ),
            ({"pages_per_s": 90, "cpu_ms_per_page": 2}, {"pages_per_s": 20, "cpu_ms_per_page": 9}),
        ]
    )
    assert (told["speed_up"], told["cpu_ratio"]) == (1.8, 1.1)
