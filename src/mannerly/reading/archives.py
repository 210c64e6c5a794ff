"""WARC out of what the crawl kept as WARC (DIR/warc): the records of the chosen pages, unchanged.

Only a crawl with `--keep warc` has what a server sent. From the stored text no honest `response`
could be made, so without those files there is nothing to export (see `warc` for texts as WARC).

Where a chosen record is a `revisit`, what it refers to comes along: without it nobody could replay
the page. Rows that are still in a journal are not in these files yet.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from mannerly.errors import UsageError
from mannerly.reading.warc import RecordSink
from mannerly.store.layout import Layout
from mannerly.store.warc.reading import EXCHANGES, records_of
from mannerly.url import url_hash


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
    files = [path for root in roots for path in Layout(root).archives()]
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
            is_chosen = chosen is None or url_hash(record.target) in chosen
            is_original = record.fields.get("warc-record-id") in originals
            if is_chosen or is_original or record.kind == "warcinfo":
                sink.write(record.whole, record.packed)
                count += 1
                if record.kind in EXCHANGES:
                    responses += 1
                    found += is_chosen
    return Copied(count, responses, found)


def _referred_to(files: Sequence[Path], chosen: Hashes) -> set[str]:
    """Ids of the records that chosen revisits refer to."""
    return {
        record.fields.get("warc-refers-to", "")
        for file in files
        for record in records_of(file)
        if record.kind == "revisit" and url_hash(record.target) in chosen
    }
