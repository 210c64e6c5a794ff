"""What dead writers leave, and what becomes of it."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mannerly.errors import StoreError
from mannerly.store import JournalStore, Recovered, Rows, dead_writers, recover
from mannerly.store.disk import Disk
from mannerly.store.layout import Layout
from tests.unit.store.store_records import (
    FailingDisk,
    StillClock,
    fetch,
    page,
    parquet_hashes,
    seen,
)

WRITER = 0xABC


def dead_journal(data_dir: Path, batches: int, *, settled: int) -> None:
    """A writer that died when it had written `batches` and settled `settled` of them.

    Batch n has pages n and 100 + n; the token of the latter, 1000 + n, is refused.
    """
    store = JournalStore(data_dir, WRITER, clock=StillClock())
    for n in range(1, batches + 1):
        rows = [(n, n), (100 + n, 1000 + n)]
        store.write(n, Rows([fetch(*row) for row in rows], [page(*row) for row in rows]))
        if n <= settled:
            store.settle(n, [1000 + n])
    store._lock.release()


def run(data_dir: Path, state: tuple[int, set[int]] | None) -> Recovered:
    known = None if state is None else (state[0], frozenset(state[1]))
    return recover(data_dir, lambda _: known, writers=dead_writers(data_dir))


def test_the_frontier_has_the_last_word(tmp_path: Path) -> None:
    dead_journal(tmp_path, 3, settled=2)
    assert seen(tmp_path) == [1, 2]
    report = run(tmp_path, (3, {1003}))
    assert (report.writers, report.live) == ([WRITER], [])
    assert (report.batches_kept, report.batches_void, report.batches_missing) == (3, 0, 0)
    assert (report.rows["pages"], report.rows["fetches"]) == (3, 3)
    assert parquet_hashes(tmp_path) == parquet_hashes(tmp_path, "fetches") == [1, 2, 3]
    assert list((tmp_path / "journal").iterdir()) == []


def test_what_was_not_committed_is_void(tmp_path: Path) -> None:
    dead_journal(tmp_path, 3, settled=2)
    report = run(tmp_path, (2, {1002}))
    assert (report.batches_kept, report.batches_void) == (2, 1)
    assert parquet_hashes(tmp_path) == [1, 2]


def test_a_mark_does_not_count_against_the_frontier(tmp_path: Path) -> None:
    """A frontier that was set back (from a backup) will hand those URLs out again."""
    dead_journal(tmp_path, 3, settled=3)
    report = run(tmp_path, (1, {1001}))
    assert (report.batches_kept, report.batches_void) == (1, 2)
    assert seen(tmp_path) == [1]


def test_an_unknown_writer_loses_nothing(tmp_path: Path) -> None:
    dead_journal(tmp_path, 2, settled=2)
    segment = Layout(tmp_path).segment(WRITER, 1)
    data = segment.read_bytes()
    report = run(tmp_path, None)
    assert report.set_aside == [tmp_path / "lost+found" / f"{WRITER:016x}-000001.seg"]
    assert report.set_aside[0].read_bytes() == data
    assert (report.batches_kept, report.batches_void) == (0, 0)
    assert seen(tmp_path) == []
    assert dead_writers(tmp_path) == []


def test_the_living_and_the_unasked_are_left_alone(tmp_path: Path) -> None:
    dead_journal(tmp_path, 1, settled=1)
    live = JournalStore(tmp_path, 5, clock=StillClock())
    live.write(1, Rows([fetch(77)], [page(77)]))
    assert dead_writers(tmp_path) == [WRITER]
    report = recover(tmp_path, lambda _: None, writers=[5])
    assert (report.live, report.writers) == ([5], [])
    assert seen(tmp_path) == [1]
    live.settle(1, [])
    live.close()
    assert seen(tmp_path) == [1, 77]


def test_a_writer_that_died_before_its_first_batch_is_found(tmp_path: Path) -> None:
    JournalStore(tmp_path, 5, clock=StillClock())._lock.release()
    assert dead_writers(tmp_path) == [5]
    assert run(tmp_path, (0, set())).writers == [5]
    assert dead_writers(tmp_path) == []
    assert run(tmp_path, (0, set())).writers == []


def test_a_damaged_segment_gives_what_is_readable_and_is_kept(tmp_path: Path) -> None:
    dead_journal(tmp_path, 3, settled=3)
    segment = Layout(tmp_path).segment(WRITER, 1)
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    report = run(tmp_path, (3, {1003}))
    assert (report.batches_kept, report.batches_missing) == (2, 1)
    assert [path.read_bytes() for path in report.set_aside] == [data]
    assert parquet_hashes(tmp_path) == [1, 3]  # also what was written behind the damage


def test_unfinished_parquet_files_go(tmp_path: Path) -> None:
    dead_journal(tmp_path, 1, settled=1)
    left = tmp_path / "pages" / f".{WRITER:016x}-000009.parquet.tmp"
    left.write_bytes(b"PAR1")
    run(tmp_path, (1, {1001}))
    assert not left.exists()


@pytest.mark.parametrize("step", ["sync_file", "rename", "sync_dir", "remove"])
def test_a_failed_recovery_can_be_repeated(tmp_path: Path, step: str) -> None:
    dead_journal(tmp_path, 3, settled=2)
    disk = FailingDisk(lambda name: errno.ENOSPC if name == step else None)
    with pytest.raises(StoreError, match="cannot recover"):
        recover(tmp_path, lambda _: (3, frozenset({1003})), writers=[WRITER], disk=disk)
    assert run(tmp_path, (3, {1003})).batches_kept == 3
    assert parquet_hashes(tmp_path) == parquet_hashes(tmp_path, "fetches") == [1, 2, 3]


class PowerCut(Disk):
    """Knows what of a data directory would be left if the power failed now, at the worst.

    Of a file: what was there at its last sync. Of a directory: the names at its last sync.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contents: dict[int, bytes] = {}
        self.names: dict[Path, dict[str, int]] = {}
        self.fails_next = ""
        self.pinned = contextlib.ExitStack()
        """Files held open, lest another one gets the same inode number."""

    def sync(self, fd: int) -> None:
        if self.fails_next == "sync":
            self.fails_next = ""
            raise OSError(errno.EIO, "injected")
        super().sync(fd)
        self._keep(Path(f"/proc/self/fd/{fd}"))

    def sync_file(self, path: Path) -> None:
        super().sync_file(path)
        self._keep(path)

    def sync_dir(self, path: Path) -> None:
        super().sync_dir(path)
        files = [entry for entry in path.iterdir() if entry.is_file()]
        self.names[path] = {entry.name: entry.stat().st_ino for entry in files}

    def _keep(self, path: Path) -> None:
        file = self.pinned.enter_context(path.open("rb"))
        self.contents[os.fstat(file.fileno()).st_ino] = file.read()

    def leave(self, target: Path) -> None:
        """Make `target` what would be left."""
        for directory, names in self.names.items():
            if directory != self.root.parent:
                place = target / directory.relative_to(self.root)
                place.mkdir(parents=True, exist_ok=True)
                for name, inode in names.items():
                    (place / name).write_bytes(self.contents.get(inode, b""))


class Steps(PowerCut):
    """Calls back before every step."""

    def __init__(self, root: Path, before: "Iterator[None]") -> None:
        super().__init__(root)
        self.before = before

    def __getattribute__(self, name: str) -> object:
        if name in ("create", "append", "sync", "sync_file", "sync_dir", "rename", "remove"):
            next(self.before)
        return super().__getattribute__(name)


def test_no_power_failure_at_any_step_loses_or_doubles_a_row(tmp_path: Path) -> None:
    """Five checkpoints with refusals, a failed fsync among them, rolled as they come."""
    root = tmp_path / "data"
    word: tuple[int, frozenset[int]] = (0, frozenset())
    cuts = 0

    def check() -> Iterator[None]:
        nonlocal cuts
        while True:
            cuts += 1
            left = tmp_path / f"cut{cuts}"
            disk.leave(left)
            if left.exists():
                with contextlib.suppress(FileNotFoundError):
                    (left / "journal" / f"{WRITER:016x}" / "lock").unlink()
                report = recover(left, lambda _: word, writers=dead_writers(left))
                assert report.batches_missing == 0
                wanted = list(range(1, word[0] + 1))
                for table in ("pages", "fetches"):
                    assert parquet_hashes(left, table) == wanted, (cuts, word)
            yield

    disk = Steps(root, check())
    store = JournalStore(root, WRITER, clock=StillClock(), segment_bytes=9_000, disk=disk)
    for n in range(1, 6):
        rows = [(n, n), (100 + n, 1000 + n)]
        batch = ([fetch(*row) for row in rows], [page(*row) for row in rows])
        if n == 3:
            disk.fails_next = "sync"
            with pytest.raises(StoreError):
                store.write(n, Rows(*batch))
        store.write(n, Rows(*batch))
        word = (n, frozenset({1000 + n}))
        store.settle(n, [1000 + n])
        store.roll()
    store.close()
    disk.pinned.close()
    assert cuts > 40
    assert parquet_hashes(root) == [1, 2, 3, 4, 5]
    assert list((root / "journal").iterdir()) == []
