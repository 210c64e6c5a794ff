"""A writer's side of the store: a journal of checkpoints, rolled into Parquet.

**Why each page is seen exactly once.** Let *s* be a checkpoint's sequence.

- `write(s)` returns only when batch *s* is durable; the frontier commits *s* after that. So
  whatever the frontier has settled is on disk.
- Only batches that the frontier committed are ever shown or rolled: while the writer lives it
  knows from the frontier's answer (`settle`), after its death `recover` asks the frontier. A batch
  that was written and not committed is void; its URLs are pending and come again with another
  lease. So nothing is told of twice, by two leases. (Rows that tell of what happened, whoever
  settled what, stand from the moment batch *s* is durable: `mannerly.store.tables`.)
- Which rows of *s* were refused is known to the frontier until *s* + 1 is committed, and to the
  journal from the moment *s* + 1 is durable: the mark of *s* stands before batch *s* + 1 and is
  covered by the same fsync, or is repeated at the head of a new segment. So whoever rolls *s*,
  whenever, drops the same rows.
- A segment is rolled into files named after it, in order, and removed only when those are durable
  (`mannerly.store.rolling`). Rolling it again gives the same files. So no crash doubles a row.
- After a failed write or fsync nothing is appended to that segment again, and its unsynced tail is
  never trusted: the batch is written anew into a new segment, and of two batches of one sequence
  the later counts.

For this the engine must write *every* sequence that it commits, the empty ones too, and settle
each before it writes the next; `StoreError` if it does not.
"""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from mannerly import memory
from mannerly.clock import Clock
from mannerly.errors import CrawlBusyError, StoreError
from mannerly.records import Exchange
from mannerly.store import frames, rolling
from mannerly.store.contract import Rows
from mannerly.store.disk import DISK, Buffer, Disk
from mannerly.store.frames import Part
from mannerly.store.layout import Layout
from mannerly.store.lock import WriterLock
from mannerly.store.segments import Refused, Segment, counted
from mannerly.store.tables import TABLES, WARC, encode
from mannerly.store.warc.archivist import Archivist, WarcRow

T = TypeVar("T")

MUCH = 8 * 2**20
"""Rolling a segment of this size leaves holes in the heap (70 MiB after one of 60) that nothing
would give back before the next one."""
ARCHIVE_FACTOR = 2
"""So many times `segment_bytes` may a segment have if most of it is for a WARC file: else the
Parquet files beside it would be small."""
LEAST_SHARE = 8
"""A segment that is old enough is rolled if it has an eighth of `segment_bytes`. A slow crawl would
otherwise leave thousands of small files, and merging those later cannot be hidden from a tool that
lists the directory just then."""
LONGEST_AGES = 12
"""After so many times `segment_age_s` it is rolled in any case."""


class JournalStore:
    """Implements `mannerly.store.contract.Store`. For one thread at a time."""

    def __init__(
        self,
        data_dir: Path,
        writer: int,
        *,
        clock: Clock,
        segment_bytes: int = 128 << 20,
        segment_age_s: float = 300.0,
        facts: Sequence[tuple[str, str]] = (),
        disk: Disk = DISK,
    ) -> None:
        """Take the writer's journal. `CrawlBusyError` if a living process has it, `StoreError` if
        a dead one left something in it (then `recover` first). `facts` are those of the crawl, to
        be told in its WARC files."""
        self._layout = Layout(data_dir)
        self._writer = writer
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._segment_age_s = segment_age_s
        self._archivist = Archivist(writer, facts)
        self._disk = disk
        self._last: int | None = None
        """The sequence that was written last; None before the first."""
        self._pending: int | None = None
        """`_last`, while it is not settled."""
        self._settled: dict[int, Refused] = {}
        """What counts of the segments that are not rolled yet."""
        self._unsynced: dict[int, Refused] = {}
        """Marks that the next fsync is to make durable."""
        self._finished: list[Segment] = []
        self._current: Segment | None = None
        self._fd = -1
        self._begun_at = 0.0
        self._archived_bytes = 0
        """What of the current segment goes into a WARC file."""
        self._lock = _guarded("open the journal", self._open)
        known = [name for table in TABLES for name in self._layout.rolled(table)]
        self._number = max((number for owner, number in known if owner == writer), default=0)

    def _open(self) -> WriterLock:
        self._layout.make()
        directory = self._layout.writer_dir(self._writer)
        lock = WriterLock.create(directory)
        if lock is None:
            raise CrawlBusyError(f"{directory} is in use by another process")
        if self._layout.segments(self._writer):
            lock.release()
            raise StoreError(f"{directory} was left by a process that died: recover it first")
        for made in (directory.parent, self._layout.root, self._layout.root.parent):
            self._disk.sync_dir(made)
        return lock

    def write(self, sequence: int, rows: Rows) -> None:
        self._check_order(sequence)
        archived = self._archivist.rows(sequence, rows.of(Exchange), self._clock.wall())
        parts = _encoded(rows, archived)
        for_archive = sum(part.size for part in parts if part.table == WARC.name)
        pieces = frames.batch(sequence, parts)
        if self._is_full():
            self._finish()
        try:
            _guarded(
                "write to the journal",
                lambda: self._append_durably(sequence, pieces, for_archive),
            )
        except StoreError:
            self._give_up_segment()
            raise
        self._last = self._pending = sequence

    def _check_order(self, sequence: int) -> None:
        if self._last is None or sequence == self._pending:
            return
        if self._pending is not None:
            raise StoreError(f"{sequence} was to be written before {self._pending} was settled")
        if sequence != self._last + 1:
            raise StoreError(f"{sequence} was to be written after {self._last}")

    def _append_durably(self, sequence: int, pieces: Sequence[Buffer], for_archive: int) -> None:
        segment = self._current
        if segment is None:
            segment = self._begin(after=sequence - 1)
        self._disk.append(self._fd, *pieces)
        self._disk.sync(self._fd)
        frame = frames.payload_at(frames.describe(pieces[0]), segment.size)
        segment.batches[sequence] = frame
        segment.size = frame.offset + frame.length
        self._archived_bytes += for_archive
        self._unsynced.clear()

    def _begin(self, after: int) -> Segment:
        """Start a segment, with the marks that the last one may have lost."""
        self._number += 1
        path = self._layout.segment(self._writer, self._number)
        self._fd = self._disk.create(path)
        self._begun_at = self._clock.now()
        self._archived_bytes = 0
        self._current = Segment(self._number, path, after)
        marks = (frames.settled(sequence, refused) for sequence, refused in self._unsynced.items())
        head = b"".join([frames.header(self._writer, after), *marks])
        self._disk.append(self._fd, head)
        self._disk.sync_dir(path.parent)
        self._current.size = len(head)
        return self._current

    def settle(self, sequence: int, refused: Collection[int]) -> None:
        """Never fails for the disk's sake: the mark is for readers, and for recovery only from the
        next `write` on, which makes it durable or fails itself."""
        if sequence in self._settled or (self._pending is None and sequence == self._last):
            return
        if sequence != self._pending:
            raise StoreError(f"{sequence} was to be settled, but {self._pending} was written")
        self._pending = None
        self._archivist.settled(sequence, refused)
        self._settled[sequence] = self._unsynced[sequence] = frozenset(refused)
        if self._current is None:
            return
        mark = frames.settled(sequence, refused)
        try:
            self._disk.append(self._fd, mark)
        except OSError:
            self._give_up_segment()
        else:
            self._current.size += len(mark)

    def roll(self, *, force: bool = False) -> int:
        if self._pending is None and (force or self._is_full()):
            self._finish()
        return _guarded("roll the journal into Parquet", self._roll_finished)

    def _roll_finished(self) -> int:
        """Strictly in order, up to the first segment with a batch that is not settled."""
        files = 0
        while self._finished:
            segment = self._finished[0]
            if self._pending in segment.batches:
                break
            if not segment.rolled:
                plan = counted(self._unrolled(), self._settled, void=False)[0]
                number = segment.number
                files += rolling.roll(self._disk, self._layout, self._writer, number, plan).files
                segment.rolled = True
                if segment.size >= MUCH:
                    memory.trim()
            rolling.discard(self._disk, segment.path)
            self._finished.pop(0)
            needed = {sequence for later in self._unrolled() for sequence in later.batches}
            self._settled = {s: refused for s, refused in self._settled.items() if s in needed}
        return files

    def _unrolled(self) -> list[Segment]:
        return self._finished if self._current is None else [*self._finished, self._current]

    def close(self) -> None:
        try:
            self.roll(force=True)
        finally:
            self._finish()
            self._lock.remove()

    def _is_full(self) -> bool:
        if self._current is None or self._pending is not None:
            return False
        ages = (self._clock.now() - self._begun_at) / self._segment_age_s
        size = self._current.size
        return (
            size - self._archived_bytes >= self._segment_bytes
            or size >= ARCHIVE_FACTOR * self._segment_bytes
            or (ages >= 1 and size * LEAST_SHARE >= self._segment_bytes)
            or ages >= LONGEST_AGES
        )

    def _finish(self) -> None:
        if self._current is not None:
            os.close(self._fd)
            self._finished.append(self._current)
            self._current = None

    def _give_up_segment(self) -> None:
        """The current segment's tail is not to be trusted: nothing is appended to it again."""
        segment = self._current
        self._finish()
        if segment is not None and not segment.batches:
            # Nothing in it counts. It goes, lest a disk that is full for hours fill with these.
            self._finished.remove(segment)
            try:
                self._disk.remove(segment.path)
            except OSError:
                self._finished.append(segment)


def _encoded(rows: Rows, archived: Sequence[WarcRow]) -> list[Part]:
    found = [(table, archived if table is WARC else rows.of(table.record)) for table in TABLES]
    return [Part(table.name, len(some), encode(table, some)) for table, some in found if some]


def _guarded(what: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as exc:
        raise StoreError(f"cannot {what}: {exc.strerror or exc}") from exc
