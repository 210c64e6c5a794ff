"""Taking a site out of the store's files, a file at a time, each in one step.

Of a segment the mark is rewritten last, with what is left of each table: should the rest be cut
off, its counts say that something is under way, and the same removal done again finishes it.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mannerly.errors import StoreError
from mannerly.store.disk import DISK, Disk
from mannerly.store.inspection import NOT_READABLE, StoreFile, remembered, store_files
from mannerly.store.layout import Layout
from mannerly.store.salvage import rewrite
from mannerly.store.tables import MARK, WARC, Table
from mannerly.store.warc import removal as archives
from mannerly.store.warc.removal import IsTheirs

_CHUNK = 1 << 20
_HASH = "url_hash"

Name = tuple[int, int]
"""Writer and number of a segment."""


class Site(NamedTuple):
    """The site that goes: its rows have its key, its exchanges only have URLs."""

    key: str
    has: IsTheirs


class Held(NamedTuple):
    """A file that has something of the site."""

    file: StoreFile
    rows: int
    """Of the site."""
    left: int
    """What the mark is to remember of it when these are gone."""
    hashes: list[int]
    """Of the URLs in these rows, if it is a mark."""


def holding(layout: Layout, site: Site) -> list[Held]:
    """The files that have something of a site. `StoreError` if a file cannot be read: nobody knows
    what is in it."""
    found = []
    for file in store_files(layout):
        hashes: list[int] = []
        if file.table is WARC:
            rows = archives.exchanges_of(file.path, site.has)
        elif "site" in file.table.public.names:
            columns = ["site", _HASH] if file.table is MARK else ["site"]
            for batch in _batches(file.path, columns):
                theirs = batch.filter(pc.equal(batch["site"], site.key))
                hashes += theirs[columns[-1]].to_pylist()
            rows = len(hashes)
        else:
            continue
        if rows:
            had = remembered(layout.file(MARK, file.writer, file.number)).get(file.table.name, 0)
            is_mark = file.table is MARK
            found.append(Held(file, rows, max(had - rows, 0), hashes if is_mark else []))
    return found


def remove(
    layout: Layout,
    site: Site,
    files: Sequence[StoreFile],
    left: Mapping[Name, Mapping[str, int]],
    *,
    disk: Disk = DISK,
) -> None:
    """Take the site out of `files`, then tell the marks of their segments what is left: by segment
    and table, `left`. A file of which nothing is left goes, unless it is a mark."""
    archives.resolve_references(layout.archives(), site.has, disk=disk)
    for file in files:
        if file.table is WARC:
            archives.remove(file.path, site.has, disk=disk)
        elif file.table is not MARK:
            rewrite(file.path, _own(file.path, file.table), _others(file.path, site), disk=disk)
    for name, counts in left.items():
        path = layout.file(MARK, *name)
        told = {**remembered(path), **counts}
        rewrite(path, _own(path, MARK), _others(path, site), counts=told, disk=disk)


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _own(path: Path, table: Table) -> Table:
    """With the columns of the file: an older version may have written it."""
    return table._replace(public=pq.read_schema(path).remove_metadata())


def _others(path: Path, site: Site) -> Iterator[pa.RecordBatch]:
    return (batch.filter(pc.not_equal(batch["site"], site.key)) for batch in _batches(path))


def _batches(path: Path, columns: Collection[str] | None = None) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield from file.iter_batches(columns=columns and [*columns], use_threads=False)
    except NOT_READABLE as exc:
        raise StoreError(
            f"{path} cannot be read ({str(exc)[:100]}); run `mannerly check --repair` first"
        ) from exc
