"""Durations and instants as people say them."""

from datetime import UTC, datetime


def span(seconds: float) -> str:
    """`0.4 s`, `12 s`, `5 min`, `3 h`, `2 days`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86_400:.0f} days"


def ago(seconds: float) -> str:
    return f"{span(max(0.0, seconds))} ago"


def instant(at: object) -> str:
    """An instant of the store, which is in UTC."""
    if not isinstance(at, datetime):
        return "at an unknown time"
    return f"on {at.replace(tzinfo=UTC):%Y-%m-%d at %H:%M:%S} UTC"
