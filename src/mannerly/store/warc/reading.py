"""Reading WARC files back, a record at a time, damaged ones included.

A record counts as whole if its gzip member unpacks with the right checksum and its block is as long
as it says. Behind a damaged one the next is looked for by what gzip members begin with, so that one
bad sector costs the records in it and no others.
"""

import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mannerly.errors import StoreError
from mannerly.store.warc.records import END, digest_of

EXCHANGES = frozenset(("response", "revisit"))
"""Types of which the index has a line."""
_CHUNK = 1 << 18
_FIELD = re.compile(rb"^([A-Za-z-]+):[ \t]*([^\r\n]*)\r$", re.MULTILINE)
_MEMBER = b"\x1f\x8b\x08"


class Kept(NamedTuple):
    """A record as it lies in a file."""

    offset: int
    fields: dict[str, str]
    """Its header, names in lower case."""
    whole: bytes
    packed: bytes
    """The same as a gzip member."""

    @property
    def kind(self) -> str:
        return self.fields.get("warc-type", "")

    @property
    def target(self) -> str:
        return self.fields.get("warc-target-uri", "")

    @property
    def block(self) -> bytes:
        return self.whole[self.whole.index(END) + len(END) : -len(END)]

    @property
    def payload(self) -> bytes:
        """What stands behind the HTTP head."""
        return self.block.partition(END)[2]


def records_of(path: Path) -> Iterator[Kept]:
    """The records of a file, one at a time in memory; `StoreError` where one is damaged."""
    damage: list[str] = []
    for record in readable_records(path, damage):
        if damage:
            break
        yield record
    if damage:
        raise StoreError(f"{path} is damaged ({damage[0]}): see mannerly check")


def readable_records(path: Path, damage: list[str]) -> Iterator[Kept]:
    """What can be read of a file, damaged or not. What cannot is told in `damage`."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            damage.append("the file is empty")
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = 0
            while at < len(content):
                try:
                    record = _record(content, at)
                except (zlib.error, ValueError) as exc:
                    damage.append(f"at byte {at}: {exc}")
                    found = content.find(_MEMBER, at + 1)
                    at = found if found >= 0 else len(content)
                else:
                    yield record
                    at += len(record.packed)


def record_at(path: Path, offset: int) -> Kept:
    """The record that begins at `offset`; `StoreError` if none does."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        try:
            return _record(content, offset)
        except (zlib.error, ValueError) as exc:
            raise StoreError(f"{path} is damaged ({exc}): see mannerly check") from exc


def digest_problem(record: Kept) -> str:
    """What is wrong with a record's digests; '' if nothing is."""
    told = record.fields.get("warc-block-digest", "")
    if told and told != digest_of(record.block):
        return f"the block of {record.target or record.kind} is not what was written"
    told = record.fields.get("warc-payload-digest", "")
    if record.kind == "response" and told and told != digest_of(record.payload):
        return f"the payload of {record.target} is not what was written"
    return ""


def _record(content: mmap.mmap, at: int) -> Kept:
    """The record whose member begins at `at`; `ValueError` or `zlib.error` if there is none."""
    unpacker = zlib.decompressobj(wbits=31)
    parts = []
    end = at
    while not unpacker.eof:
        chunk = content[end : end + _CHUNK]
        if not chunk:
            raise ValueError("it ends in the middle of a record")
        parts.append(unpacker.decompress(chunk))
        end += len(chunk)
    end -= len(unpacker.unused_data)
    return as_kept(b"".join(parts), content[at:end], at)


def as_kept(whole: bytes, packed: bytes, at: int = 0) -> Kept:
    """A record from its bytes; `ValueError` if they are none."""
    head, _, rest = whole.partition(END)
    if not head.startswith(b"WARC/1."):
        raise ValueError("what is there is not a WARC record")
    fields = {
        name.decode("ascii").lower(): value.decode("utf-8", "replace").strip()
        for name, value in _FIELD.findall(head + b"\r\n")
    }
    if str(len(rest) - len(END)) != fields.get("content-length"):
        raise ValueError("a record is not as long as it says")
    return Kept(at, fields, whole, packed)
