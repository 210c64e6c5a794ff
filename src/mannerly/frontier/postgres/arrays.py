"""Arrays as parameters, in PostgreSQL's binary form.

A batch is sent as one array per column and taken apart by `unnest`. psycopg makes an array of a
list element by element, in Python: 1.3 us a row of a number and a text, or 6 us in its text form.
Put together at once as below it is 0.4 us (docs/decisions/0009-postgresql.md).
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper

_INT8, _TEXT, _BYTEA, _BOOL = 20, 25, 17, 16
_INT8_ARRAY, _TEXT_ARRAY, _BYTEA_ARRAY, _BOOL_ARRAY = 1016, 1009, 1001, 1000

_HEADER = struct.Struct(">iiIii")
"""Dimensions (1), nulls (none), type of the elements, how many, number of the first (1)."""
_LENGTH = struct.Struct(">i")
_LENGTHS = [_LENGTH.pack(length) for length in range(4096)]


class Ints(NamedTuple):
    """`bigint[]`. Smaller columns take it, too: an assignment casts."""

    values: Sequence[int]


class Texts(NamedTuple):
    """`text[]`."""

    values: Sequence[str]


class Blobs(NamedTuple):
    """`bytea[]`."""

    values: Sequence[bytes]


class Bools(NamedTuple):
    """`boolean[]`."""

    values: Sequence[bool]


def _header(kind: int, count: int) -> bytes:
    return _HEADER.pack(1, 0, kind, count, 1) if count else struct.pack(">iiI", 0, 0, kind)


def _joined(kind: int, elements: Sequence[bytes]) -> bytes:
    lengths: Iterable[bytes] = [
        _LENGTHS[len(it)] if len(it) < len(_LENGTHS) else _LENGTH.pack(len(it)) for it in elements
    ]
    pairs = chain.from_iterable(zip(lengths, elements, strict=True))
    return b"".join([_header(kind, len(elements)), *pairs])


class _IntsDumper(Dumper):
    format = Format.BINARY
    oid = _INT8_ARRAY

    def dump(self, obj: Ints) -> bytes:
        count = len(obj.values)
        flat = [8] * (2 * count)
        flat[1::2] = obj.values
        return _header(_INT8, count) + struct.pack(">" + "iq" * count, *flat)


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = _TEXT_ARRAY

    def dump(self, obj: Texts) -> bytes:
        return _joined(_TEXT, [text.encode() for text in obj.values])


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = _BYTEA_ARRAY

    def dump(self, obj: Blobs) -> bytes:
        return _joined(_BYTEA, obj.values)


class _BoolsDumper(Dumper):
    format = Format.BINARY
    oid = _BOOL_ARRAY

    def dump(self, obj: Bools) -> bytes:
        return _joined(_BOOL, [b"\x01" if value else b"\x00" for value in obj.values])


def register(context: AdaptContext) -> None:
    """Teach a connection our arrays, and to send every number as a `bigint`: psycopg else takes
    the smallest type that holds it, and each mix of types is a statement to be prepared anew."""
    adapters = context.adapters
    assert adapters is not None
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(Ints, _IntsDumper)
    adapters.register_dumper(Texts, _TextsDumper)
    adapters.register_dumper(Blobs, _BlobsDumper)
    adapters.register_dumper(Bools, _BoolsDumper)


def columns(rows: Sequence[Sequence[int]], width: int) -> list[Ints]:
    """Rows of numbers as one array per column; empty ones where there is no row."""
    if not rows:
        return [Ints([])] * width
    return [Ints(column) for column in zip(*rows, strict=True)]
