"""Whether a WARC file is whole, and mending one that is not.

Every record is unpacked (gzip has a checksum), its digests are worked out again, and its index is
compared with the one that its records make.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mannerly.store.disk import DISK, Disk
from mannerly.store.warc.files import index_path
from mannerly.store.warc.reading import EXCHANGES, Kept, digest_problem, readable_records
from mannerly.store.warc.rewriting import line_of, rewrite


class InspectedArchive(NamedTuple):
    exchanges: int
    """Responses and revisits that are whole."""
    damage: str
    """What is wrong with the records, in words; '' if nothing is."""
    index_is_right: bool


def inspect_archive(path: Path) -> InspectedArchive:
    """Read all of a WARC file and of its index."""
    damage: list[str] = []
    lines = [
        line_of(record, record.offset, path.name)
        for record in _whole(path, damage)
        if record.kind in EXCHANGES
    ]
    try:
        index = index_path(path).read_bytes()
    except FileNotFoundError:
        index = b""
    return InspectedArchive(len(lines), "; ".join(damage[:3]), index == b"".join(sorted(lines)))


def salvage_archive(path: Path, *, disk: Disk = DISK) -> int:
    """Keep the whole records of a file, and make its index anew; how many exchanges."""
    return rewrite(path, _whole(path, []), disk=disk)


def _whole(path: Path, damage: list[str]) -> Iterator[Kept]:
    for record in readable_records(path, damage):
        if problem := digest_problem(record):
            damage.append(problem)
        else:
            yield record
