"""A disk that is really full: a small tmpfs."""

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mannerly.errors import StoreError
from mannerly.records import Exchange, FetchRecord, PageRecord
from mannerly.store import JournalStore, Rows
from tests.unit.store.store_records import StillClock, exchange, fetch, page, parquet_hashes, seen

MIB = 1 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(tmp_path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"this test mounts a tmpfs and must be root for that: {done.stderr.strip()}")
    yield tmp_path
    # Lazily: a test that fails may still hold files open, and no mount must be left behind.
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def noise(size: int) -> str:
    """Text that does not shrink by much."""
    return os.urandom(size // 2).hex()


def rows(number: int) -> tuple[list[FetchRecord], list[PageRecord], list[Exchange]]:
    return [fetch(number)], [page(number, text=noise(MIB // 4))], [exchange(number, MIB // 4)]


def test_a_full_disk_stops_the_store_and_an_emptier_one_lets_it_go_on(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(3 * MIB))
    store = JournalStore(small_disk / "data", 1, clock=StillClock(), segment_bytes=MIB)
    done = 0
    records = rows(1)
    with pytest.raises(StoreError, match="No space left on device"):  # noqa: PT012
        while True:
            store.write(done + 1, Rows(*records))
            done += 1
            store.settle(done, [])
            records = rows(done + 1)
    assert done >= 2
    assert seen(small_disk / "data") == list(range(1, done + 1))
    with pytest.raises(StoreError, match="No space left"):
        store.roll(force=True)
    assert list(small_disk.rglob("*.tmp")) == [], "a failed roll gives its space back"
    for _ in range(3):
        with pytest.raises(StoreError, match="No space left"):
            store.write(done + 1, Rows(*records))
    assert seen(small_disk / "data") == list(range(1, done + 1))

    ballast.unlink()
    assert store.roll(force=True) > 0
    store.write(done + 1, Rows(*records))
    store.settle(done + 1, [])
    store.close()
    wanted = list(range(1, done + 2))
    assert parquet_hashes(small_disk / "data") == wanted
    assert parquet_hashes(small_disk / "data", "fetches") == wanted
    archived = [path.read_bytes() for path in (small_disk / "data" / "warc").glob("*.warc.gz")]
    responses = gzip.decompress(b"".join(archived)).count(b"\r\nWARC-Type: response\r\n")
    assert responses == len(wanted)
    assert list((small_disk / "data" / "journal").iterdir()) == []
