"""`mannerly status` on real crawls, also where their database is in trouble."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a small crawl that ended; some of its sites have more than they may."""
    directory = tmp_path_factory.mktemp("crawled")
    spec = preset("plain", seed=5, sites=4, pages_mean=12.0, pages_max=20, body_mean=2000)
    with served(directory, spec) as web:
        seeds = web.write_seeds(directory / "seeds.txt")
        words = ["crawl", "--seed-file", str(seeds), "--data-dir", str(directory / "data"),
                 "--connect-to", web.address, "--max-pages-per-site", "3",
                 "--max-path-segments", "2", *arguments(QUICK)]  # fmt: skip
        done = mannerly(*words)
        assert done.returncode == 0, done.stderr
        assert "their sites have given all their pages" in done.stdout
        assert "too many path segments" in done.stdout
    return directory / "data"


@pytest.fixture
def data_dir(crawled: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(crawled, tmp_path / "data"))


def test_the_operations_are_shown(data_dir: Path) -> None:
    done = mannerly("status", "--data-dir", str(data_dir))
    assert done.returncode == 0, done.stderr
    assert "finished" in done.stdout
    assert "their sites have given all their pages" in done.stdout
    assert "too many path segments" in done.stdout
    assert "operations of 1 process\n" in done.stdout
    for name in ("lease", "commit"):
        assert f"\n  {name} " in done.stdout
    assert ": ended " in done.stdout


def test_for_programs(data_dir: Path) -> None:
    document = json.loads(mannerly("status", "--json", "--data-dir", str(data_dir)).stdout)
    assert document["pages"] == 12
    assert document["trouble"] == ""
    assert document["dropped"]["site_full"] > 0
    assert document["not_followed"]["too many path segments"] > 0
    assert document["repeating"] == []
    lease = document["operations"]["lease"]
    assert lease["count"] >= document["leases"] / 4
    assert 0 < lease["p50_s"] <= lease["p95_s"] <= lease["p99_s"] <= lease["slowest_s"]
    assert lease["total_s"] >= lease["slowest_s"]
    assert lease["slow"] == 0
    (process,) = document["processes"]
    assert process["ended"] is True
    assert process["slow_s"] == 5.0


def test_a_database_in_trouble_does_not_hide_the_rest(data_dir: Path) -> None:
    (data_dir / "frontier.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    text = mannerly("status", "--data-dir", str(data_dir))
    assert text.returncode == 1
    assert "\n  lease " in text.stdout
    assert "no answer" in text.stdout
    assert text.stderr.startswith("mannerly: ")
    assert text.stderr.count("\n") == 1
    document = json.loads(mannerly("status", "--json", "--data-dir", str(data_dir)).stdout)
    assert document["trouble"] in text.stderr
    assert document["operations"]["lease"]["count"] > 0


def test_a_database_that_does_not_answer_is_not_waited_for_long(data_dir: Path) -> None:
    # As a process would that was stopped while it wrote.
    held = os.open(data_dir / "frontier.db.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = mannerly("status", "--data-dir", str(data_dir), timeout_s=25)
    finally:
        os.close(held)
    if done.returncode == 0:
        # An engine that looks without waiting for its turn does better than is asked.
        assert "finished" in done.stdout
    else:
        assert "did not answer within 10 s" in done.stderr
        assert "\n  lease " in done.stdout


def test_the_pages_of_another_crawl(data_dir: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (data_dir / "frontier.db").rename(other / "frontier.db")
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("example.org\n")
    new = mannerly(
        "crawl", "--seed-file", str(seeds), "--data-dir", str(data_dir), *arguments(QUICK)
    )
    assert new.returncode == 2
    assert "the pages of a crawl that is not in the database" in new.stderr
    assert not (data_dir / "frontier.db").exists()
    (data_dir / "crawl-id").write_text("0123456789abcdef\n")
    url = f"sqlite:///{other / 'frontier.db'}"
    mixed = mannerly("crawl", "--resume", "--data-dir", str(data_dir), "--db-url", url)
    assert mixed.returncode == 2
    assert "another crawl than the one in the database" in mixed.stderr


def test_a_schema_is_for_servers(tmp_path: Path) -> None:
    done = mannerly("status", "--data-dir", str(tmp_path), "--db-schema", "other")
    assert done.returncode == 2
    assert "--db-schema is for --db-url postgresql://" in done.stderr


def test_what_is_spilt_and_dropped_is_told(tmp_path: Path) -> None:
    spec = preset("plain", seed=5, sites=3, pages_mean=20.0, pages_max=30, body_mean=2000)
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        words = ["crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                 "--connect-to", web.address, "--max-pending-per-site", "2",
                 "--max-spilt-per-site", "3", "--max-pages", "4",
                 *arguments(QUICK)]  # fmt: skip
        done = mannerly(*words)
    told = mannerly("status", "--data-dir", str(tmp_path / "data"))
    document = json.loads(mannerly("status", "--json", "--data-dir", str(tmp_path / "data")).stdout)
    assert document["dropped"]["spill_full"] > 0
    assert 0 < document["urls_spilt"] <= 3 * document["sites"]
    assert "stopped" in told.stdout
    for text in (done.stdout, told.stdout):
        assert f"  spilt      {document['urls_spilt']} URLs" in text
        assert "too many waiting on their sites" in text
