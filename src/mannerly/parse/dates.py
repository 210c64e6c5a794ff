"""Dates as sitemaps and feeds write them."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_YEAR_OR_MONTH = re.compile(r"\d{4}(?:-\d\d)?")
_MAX_DATE = 64


def date_at(text: str) -> float | None:
    """Unix time of a W3C (ISO 8601) or RFC 2822 date, None if it is neither.

    A year or a month is its first instant; where no zone is told, it is UTC.
    """
    text = text.strip()
    if not text or len(text) > _MAX_DATE:
        return None
    if _YEAR_OR_MONTH.fullmatch(text):
        text = f"{text}-01-01"[:10]
    with suppress(ValueError, OverflowError):
        date = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    return None
