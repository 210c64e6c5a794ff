"""The benchmark of a whole crawl: one line, and its stages are all of its CPU time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SMALL = ["--sites", "6", "--pages-mean", "2", "--processes", "2", "--https", "1", "--webs"]


def test_the_stages_are_all_there_is(tmp_path: Path) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "benchmarks.crawl", *SMALL, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    (line,) = printed.splitlines()
    told = json.loads(line)
    assert told["server"] == "nginx"
    assert told["pages"] >= 6
    stages = sum(told["stages_ms_per_page"].values())
    start_up = 1000 * told["start_up_cpu_s"] / told["pages"]
    # A process tells of itself a moment before its end.
    assert stages + start_up == pytest.approx(told["cpu_ms_per_page"], rel=0.2)
    assert told["stages_ms_per_page"]["parse"] > 0
    assert start_up > 0
