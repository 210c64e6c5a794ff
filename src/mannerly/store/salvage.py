"""Mending Parquet files: what can be read of a damaged one takes its place, and the damaged one
goes to `lost+found`, so that nothing is ever thrown away.

Every step may be repeated: killed in between, the file is damaged or mended, never gone.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mannerly.store.disk import DISK, Disk
from mannerly.store.inspection import StoreFile, readable, remembered
from mannerly.store.layout import Layout, temporary
from mannerly.store.rolling import TableFile
from mannerly.store.tables import FETCHES, MARK, PAGES, Table

REBUILT = "rebuilt from its page"
"""The detail of a fetch record whose own was lost."""


def rewrite(
    path: Path,
    table: Table,
    batches: Iterable[pa.RecordBatch],
    *,
    counts: Mapping[str, int] | None = None,
    disk: Disk = DISK,
) -> int:
    """Put other rows in the place of a Parquet file's, durably and in one step; how many. A file
    without rows goes, unless it is a mark; then `counts` is what it remembers."""
    file = TableFile(table, path)
    try:
        with file:
            for batch in batches:
                file.add(batch)
            if counts is not None:
                file.begin()
                file.remember(counts)
    except OSError:
        disk.remove(temporary(path))
        raise
    if file.begun:
        disk.sync_file(temporary(path))
        disk.rename(temporary(path), path)
    else:
        disk.remove(path)
    disk.sync_dir(path.parent)
    return file.rows


def salvage(layout: Layout, damaged: StoreFile, *, disk: Disk = DISK) -> int:
    """Keep what is readable of a damaged file; how many rows."""
    set_aside(layout, damaged.path, disk=disk)
    table = damaged.table._replace(public=_schema(damaged))
    rows = rewrite(
        damaged.path,
        table,
        readable(damaged.path, []),
        counts=remembered(damaged.path) if damaged.table is MARK else None,
        disk=disk,
    )
    if damaged.table is FETCHES:
        rows += rebuild_fetches(layout, damaged.writer, damaged.number, disk=disk)
    return rows


def set_aside(layout: Layout, path: Path, *, disk: Disk = DISK) -> Path:
    """Give a file a second name in `lost+found`, which outlives the first."""
    layout.lost.mkdir(exist_ok=True)
    disk.sync_dir(layout.root)
    kept = layout.lost / f"{path.parent.name}-{path.name}"
    disk.link(path, kept)
    disk.sync_dir(layout.lost)
    return kept


def rebuild_fetches(layout: Layout, writer: int, number: int, *, disk: Disk = DISK) -> int:
    """Give every page of a segment its fetch record again, where that was lost; how many. Without
    its mark a segment's pages are seen by nobody, so there is one after this."""
    path = layout.file(MARK, writer, number)
    there = [*readable(path, [])] if path.exists() else []
    counts = remembered(path) if path.exists() else {}
    known = {value for batch in there for value in batch.column("url_hash").to_pylist()}
    pages = layout.file(PAGES, writer, number)
    lost = [
        batch.filter(pa.array([value not in known for value in batch["url_hash"].to_pylist()]))
        for batch in (readable(pages, []) if pages.exists() else ())
    ]
    rebuilt = [_fetches_of(batch) for batch in lost if batch.num_rows]
    if rebuilt or not path.exists():
        whole = [_as_public(batch) for batch in there]
        rewrite(path, MARK, [*whole, *rebuilt], counts=counts, disk=disk)
    return sum(batch.num_rows for batch in rebuilt)


_KNOWN: dict[str, object] = {"outcome": "fetched", "tries": 1, "detail": REBUILT}


def _fetches_of(pages: pa.RecordBatch) -> pa.RecordBatch:
    return _filled(pages, _KNOWN)


def _as_public(fetches: pa.RecordBatch) -> pa.RecordBatch:
    return _filled(fetches, {})


def _filled(batch: pa.RecordBatch, known: dict[str, object]) -> pa.RecordBatch:
    """The columns of `fetches`, from a batch that has some of them; the others are told here, or
    empty."""
    columns = []
    for field in FETCHES.public:
        if field.name in batch.schema.names and field.name not in known:
            columns.append(batch.column(field.name).cast(field.type))
        else:
            value = known.get(field.name, _EMPTY[_kind(field.type)])
            columns.append(pa.array([value] * batch.num_rows, field.type))
    return pa.record_batch(columns, schema=FETCHES.public)


_EMPTY: dict[Callable[[pa.DataType], bool], object] = {
    pa.types.is_string: "",
    pa.types.is_boolean: False,
    pa.types.is_floating: 0.0,
    pa.types.is_integer: 0,
    pa.types.is_timestamp: 0,
}


def _kind(type_: pa.DataType) -> Callable[[pa.DataType], bool]:
    return next(is_kind for is_kind in _EMPTY if is_kind(type_))


def _schema(damaged: StoreFile) -> pa.Schema:
    """The file's own, where that can be read: an older version may have written it."""
    try:
        return pq.read_schema(damaged.path)
    except (pa.ArrowException, OSError, ValueError):
        return damaged.table.public
