"""WARC/1.1 out: `conversion` records of the texts (WET), each compressed on its own.

A WET file is what Common Crawl calls by that name: a `warcinfo` record, then for every page a
record whose block is the page's title, if it has one, on a line of its own, and its text, exactly.
"""

import datetime as dt
import re
import uuid
from collections.abc import Iterable
from typing import BinaryIO

import zstandard

from mannerly import __version__
from mannerly.reading.documents import Document, one_line
from mannerly.store.warc.member import packed as as_member
from mannerly.store.warc.records import END, record_head

_ISO_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{1,8})*")


class RecordSink:
    """Records into a file, each compressed on its own (`.gz`, `.zst`), so that any can be read
    without those before it."""

    def __init__(self, target: BinaryIO, compression: str) -> None:
        self._target = target
        self._compression = compression
        self._zstd = zstandard.ZstdCompressor(level=3)

    def write(self, record: bytes, packed: bytes | None = None) -> None:
        """`packed`: the same as a gzip member, where there is one already."""
        if self._compression == ".gz":
            self._target.write(packed if packed is not None else as_member(record))
        elif self._compression == ".zst":
            self._target.write(self._zstd.compress(record))
        else:
            self._target.write(record)


def warcinfo(told: Iterable[tuple[str, str]]) -> bytes:
    """The record that opens a file."""
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    facts = [("software", f"mannerly/{__version__}"), ("format", "WARC File Format 1.1"),
             ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/"
              "warc-format/warc-1.1/"), *told]  # fmt: skip
    block = "".join(f"{name}: {one_line(value)}\r\n" for name, value in facts).encode()
    fields = [("WARC-Date", now), ("Content-Type", "application/warc-fields")]
    return _record("warcinfo", str(uuid.uuid4()), fields, block)


def conversion(page: Document) -> bytes:
    title = one_line(page.title)
    block = (f"{title}\n{page.text}" if title else page.text).encode()
    fields = [
        ("WARC-Target-URI", page.url),
        ("WARC-Date", page.fetched_at),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]
    # A page may call its language anything, line ends included.
    if _ISO_LANGUAGE.fullmatch(page.language):
        fields.append(("WARC-Identified-Content-Language", page.language))
    # The same page has the same id in every export.
    name = f"mannerly conversion {page.fetched_at} {page.url}"
    return _record("conversion", str(uuid.uuid5(uuid.NAMESPACE_URL, name)), fields, block)


def _record(kind: str, name: str, fields: list[tuple[str, str]], block: bytes) -> bytes:
    return record_head(kind, f"<urn:uuid:{name}>", fields, block) + block + END
