"""What parsing gives. Parsing is a pure function of bytes; it never raises for what is in them."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Href(NamedTuple):
    """A link as it stands in the page, not yet resolved."""

    href: str
    nofollow: bool


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
    hrefs: list[Href] = field(default_factory=list)
    """In document order, distinct."""
    noindex: bool = False
    """Meta robots says: do not store."""
    nofollow: bool = False
    """Meta robots says: do not follow."""
    unavailable_after: str = ""
    """Meta robots says: do not store after this date, as it is written."""
