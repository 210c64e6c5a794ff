import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mannerly.model import Outcome
from mannerly.observe import operations
from mannerly.observe.operations import KEPT, NAME, OperationsFile, read
from mannerly.observe.tally import Tally
from mannerly.timing import Timings
from mannerly.url import Closed, LeftOut


def until(true: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 20
    while not true():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


def test_what_is_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "WRITE_EVERY_S", 0.001)
    timings = Timings(slow_s=1.0)
    timings.record("lease", 0.25, {"sites": 500})
    tally = Tally(0.0)
    tally.left_out[LeftOut.YIELD] += 7
    tally.settled[Outcome.FETCHED] = 11
    tally.closed.append(Closed("a.example", "a.example/day/0", 60))
    written = OperationsFile(tmp_path, 0xAB, "host:1", timings, tally)
    with written, timings.measure("commit", pages=3):
        until(lambda: any(process.running for process in read(tmp_path)))
        (before,) = read(tmp_path)
        timings.record("lease", 2.0, {"sites": 400})
    (after,) = read(tmp_path)
    assert (before.writer, before.label, before.ended) == ("00000000000000ab", "host:1", False)
    assert [(it.name, it.sizes) for it in before.running] == [("commit", {"pages": 3})]
    assert before.operations["lease"].count == 1
    assert (after.ended, after.running, after.slow_s) == (True, [], 1.0)
    assert after.operations == timings.operations()
    assert after.operations["lease"].slow == 1
    assert after.pages == 11
    assert 0 < before.cpu_s <= after.cpu_s <= time.process_time()
    assert after.left_out == {"pages like it gave nothing new": 7}
    assert [tuple(one) for one in after.closed] == [("a.example", "a.example/day/0", 60)]
    assert [path.name for path in (tmp_path / NAME).iterdir()] == ["00000000000000ab.json"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "WRITE_EVERY_S", 0.0001)
    timings = Timings()
    for number in range(300):
        timings.record(f"operation {number}", 1.0, {"things": number})
    with OperationsFile(tmp_path, 1, "host:1", timings, Tally(0.0)):
        path = tmp_path / NAME / "0000000000000001.json"
        until(path.exists)
        for _ in range(300):
            assert len(json.loads(path.read_text())["operations"]) == 300


def test_the_run_before_is_cleared_and_kept_until_then(tmp_path: Path) -> None:
    for writer in (1, 2):
        with OperationsFile(tmp_path, writer, "host:1", Timings(), Tally(0.0)):
            pass
    assert [process.writer[-1] for process in read(tmp_path)] == ["1", "2"]
    operations.clear(tmp_path)
    assert read(tmp_path) == []
    operations.clear(tmp_path / "none")


def test_the_number_of_files_is_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    directory = tmp_path / NAME
    directory.mkdir()
    for number in range(KEPT + 10):
        path = directory / f"{number:016x}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    with OperationsFile(tmp_path, 0xFFFF, "host:1", Timings(), Tally(0.0)):
        pass
    names = sorted(path.name for path in directory.iterdir())
    assert len(names) == KEPT
    assert names[-1] == "000000000000ffff.json"
    assert names[0] == f"{11:016x}.json"


def test_files_that_mean_nothing_are_left_out(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    for name, text in {"1": "", "2": "[]", "3": '{"operations": 5}', "4": "\udcff"}.items():
        (tmp_path / NAME / f"{name}.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with OperationsFile(tmp_path, 5, "host:1", Timings(), Tally(0.0)):
        pass
    assert [process.writer for process in read(tmp_path)] == ["0000000000000005"]


def test_a_disk_that_refuses_is_told_of_once_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(operations, "WRITE_EVERY_S", 0.001)
    (tmp_path / NAME).write_text("a file where a directory should be")
    with OperationsFile(tmp_path, 1, "host:1", Timings(), Tally(0.0)):
        until(lambda: bool(caplog.messages))
    assert len(caplog.messages) == 1
    assert "the operations are not written" in caplog.messages[0]
