"""A disk that fills up, and an fsync that fails, under the real program in the middle of a crawl.

It pauses with a clear message, goes on by itself when the fault is gone, and in the end every page
is there once, with every file whole.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mannerly.simweb import pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from tests.programs import MANNERLY, QUICK, Served, arguments, environment, mannerly, served

SPEC = preset("plain", seed=12, sites=40, pages_mean=10.0, pages_max=30, body_mean=12_000)
OFTEN = {**QUICK, "--delay": "100ms", "--checkpoint-interval": "100ms", "--segment-size": "100kB",
         "--keep": "links,warc", "--min-free-disk": "0"}  # fmt: skip
WITHIN_S = 30.0
PAUSED = "the crawl is paused: "


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


class Crawl:
    """A crawl in the background whose messages go to a file."""

    def __init__(
        self, folder: Path, web: Served, data: Path, prefix: list[str], options: dict[str, str]
    ) -> None:
        self.data = data
        self._messages = folder / "messages"
        words = ["crawl", *arguments(OFTEN | options), "--data-dir", str(data),
                 "--connect-to", web.address, "--seed-file",
                 str(web.write_seeds(folder / "seeds.txt"))]  # fmt: skip
        with self._messages.open("wb") as messages:
            self.process = subprocess.Popen(
                [*prefix, *MANNERLY, *words], stderr=messages, stdout=messages, env=environment()
            )

    def messages(self) -> str:
        return self._messages.read_text()

    def until(self, come: Callable[[], bool]) -> None:
        deadline_at = time.monotonic() + WITHIN_S
        while not come():
            assert time.monotonic() < deadline_at, self.messages()
            assert self.process.poll() is None, self.messages()
            time.sleep(0.02)

    def end(self) -> str:
        assert self.process.wait(timeout=60) == 0, self.messages()
        return self.messages()


@contextmanager
def crawling(
    folder: Path, data: Path, prefix: list[str] | None = None, options: dict[str, str] | None = None
) -> Iterator[tuple[Crawl, Served]]:
    with served(folder, SPEC) as web:
        crawl = Crawl(folder, web, data, prefix or [], options or {})
        try:
            yield crawl, web
        finally:
            if crawl.process.poll() is None:
                crawl.process.send_signal(signal.SIGKILL)
                crawl.process.wait()


def test_a_disk_that_fills_up(tmp_path: Path, small_disk: Path) -> None:
    data = small_disk / "data"
    with crawling(tmp_path, data) as (crawl, web):
        crawl.until(lambda: bool(list(data.glob("pages/*.parquet"))))
        ballast = fill(small_disk / "ballast")
        crawl.until(lambda: PAUSED in crawl.messages())
        asked = requests(web)
        ballast.unlink()
        told = crawl.end()
        assert "No space left on device" in told or "the disk is full" in told
        assert told.count("INFO the crawl goes on") == told.count(PAUSED)
        assert requests(web) > asked
        check_everything_is_there(data, web)


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path, small_disk: Path) -> None:
    """It never comes to the fault above, and what was fetched is durable by then."""
    data = small_disk / "data"
    with crawling(tmp_path, data, options={"--min-free-disk": "8MiB"}) as (crawl, web):
        crawl.until(lambda: bool(list(data.glob("pages/*.parquet"))))
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - (6 << 20)))
        crawl.until(lambda: "--min-free-disk is" in crawl.messages())
        left = shutil.disk_usage(small_disk).free
        asked = requests(web)
        ballast.unlink()
        told = crawl.end()
        assert left > 2 << 20
        assert requests(web) > asked
        assert told.count(PAUSED) == told.count("INFO the crawl goes on") == 1
        check_everything_is_there(data, web)


def fill(path: Path) -> Path:
    """Take what is left of the disk, up to the last few bytes."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return path


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_sync_that_fails(tmp_path: Path, call: str) -> None:
    """The journal is made durable by fdatasync (and so is SQLite's log), names and Parquet files by
    fsync."""
    data = tmp_path / "data"
    with crawling(tmp_path, data) as (crawl, web):
        crawl.until(lambda: bool(list(data.glob("pages/*.parquet"))))
        with failing(crawl.process.pid, call, tmp_path / "trace"):
            crawl.until(lambda: PAUSED in crawl.messages())
            failed = (tmp_path / "trace").read_text().count("INJECTED")
            crawl.until(lambda: (tmp_path / "trace").read_text().count("INJECTED") > failed)
        told = crawl.end()
        assert "Input/output error" in told or "could not be read or written" in told
        assert told.count("INFO the crawl goes on") == told.count(PAUSED)
        check_everything_is_there(data, web)


@contextmanager
def failing(pid: int, call: str, trace: Path) -> Iterator[None]:
    """Every `call` of a process fails while this lasts."""
    strace = shutil.which("strace")
    assert strace is not None, "run tools/services to install strace"
    process = subprocess.Popen(
        [strace, "-f", "-qq", "-o", trace, "-e", f"trace={call}",
         "-e", f"inject={call}:error=EIO", "-p", str(pid)],
    )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)  # it detaches, and the process goes on
        process.wait(timeout=10)


def requests(web: Served) -> int:
    return web.log.read_bytes().count(b"\n")


def check_everything_is_there(data: Path, web: Served) -> None:
    expected = reachable(web.web, web.homes())
    with open_store(data) as store:
        pages = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    assert sorted(pages) == sorted(pages_among(web.web, expected))
    told = mannerly("check", "--data-dir", str(data))
    assert told.returncode == 0, told.stdout
    assert list((data / "journal").iterdir()) == []
    assert list(data.rglob("*.tmp")) == []
