"""Robots directives in pages: `<meta name="robots">` and the `X-Robots-Tag` header."""

from typing import NamedTuple

_WITH_VALUES = frozenset(
    ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
)
"""Directives that are written with a colon themselves."""


class RobotsTags(NamedTuple):
    noindex: bool
    """Do not store."""
    nofollow: bool
    """Do not follow links."""


def directives(content: str) -> RobotsTags:
    """What a comma-separated list of directives says; `none` is both."""
    words = {word.strip().lower() for word in content.split(",")}
    none = "none" in words
    return RobotsTags(none or "noindex" in words, none or "nofollow" in words)


def x_robots(header: str, agent: str) -> RobotsTags:
    """What the value of `X-Robots-Tag` (repeats joined by commas) says to `agent`.

    `name: noindex, nofollow` speaks to that agent until another is named.
    """
    if not header:
        return RobotsTags(noindex=False, nofollow=False)
    ours: list[str] = []
    for_us = True
    for part in header.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip().lower()
        if colon and name not in _WITH_VALUES:
            for_us = name in ("*", "robots", agent.lower())
            part = rest  # noqa: PLW2901 - the directive is what follows the name
        if for_us:
            ours.append(part)
    return directives(",".join(ours))
