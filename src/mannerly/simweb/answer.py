"""What the simulated web answers to a request: decided at once, its body made when asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from enum import StrEnum
from typing import NamedTuple, Protocol


class Kind(StrEnum):
    """What is at a URL."""

    PAGE = "page"
    ENCODED = "encoded"
    """A page in another character encoding."""
    FILE = "file"
    """Something else than HTML."""
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    TRAP = "trap"
    """One of infinitely many pages."""
    INSIDE = "inside"
    """A redirect to a page of the same site, or to the same page at its proper host."""
    OUTSIDE = "outside"
    """A redirect to another site."""
    CHAIN = "chain"
    """A redirect to a redirect to ... a page of the same site."""
    LOOP = "loop"
    """A redirect that leads back to itself."""
    MISSING = "missing"
    GONE = "gone"
    BUSY = "busy"
    """429 or 503 for a while, then a page."""
    FAILING = "failing"
    STALLED = "stalled"
    STOPPED = "stopped"
    CUT = "cut"
    CLOSED = "closed"
    UNSECURED = "unsecured"
    """https asked of a site that has no TLS."""
    UNKNOWN_HOST = "unknown_host"


class Behaviour(StrEnum):
    """How the answer travels."""

    WHOLE = "whole"
    STALL = "stall"
    """Nothing is ever sent."""
    STOP = "stop"
    """Half of the body is sent, and then nothing."""
    CUT = "cut"
    """Half of the body is sent, and then the connection is closed."""
    CLOSE = "close"
    """The connection is closed without a byte."""
    NO_TLS = "no_tls"
    """The TLS handshake is refused."""


class Link(NamedTuple):
    """A link of a page: where it leads and how it is written."""

    url: str
    """Absolute and canonical."""
    href: str
    nofollow: bool


class Content(Protocol):
    """A body that is made when it is asked for, the same every time."""

    def links(self) -> list[Link]: ...

    def plain(self) -> bytes: ...

    def gzipped(self) -> bytes | None:
        """The same bytes in gzip; None where the server would not compress."""


class Fixed:
    """A body without links, made by a function."""

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make = make

    def links(self) -> list[Link]:
        return []

    def plain(self) -> bytes:
        return self._make()

    def gzipped(self) -> bytes | None:
        return None


NOTHING = Fixed(lambda: b"")


@dataclass(slots=True)
class Answer:
    """The answer to one request. A pure value, but for the body's being made late."""

    kind: Kind
    status: int
    content_type: str = "text/html; charset=utf-8"
    content: Content = NOTHING
    location: str = ""
    """The redirect's absolute target, '' if it is none."""
    extra: tuple[tuple[str, str], ...] = ()
    """Headers besides type and length."""
    retry_date_s: float | None = None
    """Retry-After as a date, this long after the response."""
    latency_s: float = 0.0
    behaviour: Behaviour = Behaviour.WHOLE
    nofollow: bool = False
    """The page asks for none of its links to be followed."""
    noindex: bool = False
    """The page asks not to be stored."""
    keep_alive: bool = True
    chunked: bool = False

    @property
    def body(self) -> bytes:
        return self.content.plain()

    @property
    def links(self) -> list[str]:
        """The links that a polite crawler follows, absolute, canonical, distinct, in order."""
        if self.nofollow:
            return []
        return list(dict.fromkeys(at.url for at in self.content.links() if not at.nofollow))

    def headers(self, wall_at: float) -> list[tuple[str, str]]:
        """Every header but those of length and connection. `wall_at` is the time of sending."""
        headers = [("Content-Type", self.content_type), *self.extra]
        if self.retry_date_s is not None:
            date = formatdate(wall_at + self.retry_date_s, usegmt=True)
            headers.append(("Retry-After", date))
        return headers
