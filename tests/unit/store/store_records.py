"""Records, clocks and disks for the store's tests."""

import errno
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mannerly.evidence import RequestRecord
from mannerly.records import Exchange, FetchRecord, PageRecord
from mannerly.store.disk import Buffer, Disk
from mannerly.store.read import open_store


class StillClock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    def wall(self) -> float:
        return 1_800_000_000.0 + self.at


def fetch(number: int, token: int = 1, **changes: Any) -> FetchRecord:
    record = FetchRecord(
        token=token, url=f"https://site.test/{number}", url_hash=number, site="site.test",
        outcome="fetched", status=200, fetched_at=1_800_000_000.25 + number, duration_s=0.125,
        wire_bytes=1000 + number, content_type="text/html", redirect_to="", depth=2, tries=1,
        referrer_hash=-number, address="192.0.2.7", detail="",
    )  # fmt: skip
    return record._replace(**changes)


def page(number: int, token: int = 1, **changes: Any) -> PageRecord:
    record = PageRecord(
        token=token, url=f"https://site.test/{number}", url_hash=number, site="site.test",
        fetched_at=1_800_000_000.25 + number, status=200, content_type="text/html",
        charset="utf-8", title=f"Page {number}", text=f"The text of page {number}.",
        language="en", links=number % 7, body_bytes=5000, wire_bytes=1000 + number,
        truncated=False, depth=2, referrer_hash=-number, content_hash=number * 31,
        duration_s=0.125, last_modified="Fri, 15 Jan 2027 08:00:00 GMT", etag='"x"',
        cache_control="no-cache", server="nginx", content_language="en", address="192.0.2.7",
        dns_s=0.01, connect_s=0.02, first_byte_s=0.03, tls_version="TLSv1.3", tls_cipher="AES",
        tls_problem="not checked", robots_hash=-5, robots_line=3,
        description=f"What page {number} is about.", canonical=f"https://site.test/{number}",
        open_graph=(("title", f"Page {number}"), ("type", "article")),
        headings=((1, f"Page {number}"), (2, "More")), main_text=f"Text {number}.",
    )  # fmt: skip
    return record._replace(**changes)


def request(number: int, token: int = 1, **changes: Any) -> RequestRecord:
    record = RequestRecord(
        token=token, writer=7, visit=number, site="site.test", origin="https://site.test",
        kind="page", url=f"https://site.test/{number}", sent_at=1_800_000_000.25 + number,
        ended_at=1_800_000_000.375 + number, status=200, failure="", address="192.0.2.7",
        rest_s=70.05, delay_s=70.05, why="delay", robots_state="", robots_hash=-3,
        robots_fetched_at=1_800_000_000.0, robots_line=2, body=b"",
    )  # fmt: skip
    return record._replace(**changes)


def exchange(number: int, size: int, token: int = 1) -> Exchange:
    """With a body of so many bytes, unlike any other and not to be compressed."""
    return Exchange(
        token=token, url=f"https://site.test/{number}", fetched_at=1_800_000_000.25 + number,
        address="192.0.2.7", request=b"GET / HTTP/1.1\r\n\r\n", http_version=b"1.1", status=200,
        reason=b"OK", headers=[(b"Content-Type", b"text/html")],
        body=random.Random(number).randbytes(size), truncated=False, facts=(),
    )  # fmt: skip


def seen(data_dir: Path, table: str = "pages") -> list[int]:
    """The url hashes that a reader sees, sorted; a page that is there twice shows twice."""
    with open_store(data_dir) as connection:
        rows = connection.execute(f"SELECT url_hash FROM {table} ORDER BY 1").fetchall()
    return [row[0] for row in rows]


def parquet_hashes(data_dir: Path, table: str = "pages") -> list[int]:
    """What somebody sees who reads only the Parquet files, with any other tool."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    found: list[int] = []
    for path in (data_dir / table).glob("*.parquet"):
        found += pq.read_table(path, columns=["url_hash"])["url_hash"].to_pylist()
    return sorted(found)


class FailingDisk(Disk):
    """Fails each step for which `fails(name)` gives an error number; appends half before that."""

    def __init__(self, fails: Callable[[str], int | None] = lambda _: None) -> None:
        self.fails = fails
        self.steps: list[str] = []

    def _step(self, name: str) -> None:
        self.steps.append(name)
        code = self.fails(name)
        if code:
            raise OSError(code, errno.errorcode[code])

    def create(self, path: Path) -> int:
        self._step("create")
        return super().create(path)

    def append(self, fd: int, *pieces: Buffer) -> None:
        try:
            self._step("append")
        except OSError:
            data = b"".join(pieces)
            super().append(fd, data[: len(data) // 2])
            raise
        super().append(fd, *pieces)

    def sync(self, fd: int) -> None:
        self._step("sync")
        super().sync(fd)

    def sync_file(self, path: Path) -> None:
        self._step("sync_file")
        super().sync_file(path)

    def sync_dir(self, path: Path) -> None:
        self._step("sync_dir")
        super().sync_dir(path)

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename")
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._step("link")
        super().link(source, target)

    def remove(self, path: Path) -> None:
        self._step("remove")
        super().remove(path)
