"""Whether the store's files are whole. Reading only, and every byte of it.

Parquet files carry a checksum per page (those of an early version do not; of them only what cannot
be decoded is found). Journals have their own (`mannerly.store.frames`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mannerly.store.layout import Layout
from mannerly.store.rolling import COUNTS
from mannerly.store.tables import MARK, TABLES, Table

ROWS_AT_A_TIME = 1_000

NOT_READABLE = (pa.ArrowException, OSError, ValueError, UnicodeDecodeError)
"""What reading a damaged Parquet file raises, depending on where it is damaged."""


class StoreFile(NamedTuple):
    """A file of the store, and where it belongs."""

    table: Table
    writer: int
    number: int
    path: Path


class Inspected(NamedTuple):
    rows: int
    """That can be read, from the beginning of each row group on."""
    damage: str
    """What is wrong, in words; '' if nothing is."""


def store_files(layout: Layout) -> list[StoreFile]:
    """Those that readers read: the ones of segments that have their mark. Marks come last."""
    marked = layout.rolled(MARK)
    return [
        StoreFile(table, writer, number, layout.file(table, writer, number))
        for table in TABLES
        for writer, number in sorted(layout.rolled(table) & marked)
    ]


def remembered(mark: Path) -> dict[str, int]:
    """How many rows each table had of a mark's segment when it was rolled; empty if that cannot be
    told."""
    try:
        counts = (pq.read_metadata(mark).metadata or {}).get(COUNTS.encode(), b"{}")
    except NOT_READABLE:
        return {}
    found: dict[str, int] = json.loads(counts)
    return found


def unmarked(layout: Layout) -> list[tuple[int, int]]:
    """Segments that have Parquet files, but neither the one that is their mark nor a journal from
    which it could be rolled: what they have is seen by nobody."""
    marked = layout.rolled(MARK)
    journalled = {
        (writer, number) for writer in layout.writers() for number in layout.segments(writer)
    }
    rolled = set().union(*(layout.rolled(table) for table in TABLES))
    return sorted(rolled - marked - journalled)


def inspect(path: Path) -> Inspected:
    """Read all of a Parquet file."""
    damage: list[str] = []
    rows = sum(batch.num_rows for batch in readable(path, damage))
    return Inspected(rows, "; ".join(dict.fromkeys(damage)))


def readable(path: Path, damage: list[str]) -> Iterator[pa.RecordBatch]:
    """What can be read of a Parquet file, damaged or not. What cannot is told in `damage`."""
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except NOT_READABLE as exc:
        damage.append(_words(exc))
        return
    with file:
        for group in range(file.num_row_groups):
            read = 0
            try:
                for batch in file.iter_batches(
                    ROWS_AT_A_TIME, row_groups=[group], use_threads=False
                ):
                    read += batch.num_rows
                    yield batch
            except NOT_READABLE as exc:
                whole = file.metadata.row_group(group).num_rows
                damage.append(f"{whole - read} of {whole} rows of a row group: {_words(exc)}")


def _words(exc: Exception) -> str:
    return " ".join(str(exc).split())[:200]
