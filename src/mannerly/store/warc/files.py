"""A WARC file and its CDXJ index, from journalled members.

The index has a line for each response and revisit, sorted by key and time as bytes, which is how
replay software looks lines up:

    org,example)/a 20261116060546 {"url": ..., "mime": ..., "status": ..., "digest": ...,
                                   "length": ..., "offset": ..., "filename": ...}

Only the index lines of one file are in memory: some hundred bytes an exchange.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from mannerly.store.warc.archivist import WarcRow
from mannerly.store.warc.surt import surt

INDEXED = frozenset(("response", "revisit"))


class WarcFile:
    """A WARC file in the making. `name` is what it will be called."""

    def __init__(self, sink: BinaryIO, name: str) -> None:
        self._sink = sink
        self._name = name
        self._lines: list[bytes] = []
        self._offset = 0

    def add(self, row: WarcRow) -> None:
        """Append a row's members. Of the warcinfo records only the first of all rows counts."""
        if row.kind not in INDEXED and self._offset:
            return
        if row.kind in INDEXED:
            self._lines.append(self._line(row))
        self._sink.write(row.members)
        self._offset += len(row.members)

    def index(self) -> bytes:
        return b"".join(sorted(self._lines))

    def _line(self, row: WarcRow) -> bytes:
        at = datetime.fromtimestamp(row.fetched_at, UTC)
        fields = {
            "url": row.url,
            "mime": "warc/revisit" if row.kind == "revisit" else row.content_type or "unk",
            "status": str(row.status),
            "digest": row.digest,
            "length": str(row.first_bytes),
            "offset": str(self._offset),
            "filename": self._name,
        }
        return f"{surt(row.url)} {at:%Y%m%d%H%M%S} {json.dumps(fields)}\n".encode()


def index_path(path: Path) -> Path:
    """The index of a WARC file: `x.warc.gz` has `x.cdxj`."""
    return path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
