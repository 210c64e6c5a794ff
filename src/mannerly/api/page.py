"""A page as programs see it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from mannerly.model import PageRecord

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    extracted: dict[str, Any] | None
    """What the function given as `extract` returned for it."""

    @classmethod
    def of(cls, record: PageRecord, data: str) -> Self:
        """`data` is the page's row in `extracts`, '' if it has none."""
        values = record._asdict()
        # Rounded as the store rounds it, so that a page is the same page from both.
        values["fetched_at"] = EPOCH + timedelta(microseconds=round(record.fetched_at * 1e6))
        return cls.of_row(values, data)

    @classmethod
    def of_row(cls, row: Mapping[str, Any], data: str | None) -> Self:
        values = {name: row[name] for name in STORED}
        values["fetched_at"] = row["fetched_at"].replace(tzinfo=UTC)
        return cls(**values, extracted=json.loads(data) if data else None)


STORED = tuple(field.name for field in fields(Page) if field.name != "extracted")
"""The columns of `pages` that a `Page` has."""
