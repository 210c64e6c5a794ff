"""What the store has of one URL."""

from dataclasses import dataclass
from typing import Any

import duckdb

from mannerly.errors import UrlError, UsageError
from mannerly.reading.asking import Answer
from mannerly.url import canonical, origin_of, url_hash

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """Rows as the views have them, oldest first. More than one page only where several crawls are
    read as one, or a crawl came back to it."""

    url: str
    """The spelling under which it is stored."""
    pages: list[Row]
    fetches: list[Row]
    extracts: list[Row]
    """What the user's function made of the pages."""
    repeats: str
    """The URL that the last page repeats; '' if it repeats none, or one that is not stored."""


def look_up(connection: duckdb.DuckDBPyConnection, text: str) -> Found | None:
    """The first spelling of `text` of which anything is stored; None if nothing is."""
    for url in spellings(text):
        pages, fetches, extracts = (
            _rows(connection, view, url) for view in ("pages", "fetches", "extracts")
        )
        if pages or fetches:
            repeats = _url_of(connection, pages[-1]["duplicate_of"]) if pages else ""
            return Found(url, pages, fetches, extracts, repeats)
    return None


def spellings(text: str) -> list[str]:
    """How `text` may be written in the store, most likely first: as a canonical URL, as it stands,
    and with the other scheme. `UsageError` if it is no URL in any way."""
    given = text.strip()
    guesses = [given] if "://" in given else [f"https://{given}", f"http://{given}"]
    found: list[str] = []
    trouble: UrlError | None = None
    for guess in guesses:
        try:
            found.append(canonical(guess))
        except UrlError as exc:
            trouble = exc
    if not found:
        raise UsageError(f"{text!r} is not a URL ({trouble}); give e.g. https://example.org/")
    swapped = {"https": "http", "http": "https"}
    other = [swapped[url.split(":")[0]] + ":" + url.partition(":")[2] for url in found]
    return list(dict.fromkeys([*found, given, *other]))


def neighbours(connection: duckdb.DuckDBPyConnection, url: str) -> int:
    """How many pages are stored of the host of `url`, with either scheme."""
    hosts = [f"{origin_of(one)}/" for one in spellings(url) if "://" in one]
    condition = " OR ".join("starts_with(url, ?)" for _ in hosts)
    ((count,),) = Answer(connection, f"SELECT count(*) FROM pages WHERE {condition}", hosts)  # noqa: S608
    return int(count)


def _url_of(connection: duckdb.DuckDBPyConnection, number: int) -> str:
    if not number:
        return ""
    rows = list(Answer(connection, "SELECT url FROM fetches WHERE url_hash = ? LIMIT 1", [number]))
    return str(rows[0][0]) if rows else ""


def _rows(connection: duckdb.DuckDBPyConnection, view: str, url: str) -> list[Row]:
    # The hash is a narrow column that is quickly searched; the URL makes sure.
    sql = f"SELECT * FROM {view} WHERE url_hash = ? AND url = ? ORDER BY fetched_at"  # noqa: S608
    answer = Answer(connection, sql, [url_hash(url), url])
    return [dict(zip(answer.names, row, strict=True)) for row in answer]
