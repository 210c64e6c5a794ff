"""Taking a site's rows out of the Parquet files, a file at a time, each in one step.

Of a segment the mark is rewritten last: should the rest be cut off, its counts say that something
is under way, and the same removal done again finishes it.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mannerly.errors import StoreError
from mannerly.store.disk import DISK, Disk
from mannerly.store.inspection import NOT_READABLE, ParquetFile, parquet_files
from mannerly.store.layout import Layout
from mannerly.store.salvage import rewrite
from mannerly.store.tables import MARK, TABLES

_CHUNK = 1 << 20


def holding(layout: Layout, site: str) -> list[tuple[ParquetFile, list[int]]]:
    """The files with rows of a site, and the URL hashes of these rows. `StoreError` if a file
    cannot be read: nobody knows what is in it."""
    found = []
    for file in parquet_files(layout):
        hashes = [
            value
            for batch in _batches(file.path, ["site", "url_hash"])
            for value in batch.filter(pc.equal(batch["site"], site))["url_hash"].to_pylist()
        ]
        if hashes:
            found.append((file, hashes))
    return found


def remove(layout: Layout, file: ParquetFile, site: str, *, disk: Disk = DISK) -> None:
    """Take the rows of a site out of one file. A file of which nothing is left goes, unless it is
    a mark."""
    kept = (batch.filter(pc.not_equal(batch["site"], site)) for batch in _batches(file.path))
    table = file.table._replace(public=pq.read_schema(file.path).remove_metadata())
    counts = _rows(layout, file, site) if file.table is MARK else None
    rewrite(file.path, table, kept, counts=counts, disk=disk)


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _rows(layout: Layout, mark: ParquetFile, site: str) -> dict[str, int]:
    """How many rows each table has of a segment, once the site's are out of the mark too."""
    counts = {}
    for table in TABLES:
        path = layout.file(table, mark.writer, mark.number)
        rows = 0
        if path.exists():
            rows = sum(
                int(pc.sum(pc.not_equal(batch["site"], site)).as_py() or 0)
                for batch in _batches(path, ["site"])
            )
        counts[table.name] = rows
    return counts


def _batches(path: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield from file.iter_batches(columns=columns, use_threads=False)
    except NOT_READABLE as exc:
        raise StoreError(
            f"{path} cannot be read ({str(exc)[:100]}); run `mannerly check --repair` first"
        ) from exc
