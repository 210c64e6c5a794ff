"""Rolling: what counts of one segment becomes a file per table, and the segment goes.

The order of the steps is what makes it safe to be killed between any two of them:

1. all files are written under temporary names and made durable; a table without rows has none;
2. they get their names, durably, `fetches` last. The file in `fetches` is the mark that the segment
   is rolled: a reader that sees it no longer reads the segment, one that does not ignores the files
   of the same name in other tables;
3. the segment is removed, durably, before the next one is rolled.

Killed before 3 the segment is rolled again, to the same names with the same rows. One record batch
and one row group per table are in memory at a time, however long the segment is. Tables become
Parquet, but for `warc`, which becomes a WARC file and its index.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import pyarrow as pa
import pyarrow.parquet as pq

from mannerly.store import segments
from mannerly.store.disk import Disk
from mannerly.store.layout import Layout, temporary
from mannerly.store.segments import Counted
from mannerly.store.tables import MARK, TABLES, Table
from mannerly.store.warc.files import WarcFile

# Large enough that compression and statistics pay, small enough to be held in memory some times
# over, which is what the writer does.
_ROW_GROUP_BYTES = 8 << 20
_ROW_GROUP_ROWS = 50_000

COUNTS = "mannerly.rows"
"""The key of a mark's metadata under which the rows of its segment are, by table, as JSON."""


class RolledFile(Protocol):
    """A table's file in the making, under a temporary name. No row, no file."""

    table: Table
    rows: int
    paths: list[Path]
    """What it will be called; more than one where an index goes with it."""

    @property
    def begun(self) -> bool: ...
    def begin(self) -> None: ...
    def add(self, batch: pa.RecordBatch) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None: ...


class Rolled(NamedTuple):
    files: int
    rows: Counter[str]
    """By table."""


def roll(
    disk: Disk, layout: Layout, writer: int, number: int, batches: Sequence[Counted]
) -> Rolled:
    """Roll segment `number` of `writer`, in which exactly `batches` count; then `discard` it.

    `OSError` if the disk does not do it: roll it again.
    """
    segment = layout.segment(writer, number)
    others = [table for table in TABLES if table is not MARK]
    mark = TableFile(MARK, layout.file(MARK, writer, number))
    # The mark is named last: what is marked is whole.
    files = [*(_file(table, layout.file(table, writer, number)) for table in others), mark]
    by_table = {file.table.name: file for file in files}
    try:
        with ExitStack() as stack:
            for file in files:
                stack.enter_context(file)
            for table, batch in segments.rows(segment, batches):
                by_table[table.name].add(batch)
            if any(file.rows for file in files):
                # The mark that the segment is rolled, also where no fetch is told of.
                mark.begin()
                mark.remember({file.table.name: file.rows for file in files})
    except OSError:
        # The disk is full, most likely: give back what the attempt took.
        for file in files:
            for path in file.paths:
                disk.remove(temporary(path))
        raise
    named = [path for file in files if file.begun for path in file.paths]
    for path in named:
        disk.sync_file(temporary(path))
    for path in named:
        disk.rename(temporary(path), path)
        disk.sync_dir(path.parent)
    return Rolled(len(named), Counter({file.table.name: file.rows for file in files}))


def _file(table: Table, path: Path) -> RolledFile:
    return WarcFile(table, path) if table.suffix == "warc.gz" else TableFile(table, path)


def discard(disk: Disk, segment: Path) -> None:
    """Remove a segment that was rolled. May be repeated if it fails."""
    disk.remove(segment)
    disk.sync_dir(segment.parent)


class TableFile:
    """A Parquet file in the making, under its temporary name. No row, no file."""

    def __init__(self, table: Table, path: Path) -> None:
        self.table = table
        self.rows = 0
        self.paths = [path]
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = self._held_rows = 0
        self._sink: pa.OSFile | None = None
        self._writer: pq.ParquetWriter | None = None

    @property
    def begun(self) -> bool:
        return self._writer is not None

    def begin(self) -> None:
        if self._writer is None:
            self._sink = pa.OSFile(str(temporary(self.paths[0])), "wb")
            self._writer = pq.ParquetWriter(
                self._sink,
                self.table.public,
                compression="zstd",
                compression_level=3,
                use_dictionary=self.table.dictionary,
                write_statistics=self.table.statistics,
                store_schema=True,
                # A flipped bit in compressed text mostly decodes to other text: nobody else would
                # ever notice. (`mannerly check` does.)
                write_page_checksum=True,
            )

    def remember(self, counts: Mapping[str, int]) -> None:
        """Keep in the file how many rows each table has of its segment: a file that is gone is
        missed by nobody else. What is given last counts. The file must have begun."""
        assert self._writer is not None
        self._writer.add_key_value_metadata({COUNTS: json.dumps(dict(counts))})

    def add(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        self.rows += batch.num_rows
        self._held.append(batch)
        # Not `nbytes`, which looks for bytes that buffers share: 85 us for a batch of pages.
        self._held_bytes += batch.get_total_buffer_size()
        self._held_rows += batch.num_rows
        if self._held_bytes >= _ROW_GROUP_BYTES or self._held_rows >= _ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self.begin()
            assert self._writer is not None
            group = pa.Table.from_batches(self._held, self.table.public)
            self._writer.write_table(group, row_group_size=group.num_rows)
            self._held.clear()
            self._held_bytes = self._held_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is None:
                self._flush()
                if self._writer is not None:
                    self._writer.close()
        finally:
            if self._writer is not None:
                # Else, after a failure, it would try again to write when it is collected.
                self._writer.is_open = False
            if self._sink is not None:
                # Ours to close: a writer that fails to close keeps its file, and on a full disk
                # an open file without a name keeps its space.
                self._sink.close()
