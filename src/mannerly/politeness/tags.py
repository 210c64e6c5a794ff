"""Robots directives that come with a response: the `X-Robots-Tag` header. Pure.

    X-Robots-Tag: noindex, nofollow
    X-Robots-Tag: mannerly: none
    X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 GMT

Case makes no difference. A name with a colon speaks to that agent until another is named or the
header ends, and what is said to us adds to what is said to all. What nobody can make sense of says
nothing.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

_AGENT = re.compile(r"\s*([\w.*-]+)\s*:(.*)", re.DOTALL)
_WEEKDAY = re.compile(r"\s*(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\s*\Z")
_WITH_VALUES = frozenset(
    ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
)
"""Directives that are written with a colon themselves."""


class Tags(NamedTuple):
    noindex: bool
    """Do not store."""
    nofollow: bool
    """Do not follow links."""
    noarchive: bool = False
    """Do not keep a copy; what the page says may be stored."""


def header_tags(values: Iterable[str], agent: str, wall_at: float) -> Tags:
    """What the values of all `X-Robots-Tag` headers of a response say to `agent` at `wall_at`."""
    noindex = nofollow = noarchive = False
    for value in values:
        for name, argument in _for_us(value.lower(), agent.lower()):
            noindex |= name in ("noindex", "none")
            nofollow |= name in ("nofollow", "none")
            noarchive |= name == "noarchive"
            if name == "unavailable_after":
                noindex |= is_over(argument, wall_at)
    return Tags(noindex, nofollow, noarchive)


def is_over(date: str, wall_at: float) -> bool:
    """Has this date passed? One that cannot be read has not: it may be years away."""
    date = date.strip()
    if not date:
        # Nearly always: two exceptions would cost a page as much as its visit does otherwise.
        return False
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        try:
            when = datetime.fromisoformat(date.upper())
        except ValueError:
            return False
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    try:
        return when.timestamp() <= wall_at
    except (ValueError, OverflowError):
        return False


def _for_us(value: str, agent: str) -> Iterable[tuple[str, str]]:
    """The directives of one header that speak to `agent`, each with its argument."""
    for_us = True
    for part in _parts(value):
        named = _AGENT.match(part)
        if named and named[1] not in _WITH_VALUES:
            for_us = named[1] in ("*", "robots", agent)
            part = named[2]  # noqa: PLW2901 - the directive is what follows the name
        if for_us:
            name, _, argument = part.partition(":")
            yield name.strip(), argument


def _parts(value: str) -> Iterable[str]:
    """The parts between commas, but for the comma after the weekday of a date."""
    held = ""
    for part in value.split(","):
        if held:
            yield f"{held},{part}"
            held = ""
        elif ":" in part and _WEEKDAY.match(part.rpartition(":")[2]):
            held = part
        else:
            yield part
    if held:
        yield held
