"""A hostile site: what its server does, and what must become of its URLs."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.hostile.script import Script

NO_ROBOTS: Script = [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]
PAGE: Script = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>the page\n"
]


@dataclass(frozen=True)
class Expected:
    """What must become of a URL."""

    outcome: str
    """As in the table of fetches; several that fit, separated by `|`."""
    stored: bool = False
    """A page is stored."""
    truncated: bool = False
    """It is stored as incomplete."""
    text: str | None = None
    """Its text, where that matters."""


FETCHED = Expected("fetched", stored=True)
CUT = Expected("fetched", stored=True, truncated=True)
NO_PAGE = Expected("fetched")
BROKEN = Expected("broken")
LATE = Expected("timed_out")
REDIRECTED = Expected("redirected")
HTTP_ERROR = Expected("http_error")
TLS_FAILED = Expected("tls_failed")
UNREACHABLE = Expected("robots_unreachable")


@dataclass(frozen=True)
class Site:
    name: str
    answer: Callable[[str], Script]
    """What is played for a path (with its query), /robots.txt included."""
    expected: Mapping[str, Expected]
    """By path. Of the other URLs of the site only their number is bounded."""
    most_requests: int | None = None
    """For pages; None: for each expected URL as many as any URL gets."""
    scheme: Literal["http", "https"] = "http"
    hello: Script = field(default_factory=list)
    """Played to a TLS client's first message instead of a handshake, if it is not empty."""
    greeting: Script = field(default_factory=list)
    """Played as soon as there is a TLS connection, before any request."""
    suite_id: str = ""
    """The case of the external suite that this plays."""

    @property
    def host(self) -> str:
        return f"{self.name}.example"

    @property
    def home(self) -> str:
        return f"{self.scheme}://{self.host}/"


def crowded(sites: Iterable[Site], into: int) -> list[Site]:
    """The same as hosts of `into` sites, each visited one after the other. So what costs a core
    some time costs it now and then, as in a real crawl, and not two seconds right at the start."""
    return [
        replace(site, name=f"{site.name}.crowd-{number % into}")
        for number, site in enumerate(sites)
    ]


def name_of(words: str) -> str:
    """A host's label made of any words."""
    return re.sub("[^a-z0-9]+", "-", words.lower()).strip("-")


def one_page(name: str, page: Script, expected: Expected) -> Site:
    """A site without robots.txt whose home page is the trouble."""
    return Site(name, lambda path: NO_ROBOTS if path == "/robots.txt" else page, {"/": expected})


def by_path(
    name: str, scripts: Mapping[str, Script], expected: Mapping[str, Expected], most_requests: int
) -> Site:
    return Site(
        name, lambda path: scripts.get(path, NO_ROBOTS), expected, most_requests=most_requests
    )


def response(
    body: bytes, content_type: str = "text/html", *headers: bytes, status: bytes = b"200 OK"
) -> Script:
    """A well-framed response."""
    lines = [
        b"HTTP/1.1 " + status,
        b"Content-Type: " + content_type.encode("latin-1"),
        b"Content-Length: %d" % len(body),
        *headers,
    ]
    return [b"\r\n".join(lines) + b"\r\n\r\n" + body]


def redirect(location: bytes, status: bytes = b"302 Found") -> Script:
    return response(b"", "text/html", b"Location: " + location, status=status)
