"""`mannerly check [--repair]` on real data directories that were damaged in many ways."""

import asyncio
import json
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mannerly.api import open_data as opened
from mannerly.checking import Report, check, repair
from mannerly.config import load
from mannerly.errors import CrawlBusyError, NoCrawlError
from mannerly.simweb.spec import preset
from mannerly.store.layout import Layout
from mannerly.store.read import open_store
from tests.programs import QUICK, arguments, mannerly, segments, served, start

SPEC = preset("mixed", seed=4, sites=40, pages_mean=8.0, pages_max=30, stalling_sites=0.0,
              closing_sites=0.0, stalled_pages=0.0, slow_latency_s=0.2)  # fmt: skip
OFTEN = ["--segment-age", "500ms", "--checkpoint-interval", "100ms"]
DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl with several Parquet files."""
    directory = tmp_path_factory.mktemp("check")
    data = directory / "data"
    with served(directory, SPEC) as web:
        done = mannerly(
            "crawl", *arguments(QUICK), *OFTEN, "--data-dir", str(data), "--max-duration", "6s",
            "--seed-file", str(web.write_seeds(directory / "seeds.txt")),
            "--connect-to", web.address,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return data


@pytest.fixture
def data(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "data"))


def look(data: Path) -> Report:
    return asyncio.run(check(load({"data_dir": str(data)}, environ={})))


def mend(data: Path) -> Report:
    return asyncio.run(repair(load({"data_dir": str(data)}, environ={})))


def urls(data: Path, table: str = "pages") -> list[str]:
    with open_store(data) as store:
        return sorted(url for (url,) in store.execute(f"SELECT url FROM {table}").fetchall())


def largest(data: Path, table: str) -> Path:
    return max((data / table).glob("*.parquet"), key=lambda path: path.stat().st_size)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x10
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def test_a_crawl_that_ended_is_whole(data: Path) -> None:
    report = look(data)
    assert report.findings == []
    assert report.compared
    assert report.files > 4
    assert report.rows["fetches"] == report.settled > 100
    assert report.rows["pages"] == len(urls(data))
    before = {path: path.read_bytes() for path in data.rglob("*.parquet")}
    mended = mend(data)
    assert (mended.problems, mended.mended) == ([], [])
    assert {path: path.read_bytes() for path in data.rglob("*.parquet")} == before


@pytest.mark.parametrize("damage", [truncate, flip, empty])
@pytest.mark.parametrize("table", ["pages", "fetches"])
def test_a_damaged_parquet_file(data: Path, table: str, damage: Callable[[Path], None]) -> None:
    path = largest(data, table)
    before, rows = urls(data), dict.fromkeys(urls(data, table))
    with open_store(data) as store:
        inside = {url for (url,) in store.execute(f"SELECT url FROM '{path}'").fetchall()}
    damage(path)
    damaged = path.read_bytes()
    report = look(data)
    assert any(it.where == f"{table}/{path.name}" and "damaged" in it.what
               for it in report.problems), report  # fmt: skip
    assert path.read_bytes() == damaged  # a check changes nothing
    mended = mend(data)
    assert any("is in lost+found" in it for it in mended.mended)
    assert [it.read_bytes() for it in (data / "lost+found").iterdir()] == [damaged]
    after = urls(data)
    if table == "fetches":
        assert after == before  # no page is lost with its fetch record
        assert not any(it.where == "pages" for it in mended.problems)
    else:
        assert set(before) - set(after) <= inside
    assert set(rows) - set(urls(data, table)) <= inside
    # What is gone is still said; nothing else is wrong, and mending again changes nothing.
    assert not any(it.what.startswith("damaged") for it in mended.problems)
    assert mend(data).mended == []


def test_a_file_of_pages_that_is_gone_is_missed(data: Path) -> None:
    path = largest(data, "pages")
    path.unlink()
    (problem,) = look(data).problems
    assert problem.where == f"pages/{path.name}"
    assert "rows are not there any more" in problem.what


def test_pages_whose_fetches_are_gone_are_seen_again(data: Path) -> None:
    before = urls(data)
    path = largest(data, "fetches")
    path.unlink()
    assert len(urls(data)) < len(before)
    assert any("its fetches are gone" in it.what for it in look(data).problems)
    mended = mend(data)
    assert urls(data) == before
    assert not any(it.where == "pages" for it in mended.problems)
    with open_store(data) as store:
        found = store.execute("SELECT count(*) FROM fetches WHERE detail = 'rebuilt from its page'")
        assert found.fetchall() != [(0,)]


def test_what_is_there_twice(data: Path) -> None:
    path = largest(data, "fetches")
    pages = data / "pages" / path.name
    for file in (path, pages):
        shutil.copy(file, file.with_name(f"{1:016x}-000001.parquet"))
    told = [it.what for it in look(data).problems]
    assert sum("there more than once" in it for it in told) == 2


def test_a_frontier_that_forgot(data: Path) -> None:
    """As one that was restored from an older copy."""
    frontier = sqlite3.connect(data / "frontier.db")
    with frontier:
        some = "SELECT hash FROM seen WHERE outcome != 0 LIMIT 5"
        frontier.execute(f"DELETE FROM seen WHERE hash IN ({some})")
    frontier.close()
    told = [it.what for it in look(data).problems]
    assert any("5 of URLs that the frontier has not settled" in it for it in told), told
    assert any("it counts" in it for it in told), told


def test_a_frontier_that_is_damaged_is_said_and_left_alone(data: Path) -> None:
    path = data / "frontier.db"
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 12] = b"\xff" * (4096 * 11)
    path.write_bytes(content)
    assert any("SQLite says" in it.what for it in look(data).problems)
    assert any("SQLite says" in it.what for it in mend(data).problems)
    assert path.read_bytes() == content


def test_unfinished_files_go(data: Path) -> None:
    left = data / "pages" / f".{7:016x}-000001.parquet.tmp"
    left.write_bytes(b"PAR1")
    staging = data / "journal" / f".{8:016x}"
    staging.mkdir()
    (staging / "lock").touch()
    report = look(data)
    assert report.problems == []
    assert any(it.where.endswith(".tmp") for it in report.findings)
    assert len(mend(data).mended) == 2
    assert not left.exists()
    assert not staging.exists()
    assert look(data).findings == []


def test_after_a_kill_and_with_what_a_disk_does_to_a_journal(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    with served(tmp_path, SPEC) as web:
        words = (
            "crawl", *arguments(QUICK), "--checkpoint-interval", "100ms", "--data-dir",
            str(killed), "--connect-to", web.address,
            "--seed-file", str(web.write_seeds(tmp_path / "seeds.txt")),
        )  # fmt: skip
        running = start(*words)
        deadline = time.monotonic() + DEADLINE_S
        while not segments(killed) or opened(killed).stats().fetched < 50:
            assert time.monotonic() < deadline
            assert running.poll() is None
        with pytest.raises(CrawlBusyError):
            mend(killed)
        report = look(killed)
        assert report.running
        assert report.problems == []  # also while it is written to
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=20)
    report = look(killed)
    assert report.problems == []
    assert "of a process that died" in str(report)
    settled = report.settled
    assert report.rows["fetches"] == settled
    (segment,) = killed.glob("journal/*/*.seg")
    for name in ("torn", "hit"):
        shutil.copytree(killed, tmp_path / name)

    whole = mend(killed)
    assert (whole.problems, whole.rows["fetches"], whole.journals) == ([], settled, 0)
    expected = urls(killed)

    # A Parquet file that was torn while its journal is still there: rolled anew.
    torn = tmp_path / "torn"
    layout = Layout(torn)
    writer, number = int(segment.parent.name, 16), int(segment.stem)
    for table in layout.tables:
        (table / f"{writer:016x}-{number:06d}.parquet").write_bytes(b"PAR1 torn")
    assert look(torn).problems
    again = mend(torn)
    assert again.problems == []
    assert urls(torn) == expected

    # A journal with a byte that flipped: what is before and behind it is kept.
    hit = tmp_path / "hit"
    flip(hit / segment.relative_to(killed))
    assert any("damaged" in it.what for it in look(hit).problems)
    mended = mend(hit)
    assert any("set aside" in it for it in mended.mended)
    kept = urls(hit)
    assert set(kept) < set(expected)
    assert kept
    lost = [it for it in mended.problems if "have no fetch record" in it.what]
    assert lost


def test_the_command_and_its_exit_codes(data: Path, tmp_path: Path) -> None:
    done = mannerly("check", "--data-dir", str(data))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{data}: whole\n")
    truncate(largest(data, "fetches"))
    done = mannerly("check", "--json", "--data-dir", str(data))
    assert done.returncode == 1
    assert json.loads(done.stdout)["whole"] is False
    assert mannerly("check", "--data-dir", str(tmp_path / "nothing")).returncode == 2
    with pytest.raises(NoCrawlError):
        mend(tmp_path / "nothing")
