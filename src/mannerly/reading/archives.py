"""WARC out of what the crawl kept as WARC (DIR/warc): the records of the chosen pages, unchanged.

Only a crawl with `--keep warc` has what a server sent. From the stored text no honest `response`
could be made, so without those files there is nothing to export (see `warc` for texts as WARC).

Where a chosen record is a `revisit`, what it refers to comes along: without it nobody could replay
the page. Rows that are still in a journal are not in these files yet.
"""

import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mannerly.errors import StoreError, UsageError
from mannerly.reading.warc import RecordSink
from mannerly.url import url_hash

_CHUNK = 1 << 18
_FIELD = re.compile(rb"^(WARC-[A-Za-z-]+):[ \t]*([^\r\n]*)\r$", re.MULTILINE)


class Kept(NamedTuple):
    """A record as it lies in a file."""

    fields: dict[str, str]
    """Its WARC- fields, names in lower case."""
    whole: bytes
    packed: bytes
    """The same as a gzip member."""

    @property
    def target(self) -> str:
        return self.fields.get("warc-target-uri", "")


class Copied(NamedTuple):
    records: int
    responses: int
    """Responses and revisits among them."""
    found: int
    """Those of chosen URLs; all, where none were chosen."""


class Hashes:
    """A set of URLs by their hashes, eight bytes each."""

    def __init__(self, hashes: Iterable[int]) -> None:
        self._sorted = array("q", sorted(array("q", hashes)))

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._sorted, number)
        return place < len(self._sorted) and self._sorted[place] == number


def kept_files(roots: Sequence[Path]) -> list[Path]:
    """The WARC files of these data directories; `UsageError` if there are none."""
    files = [path for root in roots for path in sorted((root / "warc").glob("[!.]*.warc.gz"))]
    if not files:
        raise UsageError(
            "this crawl kept no WARC: crawl with --keep warc to have what servers sent; the texts "
            "as WARC records come with --format wet"
        )
    return files


def copy(files: Sequence[Path], chosen: Hashes | None, sink: RecordSink) -> Copied:
    """Every record, or those that are about a chosen URL."""
    originals = set() if chosen is None else _referred_to(files, chosen)
    count = responses = found = 0
    for file in files:
        for record in records_of(file):
            kind = record.fields.get("warc-type", "")
            is_chosen = chosen is None or url_hash(record.target) in chosen
            is_original = record.fields.get("warc-record-id") in originals
            if is_chosen or is_original or kind == "warcinfo":
                sink.write(record.whole, record.packed)
                count += 1
                if kind in ("response", "revisit"):
                    responses += 1
                    found += is_chosen
    return Copied(count, responses, found)


def _referred_to(files: Sequence[Path], chosen: Hashes) -> set[str]:
    """Ids of the records that chosen revisits refer to."""
    return {
        record.fields.get("warc-refers-to", "")
        for file in files
        for record in records_of(file)
        if record.fields.get("warc-type") == "revisit" and url_hash(record.target) in chosen
    }


def records_of(path: Path) -> Iterator[Kept]:
    """The records of a file that has a gzip member for each, one at a time in memory."""
    with path.open("rb") as file:
        rest = file.read(_CHUNK)
        while rest:
            unpacker = zlib.decompressobj(wbits=31)
            packed, whole = [], []
            while not unpacker.eof:
                try:
                    whole.append(unpacker.decompress(rest))
                except zlib.error as exc:
                    raise StoreError(f"{path} is damaged ({exc}): see mannerly check") from exc
                packed.append(rest[: len(rest) - len(unpacker.unused_data)])
                rest = unpacker.unused_data or file.read(_CHUNK)
                if not (rest or unpacker.eof):
                    raise StoreError(f"{path} ends in the middle of a record: see mannerly check")
            yield _kept(b"".join(whole), b"".join(packed))


def _kept(whole: bytes, packed: bytes) -> Kept:
    head = whole[: whole.find(b"\r\n\r\n") + 2]
    fields = {
        name.decode("ascii").lower(): value.decode("utf-8", "replace").strip()
        for name, value in _FIELD.findall(head)
    }
    return Kept(fields, whole, packed)
