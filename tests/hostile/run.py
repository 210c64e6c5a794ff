"""A crawl of some of the server's sites by the real program, watched from outside."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.catalogue import PAGES_A_SITE
from tests.hostile.site import Site
from tests.programs import arguments, mannerly, start

TIMEOUT_S = 5.0
TRIES = 2
BODY_LIMIT = 1024 * 1024
OPTIONS = {
    "--email": "test@example.org",
    "--delay": "800ms",
    "--visit-timeout": f"{TIMEOUT_S}s",
    "--body-limit": str(BODY_LIMIT),
    "--max-tries": str(TRIES),
    "--retry-delay": "100ms",
    "--retry-ceiling": "1s",
    "--crawl-delay-ceiling": "1s",
    "--max-pages-per-site": str(PAGES_A_SITE),
    "--max-pending-per-site": "100",
    "--max-spilt-per-site": "100",
    # Rolled while it is small, the journal takes little memory on its way to Parquet. How much it
    # takes when it is long is the store's matter, whoever the pages are from.
    "--segment-size": "1MiB",
    "--segment-age": "2s",
    "--progress": "off",
}
LONGEST_S = 60
SAMPLE_S = 0.05

Row = dict[str, Any]


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind, and what the server saw of it."""

    returncode: int
    errors: str
    peak_bytes: int
    """Most memory that was resident at any time."""
    fetches: dict[str, Row]
    """By URL."""
    pages: dict[str, Row]
    status: Row
    requests: list[Row]
    connections: list[Row]


@dataclass(frozen=True)
class Served:
    """The server in its own process."""

    address: str
    log: Path


@contextmanager
def serving(log: Path) -> Iterator[Served]:
    command = [sys.executable, "-m", "tests.hostile.server", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, "the server did not start"
            yield Served(f"127.0.0.1:{port}", log)
        finally:
            process.terminate()


def crawl(folder: Path, served: Served, sites: Sequence[Site]) -> Crawled:
    """Crawl these sites to the end; the seeds are their home pages."""
    folder.mkdir()
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{site.home}\n" for site in sites))
    data = folder / "data"
    seen = len(served.log.read_text().splitlines())
    running = start("crawl", "--seed-file", str(seeds), "--data-dir", str(data),
                    "--connect-to", served.address, *arguments(OPTIONS))  # fmt: skip
    try:
        peak_bytes = _watch(running)
    finally:
        running.kill()
        _, errors = running.communicate()
    lines = [json.loads(line) for line in served.log.read_text().splitlines()[seen:]]
    status = mannerly("status", "--data-dir", str(data), "--json")
    return Crawled(
        running.returncode,
        errors,
        peak_bytes,
        {row["url"]: row for row in _query(data, "SELECT * FROM fetches")},
        {row["url"]: row for row in _query(data, "SELECT url, text, truncated FROM pages")},
        json.loads(status.stdout),
        [line for line in lines if line["kind"] == "request"],
        [line for line in lines if line["kind"] == "connection"],
    )


def _watch(running: "subprocess.Popen[str]") -> int:
    """The peak of its memory, once it has ended."""
    peak_bytes = 0
    end_at = time.monotonic() + LONGEST_S
    while time.monotonic() < end_at:
        peak_bytes = max(peak_bytes, _high_water(running.pid))
        try:
            running.wait(SAMPLE_S)
        except subprocess.TimeoutExpired:
            continue
        return peak_bytes
    raise AssertionError(f"the crawl has not ended after {LONGEST_S} s")


def _high_water(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def _query(data: Path, sql: str) -> list[Row]:
    answer = mannerly("query", "--data-dir", str(data), "--format", "json", sql)
    assert answer.returncode == 0, answer.stderr
    rows: list[Row] = json.loads(answer.stdout)
    return rows
