"""Robots directives in pages: `<meta name="robots">`."""

import re
from typing import NamedTuple

# The one comma that belongs to a date is that after the day of the week.
_UNAVAILABLE_AFTER = re.compile(
    r"(?:^|,)\s*unavailable_after\s*:\s*((?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*,)?[^,]*)",
    re.IGNORECASE,
)


class RobotsTags(NamedTuple):
    noindex: bool
    """Do not store."""
    nofollow: bool
    """Do not follow links."""
    noarchive: bool
    """Do not keep a copy; what the page says may be stored."""
    unavailable_after: str
    """The date from which on it is not to be stored, as it is written; '' if there is none."""


def directives(content: str) -> RobotsTags:
    """What a comma-separated list of directives says; `none` is both."""
    words = {word.strip().lower() for word in content.split(",")}
    none = "none" in words
    date = _UNAVAILABLE_AFTER.search(content)
    return RobotsTags(
        none or "noindex" in words,
        none or "nofollow" in words,
        "noarchive" in words,
        date[1].strip() if date else "",
    )
