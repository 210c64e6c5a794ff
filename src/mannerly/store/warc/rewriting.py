"""A WARC file anew from records, with the index that goes with it.

The index is made from the records alone, so it says how a file's index must look, whoever wrote it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from mannerly.store.disk import DISK, Disk
from mannerly.store.layout import temporary
from mannerly.store.warc.files import index_line, index_path
from mannerly.store.warc.reading import EXCHANGES, Kept

_STATUS = re.compile(rb"HTTP/[0-9.]+ ([0-9]{3})")
_MIME = re.compile(rb"^content-type:([^;\r\n]*)", re.IGNORECASE | re.MULTILINE)


def rewrite(path: Path, records: Iterable[Kept], *, disk: Disk = DISK) -> int:
    """Put `records` in the place of a file's, durably; how many exchanges. A file without an
    exchange goes.

    The index first, in both cases: killed in between, the file itself is as it was, and whoever
    does the same again finds all that is to be done.
    """
    lines: list[bytes] = []
    index = index_path(path)
    try:
        with temporary(path).open("wb") as sink:
            for record in records:
                if record.kind in EXCHANGES:
                    lines.append(line_of(record, sink.tell(), path.name))
                sink.write(record.packed)
        temporary(index).write_bytes(b"".join(sorted(lines)))
    except OSError:
        disk.remove(temporary(path))
        disk.remove(temporary(index))
        raise
    for name in (index, path):
        if lines:
            disk.sync_file(temporary(name))
            disk.rename(temporary(name), name)
        else:
            disk.remove(temporary(name))
            disk.remove(name)
        disk.sync_dir(path.parent)
    return len(lines)


def line_of(record: Kept, offset: int, name: str) -> bytes:
    """The line of one exchange that lies at `offset`."""
    head = record.block.partition(b"\r\n\r\n")[0]
    status = _STATUS.match(head)
    mime = "warc/revisit"
    if record.kind == "response":
        found = _MIME.search(head)
        mime = found[1].strip().lower().decode("latin-1") if found else ""
    second = re.sub(r"[^0-9]", "", record.fields.get("warc-date", ""))[:14]
    told = [
        record.target,
        mime or "unk",
        str(int(status[1])) if status else "0",
        record.fields.get("warc-payload-digest", ""),
        str(len(record.packed)),
        str(offset),
        name,
    ]
    return index_line(second, told)
