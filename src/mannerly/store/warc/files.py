"""A WARC file and its CDXJ index, from journalled members.

The index has a line for each response and revisit, sorted by key and time as bytes, which is how
replay software looks lines up:

    org,example)/a 20261116060546 {"url": ..., "mime": ..., "status": ..., "digest": ...,
                                   "length": ..., "offset": ..., "filename": ...}

One record batch and the index lines of one file are in memory: some hundred bytes an exchange.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Self

import pyarrow as pa

from mannerly.store.layout import temporary
from mannerly.store.tables import Table
from mannerly.store.warc.surt import surt

_NAMES = ("url", "mime", "status", "digest", "length", "offset", "filename")


class WarcFile:
    """A WARC file and its index in the making, under temporary names. No exchange, no file."""

    def __init__(self, table: Table, path: Path) -> None:
        self.table = table
        self.rows = 0
        self.paths = [index_path(path), path]
        """In the order in which they get their names: a file that is there has its index."""
        self._name = path.name
        self._sink: BinaryIO | None = None
        self._opening: bytes | None = None
        """The warcinfo record that the file begins with; each batch brings one."""
        self._lines: list[bytes] = []
        self._offset = 0

    @property
    def begun(self) -> bool:
        return self._sink is not None

    def begin(self) -> None:
        if self._sink is None:
            self._sink = temporary(self.paths[1]).open("wb")

    def add(self, batch: pa.RecordBatch) -> None:
        columns = [
            column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
            for column in batch.columns
        ]
        for kind, url, at, status, mime, digest, size, members in zip(
            *(column.to_pylist() for column in columns), strict=True
        ):
            if kind == "warcinfo":
                self._opening = self._opening if self._opening is not None else members
                continue
            self._write_opening()
            second = time.strftime("%Y%m%d%H%M%S", time.gmtime(at // 1_000_000))
            sort = "warc/revisit" if kind == "revisit" else mime or "unk"
            told = [url, sort, str(status), digest, str(size), str(self._offset), self._name]
            self._lines.append(index_line(second, told))
            self._write(members)
            self.rows += 1

    def _write_opening(self) -> None:
        if self._offset == 0 and self._opening is not None:
            self._write(self._opening)

    def _write(self, data: bytes) -> None:
        self.begin()
        assert self._sink is not None
        self._sink.write(data)
        self._offset += len(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._sink is None:
            return
        try:
            if kind is None:
                temporary(self.paths[0]).write_bytes(b"".join(sorted(self._lines)))
                self._sink.flush()
        finally:
            # Closing writes what is buffered, or tries to: after a failure it may fail again.
            self._sink.close()


def index_line(second: str, told: Sequence[str]) -> bytes:
    """A line of the index. `told`: what `_NAMES` names, in that order."""
    facts = json.dumps(dict(zip(_NAMES, told, strict=True)))
    return f"{surt(told[0])} {second} {facts}\n".encode()


def index_path(path: Path) -> Path:
    """The index of a WARC file: `x.warc.gz` has `x.cdxj`."""
    return path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
