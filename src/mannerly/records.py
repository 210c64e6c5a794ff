"""What a crawl keeps of what it fetched: the rows of the store's tables, before they are columns.

Every row of a lease carries its token: what was done under a lease that was refused is void. What a
crawl keeps of its own manners is in `mannerly.evidence`.
"""

from typing import NamedTuple

from mannerly.quick import quick


@quick
class FetchRecord(NamedTuple):
    """One settled URL: a row of the `fetches` table."""

    token: int
    """The lease under which it was settled; not a column. Rows of a refused lease are dropped."""
    url: str
    url_hash: int
    site: str
    outcome: str
    """Name of the `Outcome`, lower case."""
    status: int
    """HTTP status; 0 where no response was read."""
    fetched_at: float
    """Unix time at which the request was sent (or the decision taken)."""
    duration_s: float
    """From the request to the end of the response."""
    wire_bytes: int
    """Bytes of the body as received."""
    content_type: str
    redirect_to: str
    depth: int
    tries: int
    """Visits made for this URL, this one included."""
    referrer_hash: int
    address: str
    detail: str
    """What went wrong, in words."""


@quick
class PageRecord(NamedTuple):
    """One stored page: a row of the `pages` table."""

    token: int
    """As in `FetchRecord`; not a column."""
    url: str
    url_hash: int
    site: str
    fetched_at: float
    status: int
    content_type: str
    charset: str
    title: str
    text: str
    language: str
    links: int
    """How many distinct links to crawlable URLs the page has."""
    body_bytes: int
    """Size of the body after content decoding."""
    wire_bytes: int
    truncated: bool
    depth: int
    referrer_hash: int
    content_hash: int
    """64-bit hash of the decoded body."""
    duration_s: float
    last_modified: str = ""
    """This header and the next four as received, cut at 500 bytes; '' if it was not sent."""
    etag: str = ""
    cache_control: str = ""
    server: str = ""
    content_language: str = ""
    address: str = ""
    """The peer's IP address."""
    dns_s: float = 0.0
    """0 where it was not needed, as for the next."""
    connect_s: float = 0.0
    """TLS included."""
    first_byte_s: float = 0.0
    """From the request to the first byte of the response."""
    tls_version: str = ""
    """'' for http."""
    tls_cipher: str = ""
    tls_problem: str = ""
    """What is wrong with the certificate, or that it was not checked; '' if it is good."""
    robots_hash: int = 0
    """The version of robots.txt that allowed it (`politeness.gate.version_of`)."""
    robots_line: int = 0
    """The line of it that did; 0 if none speaks of the page."""
    simhash: int = 0
    """64 bits that are nearly the same for texts that are; 0 for a page without text."""
    duplicate: str = ""
    """How it repeats another page of its site: `exact`, `near`, `canonical`; '' if it does not."""
    duplicate_of: int = 0
    """Hash of the URL of that page; 0 for none."""
    description: str = ""
    """What the page says of itself (meta description)."""
    canonical: str = ""
    """The URL that it names as its own (`<link rel=canonical>`), resolved; '' if it names none."""
    open_graph: tuple[tuple[str, str], ...] = ()
    """Open Graph properties that it has, by name without `og:`."""
    headings: tuple[tuple[int, str], ...] = ()
    """Level and words of its headings, in order."""
    main_text: str = ""
    """The text without navigation, if the crawl keeps it (`--keep main-text`)."""


class LinkRecord(NamedTuple):
    """The links of one page: as many rows of the `links` table as it has targets.

    A column of lists where each link differs, because a tuple per link would cost more than all
    the rest: a page has seventy of them.
    """

    token: int
    """As in `FetchRecord`; not a column."""
    url: str
    url_hash: int
    site: str
    target: list[str]
    target_hash: list[int]
    target_site: list[str]
    anchor: list[str]
    """Text of the link, bounded; '' if it has none."""
    rel: list[str]
    """What the page says of the target: `nofollow`, `ugc`, `sponsored` (which both imply the
    first), with blanks between; of a `link` element `canonical`, `alternate` or `next`."""
    kind: list[str]
    """The element that has it: `a`, `area`, `link`, `frame` (also for `iframe`), `meta`."""
    position: list[int]
    """Its place among the page's links, from 0."""


class Exchange(NamedTuple):
    """One request and the response to it, as they went over the wire: for `--keep warc`."""

    token: int
    """As in `FetchRecord`: what was fetched under a refused lease is void."""
    url: str
    fetched_at: float
    address: str
    request: bytes
    """All of it: a GET has no body."""
    http_version: bytes
    """`1.1`"""
    status: int
    reason: bytes
    headers: list[tuple[bytes, bytes]]
    """As received: order, case and repeats."""
    body: bytes
    """As received, chunking removed, content coding not."""
    truncated: bool
    """There was more than the limit, which was not read."""
    facts: tuple[tuple[str, str], ...]
    """What is known beyond the bytes, by name; goes into a metadata record."""


class ExtractRecord(NamedTuple):
    """What a function of the user's made of a stored page: a row of the `extracts` table."""

    token: int
    """As in `FetchRecord`; not a column."""
    url: str
    url_hash: int
    site: str
    fetched_at: float
    data: str
    """A JSON object."""
