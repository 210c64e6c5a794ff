"""Robots directives in pages: `<meta name="robots">`."""

from typing import NamedTuple


class RobotsTags(NamedTuple):
    noindex: bool
    """Do not store."""
    nofollow: bool
    """Do not follow links."""
    noarchive: bool = False
    """Do not keep a copy; what the page says may be stored."""


def directives(content: str) -> RobotsTags:
    """What a comma-separated list of directives says; `none` is both."""
    words = {word.strip().lower() for word in content.split(",")}
    none = "none" in words
    return RobotsTags(none or "noindex" in words, none or "nofollow" in words, "noarchive" in words)
