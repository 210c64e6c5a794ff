"""A page as programs see it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from mannerly.records import PageRecord

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Heading(NamedTuple):
    level: int
    """1 to 6."""
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was fetched, settled and stored. What the columns mean: docs/store.md."""

    url: str
    site: str
    fetched_at: datetime
    """When the request was sent; in UTC."""
    status: int
    content_type: str
    charset: str
    title: str
    text: str
    language: str
    links: int
    body_bytes: int
    truncated: bool
    depth: int
    content_hash: int
    duration_s: float
    description: str
    canonical: str
    """The URL that it names as its own; '' if it names none."""
    open_graph: dict[str, str]
    headings: list[Heading]
    duplicate: str
    """How it repeats another page of its site: `exact`, `near`, `canonical`; '' if it does not."""
    duplicate_of: int
    main_text: str
    """'' unless the crawl keeps it: `keep="main-text"`."""
    extracted: dict[str, Any] | None
    """What the function given as `extract` returned for it."""

    @classmethod
    def of(cls, record: PageRecord, data: str) -> Self:
        """`data` is the page's row in `extracts`, '' if it has none."""
        values = record._asdict()
        # Rounded as the store rounds it, so that a page is the same page from both.
        values["fetched_at"] = EPOCH + timedelta(microseconds=round(record.fetched_at * 1e6))
        values["open_graph"] = dict(record.open_graph)
        values["headings"] = [{"level": level, "text": text} for level, text in record.headings]
        return cls.of_row(values, data)

    @classmethod
    def of_row(cls, row: Mapping[str, Any], data: str | None) -> Self:
        values = {name: row[name] for name in STORED}
        values["fetched_at"] = row["fetched_at"].replace(tzinfo=UTC)
        values["headings"] = [Heading(**heading) for heading in row["headings"]]
        return cls(**values, extracted=json.loads(data) if data else None)


STORED = tuple(field.name for field in fields(Page) if field.name != "extracted")
"""The columns of `pages` that a `Page` has."""
