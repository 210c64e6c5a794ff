"""Frames: the unit in which a journal segment grows, and how a torn tail is told from a whole one.

    magic 4 | kind 1 | sequence 8 | length 8 | checksum 8 | payload        little endian

The checksum (xxh3, 64 bits) covers the fields before it and the payload. Reading stops at the first
frame that is not whole and right: appending never goes on after a frame that failed, so nothing
that counts can come behind it.

| kind | sequence | payload |
|---|---|---|
| HEADER | last sequence journalled before this segment | format version, writer |
| BATCH | the checkpoint's | how many tables; name, rows and bytes of each; their Arrow streams |
| SETTLED | the checkpoint's | the refused tokens |
"""

import os
import struct
from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import pyarrow as pa
import xxhash

from mannerly.errors import SchemaError, StoreError

VERSION = 2

_MAGIC = b"Mjrn"
_FRAME = struct.Struct("<4sBQQ")
_CHECKSUM = struct.Struct("<Q")
_HEADER = struct.Struct("<IQ")
_TABLES = struct.Struct("<H")
_TABLE = struct.Struct("<BIQ")
OVERHEAD = _FRAME.size + _CHECKSUM.size
_CHUNK = 1 << 18
_LONGEST_HEAD = 1 << 16
"""A batch says within so many bytes which tables it has: there are few, with short names."""
HEADER_BYTES = OVERHEAD + _HEADER.size


class Kind(IntEnum):
    HEADER = 1
    BATCH = 2
    SETTLED = 3


class Frame(NamedTuple):
    """A whole frame in a file: where its payload is."""

    kind: Kind
    sequence: int
    offset: int
    length: int
    checksum: int


class Part(NamedTuple):
    """The rows of one table in a BATCH, encoded. Tables without rows are not there."""

    table: str
    rows: int
    stream: Sequence[pa.Buffer]
    """In pieces: what is large is not copied only to lie side by side."""

    @property
    def size(self) -> int:
        return sum(map(len, self.stream))


class Stored(NamedTuple):
    """A `Part` in a file: where its stream begins."""

    table: str
    rows: int
    offset: int


def header(writer: int, after: int) -> bytes:
    return _frame(Kind.HEADER, after, _HEADER.pack(VERSION, writer))


def settled(sequence: int, refused: Collection[int]) -> bytes:
    return _frame(Kind.SETTLED, sequence, struct.pack(f"<{len(refused)}q", *sorted(refused)))


def batch(sequence: int, parts: Sequence[Part]) -> list[bytes | pa.Buffer]:
    """In pieces, of which the first tells of the frame (`describe`)."""
    names = [part.table.encode("ascii") for part in parts]
    contents = [
        _TABLE.pack(len(name), part.rows, part.size) + name
        for name, part in zip(names, parts, strict=True)
    ]
    head = b"".join([_TABLES.pack(len(parts)), *contents])
    return _pieces(Kind.BATCH, sequence, head, *(piece for part in parts for piece in part.stream))


def payload_at(frame: Frame, start: int) -> Frame:
    """`frame` as it lies in a file when its first byte is at `start`."""
    return frame._replace(offset=start + OVERHEAD)


def describe(data: bytes | pa.Buffer) -> Frame:
    """The frame that `data` begins with. Where its payload ends, nobody has looked."""
    _, kind, sequence, length = _FRAME.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _FRAME.size)
    return Frame(Kind(kind), sequence, OVERHEAD, length, checksum)


def scan(fd: int, *, past_damage: bool = False) -> Iterator[Frame]:
    """Every whole frame of an open file, in order, up to the torn tail or the end.

    With `past_damage` also those behind one that is not whole, wherever they begin: for a segment
    that the disk has damaged, where what follows was appended long before. Not those within it, if
    its length can be believed: what servers sent lies there as they sent it, and could be made to
    look like a frame.
    """
    position = 0
    while True:
        frame = _frame_at(fd, position)
        if frame is None and past_damage:
            behind = _behind_damaged(fd, position)
            position = behind if behind >= 0 else _next_magic(fd, position + 1)
            if position >= 0:
                continue
        if frame is None:
            return
        yield frame
        position = frame.offset + frame.length


def _frame_at(fd: int, position: int) -> Frame | None:
    """The frame that begins there; None if none does that is whole."""
    head = os.pread(fd, OVERHEAD, position)
    if len(head) < OVERHEAD:
        return None
    magic, kind, _, length = _FRAME.unpack_from(head)
    # The length is only believed as far as the file reaches: it may be a torn tail's garbage.
    past_end = position + OVERHEAD + length > os.fstat(fd).st_size
    if magic != _MAGIC or past_end or kind not in set(Kind):
        return None
    frame = payload_at(describe(head), position)
    return frame if _is_whole(fd, frame) else None


def _behind_damaged(fd: int, position: int) -> int:
    """Where a frame ends whose payload is damaged, if another one begins there; -1 else."""
    head = os.pread(fd, OVERHEAD, position)
    if len(head) < OVERHEAD or not head.startswith(_MAGIC):
        return -1
    behind: int = position + OVERHEAD + _FRAME.unpack_from(head)[3]
    return behind if os.pread(fd, len(_MAGIC), behind) == _MAGIC else -1


def _next_magic(fd: int, position: int) -> int:
    """Where the next frame may begin; -1 if nowhere."""
    overlap = len(_MAGIC) - 1
    while piece := os.pread(fd, _CHUNK, position):
        found = piece.find(_MAGIC)
        if found >= 0:
            return position + found
        if len(piece) <= overlap:
            break
        position += len(piece) - overlap
    return -1


def read_header(fd: int, frame: Frame) -> int:
    """The writer of a segment. `SchemaError` if a later version of Mannerly wrote it."""
    payload = _payload(fd, frame)
    (version,) = struct.unpack_from("<I", payload)
    if version != VERSION:
        raise SchemaError(
            f"the journal has format {version}, this Mannerly reads {VERSION}: use the newer one"
        )
    _, writer = _HEADER.unpack_from(payload)
    return int(writer)


def read_settled(fd: int, frame: Frame) -> frozenset[int]:
    return frozenset(struct.unpack(f"<{frame.length // 8}q", _payload(fd, frame)))


def read_batch(fd: int, frame: Frame) -> list[Stored]:
    """What a batch has, which is looked through without being held: a checkpoint may be large.
    `StoreError` if the disk no longer gives what was written."""
    if not _is_whole(fd, frame):
        raise _differs(frame)
    head = os.pread(fd, min(frame.length, _LONGEST_HEAD), frame.offset)
    (tables,) = _TABLES.unpack_from(head)
    at = _TABLES.size
    contents: list[tuple[str, int, int]] = []
    for _ in range(tables):
        name_size, rows, size = _TABLE.unpack_from(head, at)
        at += _TABLE.size
        contents.append((head[at : at + name_size].decode("ascii"), rows, size))
        at += name_size
    parts: list[Stored] = []
    for name, rows, size in contents:
        parts.append(Stored(name, rows, frame.offset + at))
        at += size
    return parts


def _frame(kind: Kind, sequence: int, payload: bytes) -> bytes:
    return b"".join(_pieces(kind, sequence, payload))


def _pieces(kind: Kind, sequence: int, *payload: bytes | pa.Buffer) -> list[bytes | pa.Buffer]:
    fields = _FRAME.pack(_MAGIC, kind, sequence, sum(map(len, payload)))
    checksum = xxhash.xxh3_64(fields)
    for piece in payload:
        checksum.update(piece)
    return [fields + _CHECKSUM.pack(checksum.intdigest()), *payload]


def _checksum_of(frame: Frame) -> "xxhash.xxh3_64":
    return xxhash.xxh3_64(_FRAME.pack(_MAGIC, frame.kind, frame.sequence, frame.length))


def _is_whole(fd: int, frame: Frame) -> bool:
    """Without ever holding more than a piece of it."""
    checksum = _checksum_of(frame)
    for start in range(0, frame.length, _CHUNK):
        checksum.update(os.pread(fd, min(_CHUNK, frame.length - start), frame.offset + start))
    return int(checksum.intdigest()) == frame.checksum


def _payload(fd: int, frame: Frame) -> bytes:
    parts, have = [], 0
    while have < frame.length:
        part = os.pread(fd, frame.length - have, frame.offset + have)
        if not part:
            break
        parts.append(part)
        have += len(part)
    payload = b"".join(parts)
    checksum = _checksum_of(frame)
    checksum.update(payload)
    if checksum.intdigest() != frame.checksum:
        raise _differs(frame)
    return payload


def _differs(frame: Frame) -> StoreError:
    return StoreError(
        f"a journalled batch (sequence {frame.sequence}) reads back differently than it was "
        "written: check the disk, then start the crawl again to recover what is readable"
    )
