"""The tables: their columns, and how records become Arrow data and back.

`TABLES` is the one place where a table is entered; the journal, rolling, recovery and reading go
by it. The columns are the fields of the table's record, in order. A table of which a checkpoint has
no row takes no byte and no time.

A record whose first field is `token` was made under a lease. The token is only in the journal,
because it is only known later which leases were refused, and which batches were never committed:

- in most tables a row tells what was settled, so the rows of refused leases and of batches that
  nobody committed are void;
- in a *lasting* table a row tells what happened, whoever settled what. It stands from the moment
  its batch is durable; readers find in `settled` whether the frontier accepted what came of it.

A record without a token is always lasting.

Strings come from the web. What cannot be encoded as UTF-8 (a lone surrogate) is replaced by U+FFFD
here and nowhere else; everything else is kept as it is, NUL included.
"""

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from mannerly.errors import SchemaError
from mannerly.evidence import RequestRecord, RunRecord
from mannerly.records import ExtractRecord, FetchRecord, LinkRecord, PageRecord
from mannerly.store.contract import Record
from mannerly.store.warc.archivist import WarcRow

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
    "last_modified": pa.string(),
    "etag": pa.string(),
    "cache_control": pa.string(),
    "server": pa.string(),
    "content_language": pa.string(),
    "dns_s": pa.float64(),
    "connect_s": pa.float64(),
    "first_byte_s": pa.float64(),
    "tls_version": pa.string(),
    "tls_cipher": pa.string(),
    "tls_problem": pa.string(),
    "target": pa.string(),
    "target_hash": pa.int64(),
    "target_site": pa.string(),
    "anchor": pa.string(),
    "rel": pa.string(),
    "position": pa.int32(),
    "digest": pa.string(),
    "first_bytes": pa.int64(),
    "members": pa.binary(),
    "writer": pa.int64(),
    "visit": pa.int64(),
    "origin": pa.string(),
    "kind": pa.string(),
    "sent_at": TIMESTAMP,
    "ended_at": TIMESTAMP,
    "failure": pa.string(),
    "rest_s": pa.float64(),
    "delay_s": pa.float64(),
    "why": pa.string(),
    "robots_state": pa.string(),
    "robots_hash": pa.int64(),
    "robots_fetched_at": TIMESTAMP,
    "robots_line": pa.int32(),
    "body": pa.binary(),
    "begun_at": TIMESTAMP,
    "clock": pa.string(),
    "clock_offset_s": pa.float64(),
    "version": pa.string(),
    "agent": pa.string(),
    "robots_ttl_s": pa.float64(),
    "visit_timeout_s": pa.float64(),
    "guarded": pa.bool_(),
    "data": pa.string(),
    "simhash": pa.int64(),
    "duplicate": pa.string(),
    "duplicate_of": pa.int64(),
    "description": pa.string(),
    "canonical": pa.string(),
    "open_graph": pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False)),
    # A list of structs is what DuckDB's unnest and list functions take as it is.
    "headings": pa.list_(
        pa.field(
            "item",
            pa.struct(
                [
                    pa.field("level", pa.int32(), nullable=False),
                    pa.field("text", pa.string(), nullable=False),
                ]
            ),
            nullable=False,
        )
    ),
    "main_text": pa.string(),
}
_SETTLED = pa.field("settled", pa.bool_(), nullable=False)

# A string array counts its bytes in 31 bits, and rolling holds one record batch at a time in
# memory: both want batches that are bounded by bytes, not only by rows.
ROWS_PER_BATCH = 1_000
BYTES_PER_BATCH = 4 << 20


class Table(NamedTuple):
    """What is known of a table."""

    name: str
    record: type[Record]
    journal: pa.Schema
    """As the journal has it, with the token."""
    public: pa.Schema
    """As readers see it."""
    leased: bool
    """Its records have a token."""
    lasting: bool
    """No row of it is ever void."""
    bulk: int | None
    """The field that may be large; None if none may."""
    dictionary: list[str]
    """Columns whose values repeat so much that Parquet should keep each once."""
    statistics: list[str]
    """Columns with minimum and maximum per row group. Not the texts: theirs are whole texts."""
    suffix: str = "parquet"
    """What it is rolled into: Parquet, which readers see as a view, or `warc.gz`."""
    lists: tuple[str, ...] = ()
    """Columns that have a list in the journal's rows: to readers each element is a row."""


def _table(
    name: str,
    record: type[Record],
    *,
    lasting: bool = False,
    bulk: str = "",
    texts: Collection[str] = (),
    dictionary: list[str],
    lists: tuple[str, ...] = (),
    suffix: str = "parquet",
) -> Table:
    fields: tuple[str, ...] = record._fields  # type: ignore[attr-defined]  # a NamedTuple has it
    columns = [pa.field(field, _TYPES[field], nullable=False) for field in fields]
    journal = pa.schema(
        [
            column.with_type(pa.list_(column.with_name("item"))) if column.name in lists else column
            for column in columns
        ]
    )
    leased = fields[0] == "token"
    public = pa.schema(columns[1:] if leased else columns)
    if leased and lasting:
        public = public.append(_SETTLED)
    return Table(
        name,
        record,
        journal,
        public,
        leased,
        lasting or not leased,
        fields.index(bulk) if bulk else None,
        dictionary,
        [field for field in public.names if field not in texts],
        suffix,
        lists,
    )


FETCHES = _table(
    "fetches",
    FetchRecord,
    texts={"redirect_to", "detail"},
    dictionary=["site", "outcome", "status", "content_type", "depth", "tries", "address", "detail"],
)
PAGES = _table(
    "pages",
    PageRecord,
    bulk="text",
    texts={"title", "text", "description", "open_graph", "headings", "main_text"},
    dictionary=[
        "site", "status", "content_type", "charset", "language", "truncated", "depth",
        "cache_control", "server", "content_language", "address", "tls_version", "tls_cipher",
        "tls_problem", "robots_hash", "robots_line", "duplicate",
    ],
)  # fmt: skip

LINKS = _table(
    "links",
    LinkRecord,
    bulk="target",
    texts={"target", "anchor"},
    dictionary=["url", "url_hash", "site", "target_site", "rel", "kind"],
    lists=("target", "target_hash", "target_site", "anchor", "rel", "kind", "position"),
)
WARC = _table("warc", WarcRow, bulk="members", dictionary=[], suffix="warc.gz")
REQUESTS = _table(
    "requests",
    RequestRecord,
    lasting=True,
    bulk="body",
    texts={"body"},
    dictionary=[
        "writer", "site", "origin", "kind", "status", "failure", "address", "rest_s", "delay_s",
        "why", "robots_state", "robots_hash", "robots_fetched_at", "robots_line",
    ],
)  # fmt: skip
RUNS = _table("runs", RunRecord, lasting=True, dictionary=["clock", "version", "agent"])

EXTRACTS = _table("extracts", ExtractRecord, bulk="data", texts={"data"}, dictionary=["site"])

TABLES = (PAGES, EXTRACTS, LINKS, WARC, REQUESTS, RUNS, FETCHES)
"""In the order in which a rolled segment's files get their names."""
MARK = FETCHES
"""The last of them: its file says that a segment is rolled (`mannerly.store.rolling`)."""
VIEWS = tuple(table for table in TABLES if table.suffix == "parquet")
"""Those that readers see as tables."""

_BY_NAME = {table.name: table for table in TABLES}


def named(name: str) -> Table:
    """`SchemaError` if there is no such table."""
    if name not in _BY_NAME:
        raise SchemaError(f"the journal has a table {name!r}, which this Mannerly does not know")
    return _BY_NAME[name]


_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGE = frozenset({"text", "main_text"})
"""Columns of texts that are large. Below 2^31 bytes in a batch: `BYTES_PER_BATCH`."""


_END = pa.py_buffer(b"\xff\xff\xff\xff\x00\x00\x00\x00")
"""Of an Arrow IPC stream."""


def encode(table: Table, records: Sequence[Record]) -> list[pa.Buffer]:
    """The records as an Arrow IPC stream, in pieces. Not compressed: to be written and read once,
    packing costs more than the bytes that it saves (docs/decisions/0005)."""
    parts = _parts(records, table.bulk)
    batches = [_batch(table.journal, part).serialize() for part in parts]
    return [table.journal.serialize(), *batches, _END]


def decode(stream: pa.Buffer | BinaryIO) -> Iterator[pa.RecordBatch]:
    """The record batches of a stream, one at a time in memory."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    with pa.ipc.open_stream(stream, options=options) as reader:
        yield from reader


def public(
    table: Table, batch: pa.RecordBatch, refused: Collection[int] | None
) -> pa.RecordBatch | None:
    """The rows that count, as readers see them; None if none does.

    `refused`: the tokens of refused leases; None if the batch was never committed.
    """
    if not table.leased:
        return batch
    rows = batch.remove_column(0)
    if table.lasting:
        return rows.append_column(_SETTLED, _settled(batch, refused))
    if refused is None:
        return None
    rows = rows.filter(_settled(batch, refused)) if refused else rows
    return _unfolded(table, rows) if table.lists else rows


def _settled(batch: pa.RecordBatch, refused: Collection[int] | None) -> pa.Array:
    if not refused:
        return pa.repeat(pa.scalar(refused is not None), batch.num_rows)
    import pyarrow.compute as pc  # noqa: PLC0415 - takes a tenth of a start, and few crawls need it

    tokens = pa.array(sorted(refused), pa.int64())
    return pc.invert(pc.is_in(batch.column(0), value_set=tokens))


def _unfolded(table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A row for each element of the lists, which are of one length in a row."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    row_of = pc.list_parent_indices(batch.column(table.lists[0]))
    columns = [
        batch.column(name).flatten() if name in table.lists else batch.column(name).take(row_of)
        for name in table.public.names
    ]
    return pa.record_batch(columns, schema=table.public)


def _parts(records: Sequence[Record], bulk: int | None) -> Iterator[Sequence[Record]]:
    """Cut into runs of at most `ROWS_PER_BATCH` rows and about `BYTES_PER_BATCH`."""
    start = held = 0
    for index, record in enumerate(records):
        held += _size(record[bulk]) if bulk is not None else 0
        if held >= BYTES_PER_BATCH or index - start + 1 >= ROWS_PER_BATCH:
            yield records[start : index + 1]
            start, held = index + 1, 0
    if start < len(records):
        yield records[start:]


def _size(value: str | bytes | list[str]) -> int:
    """Bytes of UTF-8, or a bound on them: to encode a text only to count it costs too much."""
    if isinstance(value, list):
        return sum(map(len, value))
    return len(value) if isinstance(value, bytes) or value.isascii() else 3 * len(value)


def _batch(schema: pa.Schema, records: Sequence[Record]) -> pa.RecordBatch:
    columns = zip(*records, strict=True)
    arrays = [
        _texts(values) if field.name in _LARGE else _array(field.type, values)
        for field, values in zip(schema, columns, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)


def _texts(values: Sequence[str]) -> pa.Array:
    """As `_array` does, for large texts: in half the time, and nothing of it stays in them. Arrow
    has each text keep its UTF-8 for as long as it lives, and grows its buffer step by step."""
    try:
        encoded = [value.encode() for value in values]
    except UnicodeEncodeError:
        encoded = [_SURROGATE.sub("\ufffd", value).encode() for value in values]
    ends = array("i", accumulate(map(len, encoded), initial=0))
    texts = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), texts)


_CODES = {pa.int32().id: "i", pa.int64().id: "q", pa.float64().id: "d"}
"""Numbers, as `array` calls them."""


def _array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    """Numbers by hand: it takes Arrow longer to find out what they are, above all if they are few.
    Short texts and lists by Arrow, which is faster with them than Python is."""
    if kind == TIMESTAMP:
        seconds = np.array(values, np.float64)
        if not np.isfinite(seconds).all():
            raise ValueError("an instant is wanted")
        micros = np.rint(seconds * 1e6).astype(np.int64)
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(micros)])
    if kind.id in _CODES:
        numbers = pa.py_buffer(array(_CODES[kind.id], values))
        return pa.Array.from_buffers(kind, len(values), [None, numbers])
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([_encodable(value) for value in values], kind)


def _encodable(value: object) -> object:
    if isinstance(value, list | tuple):
        return type(value)(map(_encodable, value))
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value
