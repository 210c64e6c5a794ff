"""`mannerly selftest` as a user runs it. (What its verdict finds: tests/unit/selftest.)"""

import json
from pathlib import Path

import pytest

from tests.programs import mannerly


@pytest.mark.timeout(300)
def test_a_short_trial_with_a_kill_holds_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "frontier.db"
    words = ["--sites", "2", "--kills", "1", "--seed", "46", "--db-url", f"sqlite:///{place}"]
    done = mannerly("selftest", "--json", *words, timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == 1
    assert report["requests"] > 5
    assert len(report["guarantees"]) == 6
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "frontier.db"
    place.write_text("precious")
    done = mannerly("selftest", "--db-url", f"sqlite:///{place}")
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert place.read_text() == "precious"
