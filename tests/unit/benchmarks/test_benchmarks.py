"""`python -m benchmarks`: what it says to who asks, and to who asks for what there is not."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import APART, COMMANDS
from benchmarks.keeping import RESULTS


def benchmarks(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip


def test_help_names_every_benchmark() -> None:
    told = benchmarks("--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert all(name in told.stdout for name in [*COMMANDS, *APART])


def test_help_of_one_is_its_own() -> None:
    told = benchmarks("crawl-plain", "--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert "--sites" in told.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nothing"], "no benchmark nothing"),
        (["--sites", "3"], "name it"),
        (["crawl-plain", "--colour", "red"], "unrecognized arguments: --colour red"),
    ],
)
def test_what_there_is_not_is_an_error_and_changes_no_result(
    words: list[str], complaint: str
) -> None:
    before = {path: path.read_bytes() for path in RESULTS.iterdir()}
    told = benchmarks(*words)
    assert told.returncode != 0
    assert complaint in told.stderr
    assert "Traceback" not in told.stderr
    assert {path: path.read_bytes() for path in RESULTS.iterdir()} == before
