"""The two tables: their columns, and how records become Arrow data and back.

The columns are those of `FetchRecord` and `PageRecord`, in order. In the journal each row also has
the token of its lease, because it is only known later which leases were refused; `public` takes
the refused rows and the token out.

Strings come from the web. What cannot be encoded as UTF-8 (a lone surrogate) is replaced by U+FFFD
here and nowhere else; everything else is kept as it is, NUL included.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from mannerly.model import FetchRecord, PageRecord

TIMESTAMP = pa.timestamp("us", tz="UTC")

_TYPES: dict[str, pa.DataType] = {
    "token": pa.int64(),
    "url": pa.string(),
    "url_hash": pa.int64(),
    "site": pa.string(),
    "outcome": pa.string(),
    "status": pa.int32(),
    "fetched_at": TIMESTAMP,
    "duration_s": pa.float64(),
    "wire_bytes": pa.int64(),
    "content_type": pa.string(),
    "redirect_to": pa.string(),
    "depth": pa.int32(),
    "tries": pa.int32(),
    "referrer_hash": pa.int64(),
    "address": pa.string(),
    "detail": pa.string(),
    "charset": pa.string(),
    "title": pa.string(),
    "text": pa.string(),
    "language": pa.string(),
    "links": pa.int32(),
    "body_bytes": pa.int64(),
    "truncated": pa.bool_(),
    "content_hash": pa.int64(),
    "simhash": pa.int64(),
    "duplicate": pa.string(),
    "duplicate_of": pa.int64(),
}

# A string array counts its bytes in 31 bits, and rolling holds one record batch at a time in
# memory: both want batches that are bounded by text, not only by rows.
ROWS_PER_BATCH = 1_000
CHARS_PER_BATCH = 8 << 20


class Table(NamedTuple):
    """What is known of a table."""

    name: str
    journal: pa.Schema
    """With the token."""
    public: pa.Schema
    """As readers see it."""
    dictionary: list[str]
    """Columns whose values repeat so much that Parquet should keep each once."""
    statistics: list[str]
    """Columns with minimum and maximum per row group. Not the texts: theirs are whole texts."""


def _table(name: str, fields: Sequence[str], texts: set[str], dictionary: list[str]) -> Table:
    journal = pa.schema([pa.field(field, _TYPES[field], nullable=False) for field in fields])
    public = journal.remove(0)
    return Table(
        name, journal, public, dictionary, [field for field in public.names if field not in texts]
    )


FETCHES = _table(
    "fetches",
    FetchRecord._fields,
    {"redirect_to", "detail"},
    ["site", "outcome", "status", "content_type", "depth", "tries", "address", "detail"],
)
PAGES = _table(
    "pages",
    PageRecord._fields,
    {"title", "text"},
    ["site", "status", "content_type", "charset", "language", "truncated", "depth", "duplicate"],
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(table: Table, records: Sequence[FetchRecord] | Sequence[PageRecord]) -> pa.Buffer:
    """The records as a compressed Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    # Measured per page of 10 kB: level 1 0.049 ms and 3.4 kB, level 3 0.055 ms and 2.4 kB, lz4
    # 0.036 ms and 5.7 kB. The bytes are written and synced before a checkpoint goes on.
    options = pa.ipc.IpcWriteOptions(
        compression=pa.Codec("zstd", compression_level=3), use_threads=False
    )
    with pa.ipc.new_stream(sink, table.journal, options=options) as stream:
        for part in _parts(records):
            stream.write_batch(_batch(table.journal, part))
    return sink.getvalue()


def decode(stream: pa.Buffer) -> Iterator[pa.RecordBatch]:
    """The record batches of a stream, one at a time in memory."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    with pa.ipc.open_stream(stream, options=options) as reader:
        yield from reader


def public(batch: pa.RecordBatch, refused: Collection[int]) -> pa.RecordBatch:
    """The rows that count, as readers see them."""
    if refused:
        void = pc.is_in(batch.column(0), value_set=pa.array(sorted(refused), pa.int64()))
        batch = batch.filter(pc.invert(void))
    return batch.remove_column(0)


def _parts(
    records: Sequence[FetchRecord] | Sequence[PageRecord],
) -> Iterator[Sequence[FetchRecord | PageRecord]]:
    """Cut into runs of at most `ROWS_PER_BATCH` rows and about `CHARS_PER_BATCH` of text."""
    start = chars = 0
    for index, record in enumerate(records):
        chars += len(record.text) if isinstance(record, PageRecord) else 0
        if chars >= CHARS_PER_BATCH or index - start + 1 >= ROWS_PER_BATCH:
            yield records[start : index + 1]
            start, chars = index + 1, 0
    if start < len(records):
        yield records[start:]


def _batch(schema: pa.Schema, records: Sequence[FetchRecord | PageRecord]) -> pa.RecordBatch:
    columns = zip(*records, strict=True)
    arrays = [_array(field.type, values) for field, values in zip(schema, columns, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _array(kind: pa.DataType, values: Sequence[object]) -> pa.Array:
    if kind == TIMESTAMP:
        micros = pc.round(pc.multiply(pa.array(values, pa.float64()), 1e6))
        return micros.cast(pa.int64()).cast(TIMESTAMP)
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([_SURROGATE.sub("\ufffd", str(value)) for value in values], kind)
