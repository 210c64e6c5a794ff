"""The main text of pages, for export: the text without navigation.

It needs the HTML, which the store does not have. So it is taken from where it is:

1. the column `main_text`, if the crawl ran with `--keep main-text`;
2. made from the response, if the crawl ran with `--keep warc` and the page may be archived;
3. else the whole text stands in for it, and the export says of how many pages.

Finding responses takes 24 bytes of memory for each that is archived.
"""

import json
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from mannerly.errors import StoreError
from mannerly.fetch.decode import decode
from mannerly.parse import main_text_of
from mannerly.store.layout import Layout
from mannerly.store.warc.files import index_path
from mannerly.store.warc.reading import Kept, record_at
from mannerly.url import url_hash

KEPT, MADE, WHOLE = "kept", "made from WARC", "not known: the whole text"
_COLUMNS = ["hash", "second", "file", "offset"]


class PageText(NamedTuple):
    """What is needed of a page."""

    url: str
    text: str
    main_text: str
    body_bytes: int
    """Size of the decoded body: as much of the response was read."""


class MainTexts:
    """Over some data directories. `counts` tells where the texts came from."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.counts: Counter[str] = Counter()
        self._roots = roots
        self._places: _Places | None = None

    def of(self, page: PageText) -> str:
        text, origin = self._found(page)
        self.counts[origin] += 1
        return text

    @property
    def note(self) -> str:
        """For the user; '' where every main text was known."""
        told = [f"{n:,} {origin}" for origin, n in sorted(self.counts.items())]
        return f"main text: {', '.join(told)}" if self.counts[WHOLE] else ""

    def _found(self, page: PageText) -> tuple[str, str]:
        if page.main_text or not page.text:
            return page.main_text, KEPT
        if self._places is None:
            self._places = _Places(
                [path for root in self._roots for path in Layout(root).archives()]
            )
        record = self._places.response(page.url)
        made = _main_text(record, page.body_bytes) if record is not None else ""
        return (made, MADE) if made else (page.text, WHOLE)


class _Places:
    """Where the response to each URL lies. Of several the last: it is the one that was stored."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        columns = [array("q") for _ in _COLUMNS]
        for row in _indexed(files):
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        table = pa.table([pa.array(column, pa.int64()) for column in columns], names=_COLUMNS)
        table = table.sort_by([("hash", "ascending"), ("second", "ascending")])
        self._hashes = array("q", table["hash"].to_numpy().tobytes())
        self._numbers = array("q", table["file"].to_numpy().tobytes())
        self._offsets = array("q", table["offset"].to_numpy().tobytes())

    def response(self, url: str) -> Kept | None:
        """The record that has the payload of `url`; None if there is none."""
        record = self._record(url)
        if record is None or record.kind == "response":
            return record
        original = self._record(record.fields.get("warc-refers-to-target-uri", ""))
        digest = "warc-payload-digest"
        is_it = original is not None and original.fields.get(digest) == record.fields.get(digest)
        return original if is_it else None

    def _record(self, url: str) -> Kept | None:
        number = url_hash(url)
        place = bisect_left(self._hashes, number + 1) - 1
        if place < 0 or self._hashes[place] != number:
            return None
        try:
            found = record_at(self._files[self._numbers[place]], self._offsets[place])
        except (StoreError, OSError):
            return None  # damaged, or forgotten meanwhile: `mannerly check` tells
        return found if found.target == url else None


def _indexed(files: Sequence[Path]) -> Iterator[tuple[int, int, int, int]]:
    """Hash of the URL, second, number of the file and offset in it, of every good response."""
    for number, path in enumerate(files):
        try:
            lines = index_path(path).read_bytes().splitlines()
        except FileNotFoundError:
            continue
        for line in lines:
            _, second, told = line.split(b" ", 2)
            facts = json.loads(told)
            if facts["status"].startswith("2"):
                yield url_hash(facts["url"]), int(second), number, int(facts["offset"])


def _main_text(record: Kept, limit: int) -> str:
    headers: dict[str, str] = {}
    for line in record.block.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = decode(record.payload, headers.get("content-encoding", ""), limit).body
    return main_text_of(body, headers.get("content-type", ""))
