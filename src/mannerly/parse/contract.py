"""What parsing gives. Parsing is a pure function of bytes; it never raises for what is in them."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple


class LinkKind(IntEnum):
    """How a page names another. The number never changes meaning."""

    ANCHOR = 0
    """`<a href>`"""
    AREA = 1
    """`<area href>`: part of an image."""
    FRAME = 2
    """`<frame src>` or `<iframe src>`"""
    REFRESH = 3
    """`<meta http-equiv=refresh>`: the page sends its readers there."""
    CANONICAL = 4
    """`<link rel=canonical>`: the page says that this is its own URL."""
    ALTERNATE = 5
    """`<link rel=alternate>`: the same in another language or form."""
    NEXT = 6
    """`<link rel=next>` or `rel=prev`"""


class Href(NamedTuple):
    """A link as it stands in the page, not yet resolved.

    Where a page has it more than once, it is of the first kind, and marked only if it is marked
    each time.
    """

    href: str
    nofollow: bool
    """`rel=nofollow`, or one of the two below, which imply it."""
    kind: LinkKind = LinkKind.ANCHOR
    ugc: bool = False
    """`rel=ugc`: written by users of the site."""
    sponsored: bool = False
    """`rel=sponsored`: paid for."""


class Heading(NamedTuple):
    level: int
    """1 to 6."""
    text: str


@dataclass(slots=True)
class Parsed:
    charset: str = ""
    """WHATWG name of the encoding that was used."""
    title: str = ""
    text: str = ""
    """Visible text: blocks apart, words whole, scripts and hidden parts out."""
    language: str = ""
    """As the page declares it (`<html lang>`), lower case, '' if it does not."""
    base: str = ""
    """`<base href>`, '' if there is none."""
    links: dict[str, Href | None] = field(default_factory=dict)
    """In document order, by their reference; None for a plain one, which nearly all are."""
    anchors: dict[str, str] = field(default_factory=dict)
    """The words of the links, by `href`, bounded; only if they were asked for."""
    noindex: bool = False
    """Meta robots says: do not store."""
    nofollow: bool = False
    """Meta robots says: do not follow."""
    noarchive: bool = False
    """Meta robots says: do not keep a copy."""
    unavailable_after: str = ""
    """Meta robots says: do not store after this date, as it is written."""
    told: dict[str, str] = field(default_factory=dict)
    """What the page says of itself in those `<meta>` that are named in `TOLD`, the first of each
    that has words."""
    canonical: str = ""
    """The first `<link rel=canonical>` as written, '' if there is none. Also among `links`."""
    headings: list[Heading] = field(default_factory=list)
    """In document order, the first `MAX_HEADINGS`, hidden ones out."""

    @property
    def description(self) -> str:
        """Meta description."""
        return self.told.get("description", "")

    @property
    def open_graph(self) -> tuple[tuple[str, str], ...]:
        """What the page has of the properties in `OPEN_GRAPH`."""
        return tuple([(name[3:], words) for name, words in self.told.items() if name[2] == ":"])

    @property
    def hrefs(self) -> list[Href]:
        """The links, all told."""
        return [found or Href(href, nofollow=False) for href, found in self.links.items()]

    @property
    def followed(self) -> list[str]:
        """The references of those that are not marked."""
        return [href for href, found in self.links.items() if not (found and found.nofollow)]


OPEN_GRAPH = frozenset(("title", "description", "type", "image", "url", "site_name", "locale"))
"""Open Graph properties, without their `og:`."""
TOLD = frozenset(("description", *(f"og:{name}" for name in OPEN_GRAPH)))
MAX_TOLD = 2_000
"""Characters of one."""
MAX_HEADINGS = 200
MAX_HEADING = 500
"""Characters of one."""
