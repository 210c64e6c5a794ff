"""Export: the chosen pages in another format, as a stream, into a file that is whole or not there.

Nothing but a few pages is in memory at a time (for `warc`, also eight bytes a chosen page).
"""

import csv
import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
from mannerly.reading.main_texts import MainTexts, PageText
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

TEXTS = ("main", "all")
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


def export(
    data_dirs: Sequence[Path],
    selection: Selection,
    layout: str,
    place: Place,
    text: str | None = None,
) -> Exported:
    """Write the chosen pages. `UsageError` before anything is written if it cannot be done.

    `text`: `main` or `all`; None for what the format is for: documents have the main text. In jsonl
    and csv `text` is always the whole text, and with `main` the column `main_text` is filled.
    """
    roots = roots_of(data_dirs)
    with open_reading(data_dirs) as store:
        if layout == "warc":
            if text is not None:
                raise UsageError("--text: a WARC export has what servers sent; leave it out")
            return _copy_archives(roots, store, selection, place)
        is_main = (text or ("main" if layout in _FILE_SUFFIX else "all")) == "main"
        main = MainTexts(roots) if is_main else None
        if place.is_directory:
            assert place.output is not None
            done = _write_directory(store, selection, layout, place.output, main)
        else:
            done = _WRITERS[layout](store, selection, place.output, main)
        return done._replace(note=main.note) if main is not None else done


def _write_jsonl(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
) -> Exported:
    answer = Answer(store, *selection.query(store, "*"))
    count = 0
    with text_target(output) as target:
        for row in _filled(answer, main):
            target.write(json_line(dict(zip(answer.names, map(_zoned, row), strict=True))) + "\n")
            count += 1
    return Exported(count)


def _write_csv(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
) -> Exported:
    answer = Answer(store, *selection.query(store, "*"))
    count = 0
    with text_target(output) as target:
        rows = csv.writer(target)
        rows.writerow(answer.names)
        for row in _filled(answer, main):
            rows.writerow([cell(_zoned(value)) for value in row])
            count += 1
    return Exported(count)


def _filled(answer: Answer, main: MainTexts | None) -> Iterator[Sequence[object]]:
    """The rows, with the main text in its column if it is asked for."""
    if main is None:
        yield from answer
        return
    places = [answer.names.index(name) for name in PageText._fields]
    column = answer.names.index("main_text")
    for row in answer:
        filled = list(row)
        filled[column] = main.of(PageText(*(row[place] for place in places)))
        yield filled


def _zoned(value: object) -> object:
    return instant(value) if isinstance(value, dt.datetime) else value


def _write_wet(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
) -> Exported:
    pages = _documents(store, selection, main)
    count = 0
    with binary_target(output, compress=False) as target:
        sink = RecordSink(target, compression_of(output))
        sink.write(warcinfo([("description", "texts extracted from the pages of a crawl")]))
        for page in pages:
            sink.write(conversion(page))
            count += 1
    return Exported(count)


def _write_texts(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
) -> Exported:
    return _write_stream(store, selection, output, main, as_text_entry)


def _write_markdown(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
) -> Exported:
    return _write_stream(store, selection, output, main, as_markdown)


def _write_stream(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    output: Path | None,
    main: MainTexts | None,
    render: Callable[[Document], str],
) -> Exported:
    pages = _documents(store, selection, main)
    count = 0
    with text_target(output) as target:
        for page in pages:
            target.write(render(page))
            count += 1
    return Exported(count)


_WRITERS: dict[
    str, Callable[[duckdb.DuckDBPyConnection, Selection, Path | None, MainTexts | None], Exported]
] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "wet": _write_wet,
    "text": _write_texts,
    "markdown": _write_markdown,
}  # fmt: skip


def _write_directory(
    store: duckdb.DuckDBPyConnection,
    selection: Selection,
    layout: str,
    output: Path,
    main: MainTexts | None,
) -> Exported:
    pages = _documents(store, selection, main)
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


def _documents(
    store: duckdb.DuckDBPyConnection, selection: Selection, main: MainTexts | None
) -> Iterator[Document]:
    """The query is made at once, so that what is wrong with it is told before a file is begun."""
    columns = (
        "url, url_hash, site, fetched_at, title, language, text, description, headings, main_text, "
        "body_bytes"
    )
    answer = Answer(store, *selection.query(store, columns))
    return (_document(main, *row) for row in answer)


def _document(
    main: MainTexts | None,
    url: str,
    number: int,
    site: str,
    fetched_at: object,
    title: str,
    language: str,
    text: str,
    description: str,
    headings: list[dict[str, Any]],
    main_text: str,
    body_bytes: int,
) -> Document:
    if main is not None:
        text = main.of(PageText(url, text, main_text, body_bytes))
    told = tuple((it["level"], it["text"]) for it in headings)
    return Document(
        url, number, site, instant(fetched_at), title, language, text, description, told
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
