"""Export: the chosen pages in another format, as a stream, into a file that is whole or not there.

Nothing but a few pages is in memory at a time (for `warc`, also eight bytes a chosen page).
"""

import csv
import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb

from mannerly.errors import UsageError
from mannerly.reading import archives
from mannerly.reading.asking import Answer
from mannerly.reading.documents import (
    Document,
    as_markdown,
    as_text_entry,
    file_name,
)
from mannerly.reading.opening import open_reading, roots_of
from mannerly.reading.output import (
    binary_target,
    compression_of,
    layout_suffix,
    text_target,
    whole_directory,
)
from mannerly.reading.selection import Selection
from mannerly.reading.values import cell, instant, json_line
from mannerly.reading.warc import RecordSink, conversion, warcinfo

FORMATS = ("jsonl", "csv", "warc", "wet", "text", "markdown")
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".warc": "warc", ".wet": "wet",
    ".txt": "text", ".md": "markdown",
}  # fmt: skip
_FILE_SUFFIX = {"text": ".txt", "markdown": ".md"}
INDEX = "index.jsonl"
"""In a directory of documents: which file is which page."""


class Place(NamedTuple):
    """Where an export goes."""

    output: Path | None
    """None: standard output."""
    is_directory: bool


class Exported(NamedTuple):
    pages: int
    note: str = ""
    """What else the user should know of it; '' for nothing."""
    noun: str = "pages"


def place_for(asked: str | None, output: str | None) -> tuple[str, Place]:
    """Format and place. The name of the output tells the format where none was asked for; where
    both speak they must agree. Documents go into a directory, a file each, where the output is one,
    ends with a slash or has no suffix."""
    if output is None:
        return asked or "jsonl", Place(None, is_directory=False)
    path = Path(output)
    suffix = layout_suffix(path)
    named = None if path.is_dir() or output.endswith("/") else _SUFFIXES.get(suffix)
    if named is None and asked is None:
        raise UsageError(f"{output} does not tell the format: add --format, or a suffix such as "
                         ".jsonl, .csv, .wet.gz, .txt or .md")  # fmt: skip
    if named not in (None, asked or named):
        raise UsageError(f"--format {asked} into {output}: the name says {named}; change one")
    chosen = asked or named or ""
    is_directory = chosen in _FILE_SUFFIX and (
        output.endswith("/") or path.is_dir() or not suffix
    )  # fmt: skip
    return chosen, Place(path, is_directory)


def export(data_dirs: Sequence[Path], selection: Selection, layout: str, place: Place) -> Exported:
    """Write the chosen pages. `UsageError` before anything is written if it cannot be done."""
    with open_reading(data_dirs) as store:
        if layout == "warc":
            return _copy_archives(roots_of(data_dirs), store, selection, place)
        if place.is_directory:
            assert place.output is not None
            return _write_directory(store, selection, layout, place.output)
        return _WRITERS[layout](store, selection, place.output)


def _write_jsonl(
    store: duckdb.DuckDBPyConnection, selection: Selection, output: Path | None
) -> Exported:
    answer = Answer(store, *selection.query(store, "*"))
    count = 0
    with text_target(output) as target:
        for row in answer:
            target.write(json_line(dict(zip(answer.names, map(_zoned, row), strict=True))) + "\n")
            count += 1
    return Exported(count)


def _write_csv(
    store: duckdb.DuckDBPyConnection, selection: Selection, output: Path | None
) -> Exported:
    answer = Answer(store, *selection.query(store, "*"))
    count = 0
    with text_target(output) as target:
        rows = csv.writer(target)
        rows.writerow(answer.names)
        for row in answer:
            rows.writerow([cell(_zoned(value)) for value in row])
            count += 1
    return Exported(count)


def _zoned(value: object) -> object:
    return instant(value) if isinstance(value, dt.datetime) else value


def _write_wet(
    store: duckdb.DuckDBPyConnection, selection: Selection, output: Path | None
) -> Exported:
    pages = _documents(store, selection)
    count = 0
    with binary_target(output, compress=False) as target:
        sink = RecordSink(target, compression_of(output))
        sink.write(warcinfo([("description", "texts extracted from the pages of a crawl")]))
        for page in pages:
            sink.write(conversion(page))
            count += 1
    return Exported(count)


def _write_texts(
    store: duckdb.DuckDBPyConnection, selection: Selection, output: Path | None
) -> Exported:
    return _write_stream(store, selection, output, as_text_entry)


def _write_markdown(
    store: duckdb.DuckDBPyConnection, selection: Selection, output: Path | None
) -> Exported:
    return _write_stream(store, selection, output, as_markdown)


def _write_stream(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    render: Callable[[Document], str],
) -> Exported:
    pages = _documents(store, selection)
    count = 0
    with text_target(output) as target:
        for page in pages:
            target.write(render(page))
            count += 1
    return Exported(count)


_WRITERS: dict[
    str, Callable[[duckdb.DuckDBPyConnection, Selection, Path | None], Exported]
] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "wet": _write_wet,
    "text": _write_texts,
    "markdown": _write_markdown,
}  # fmt: skip


def _write_directory(
    store: duckdb.DuckDBPyConnection, selection: Selection, layout: str, output: Path
) -> Exported:
    pages = _documents(store, selection)
    count = 0
    with (
        whole_directory(output) as directory,
        (directory / INDEX).open("w", encoding="utf-8") as index,
    ):
        for page in pages:
            path = _free(directory / file_name(page, _FILE_SUFFIX[layout]))
            path.parent.mkdir(exist_ok=True)
            body = as_markdown(page) if layout == "markdown" else page.text
            path.write_text(body, encoding="utf-8", newline="")
            told = {"file": str(path.relative_to(directory)), "url": page.url,
                    "title": page.title, "fetched_at": page.fetched_at}  # fmt: skip
            index.write(json_line(told) + "\n")
            count += 1
    return Exported(count)


def _free(path: Path) -> Path:
    """Another name if there is a page of that URL already, from another crawl."""
    number = 2
    found = path
    while found.exists():
        found = path.with_stem(f"{path.stem}-{number}")
        number += 1
    return found


def _documents(store: duckdb.DuckDBPyConnection, selection: Selection) -> Iterator[Document]:
    """The query is made at once, so that what is wrong with it is told before a file is begun."""
    columns = "url, url_hash, site, fetched_at, title, language, text"
    answer = Answer(store, *selection.query(store, columns))
    return (
        Document(url, number, site, instant(fetched_at), title, language, text)
        for url, number, site, fetched_at, title, language, text in answer
    )


def _copy_archives(
    roots: Sequence[Path], store: duckdb.DuckDBPyConnection, selection: Selection, place: Place
) -> Exported:
    files = archives.kept_files(roots)
    chosen: archives.Hashes | None = None
    if not selection.is_everything:
        answer = Answer(store, *selection.query(store, "url_hash"))
        chosen = archives.Hashes(row[0] for row in answer)
    with binary_target(place.output, compress=False) as target:
        copied = archives.copy(files, chosen, RecordSink(target, compression_of(place.output)))
    note = f"{copied.records:,} records, {copied.responses:,} of them responses"
    if chosen is None:
        return Exported(copied.found, f"{copied.records:,} records", "responses")
    if missing := len(chosen) - copied.found:
        note += f"; {missing:,} chosen pages are in no archive, or still in the journal"
    return Exported(copied.found, note)
