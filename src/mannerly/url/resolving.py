"""Links of a page, resolved as a batch.

The same result as `canonical` for each link, at a fraction of the cost: plain references (`/path`,
`name`, `https://known.example/path`) are told by their characters and need no parser, where there
was a C compiler at installation (`_links.c`). Of the others the base is parsed once, repeated ones
are dropped before they are parsed, and what depends only on the origin (is the host sound, which
site is it) is decided once for all pages. Two links are the same if their hashes are, as in the
frontier.
"""

import re
from array import array
from collections import Counter
from typing import Any, NamedTuple

import can_ada
from xxhash import xxh3_64_intdigest

from mannerly.errors import UrlError
from mannerly.quick import quick
from mannerly.url.normal import MAX_SLACK, MAX_URL_LENGTH, host_of, serialised, trimmed
from mannerly.url.parameters import ParameterRules
from mannerly.url.site import SiteKey
from mannerly.url.traps import LeftOut

try:
    from mannerly.url._links import walk as _walk
except ImportError:
    from mannerly.url.links_plain import walk as _walk

MAX_LINKS = 5_000
MAX_ORIGINS = 100_000
"""Origins whose site is remembered, about 20 MB; when they are too many it starts anew."""

_NOT_CRAWLED = ("javascript:", "mailto:", "tel:", "data:", "whatsapp:", "sms:", "about:", "blob:")
"""Common enough to be worth leaving out before parsing; all others are found after it."""
_PLAIN = re.compile(r"https?://([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]+)?")
_HALF = 1 << 63
_WHOLE = 1 << 64
_new = tuple.__new__
"""Makes a `Resolved` at half the price of calling it."""


@quick
class Resolved(NamedTuple):
    """A link, ready for the frontier."""

    url: str
    hash: int
    site: str


@quick
class Fresh(NamedTuple):
    """The links of a page of which most are known."""

    in_all: int
    """How many links the page has."""
    links: list[Resolved]
    """Those that are not known."""


def resolve(
    base: str,
    hrefs: list[str],
    site_key: SiteKey,
    *,
    max_links: int = MAX_LINKS,
    max_length: int = MAX_URL_LENGTH,
    parameters: ParameterRules | None = None,
    left_out: Counter[LeftOut] | None = None,
    positions: list[int] | None = None,
) -> list[Resolved]:
    """Distinct canonical URLs of `hrefs` in order, at most `max_links`. Where among `hrefs` each
    came from is added to `positions`.

    `base` is canonical: the page's URL, or what its `<base>` makes of it. References to the page
    itself (`#top`, empty) are not links. What is too long is counted in `left_out`.
    """
    return _found(
        base, hrefs, site_key, b"", max_links, max_length, parameters, left_out, positions
    ).links


def fresh(
    base: str,
    hrefs: list[str],
    site_key: SiteKey,
    known: "array[int]",
    *,
    max_links: int = MAX_LINKS,
    max_length: int = MAX_URL_LENGTH,
    parameters: ParameterRules | None = None,
    left_out: Counter[LeftOut] | None = None,
) -> Fresh:
    """As `resolve`, but of those links only that are not `known`: a power of two of hashes, each at
    the place of its low bits. To make them all takes longer than to find out which are known."""
    return _found(base, hrefs, site_key, known, max_links, max_length, parameters, left_out, None)


def _found(
    base: str,
    hrefs: list[str],
    site_key: SiteKey,
    known: "array[int] | bytes",
    max_links: int,
    max_length: int,
    parameters: ParameterRules | None,
    left_out: Counter[LeftOut] | None,
    positions: list[int] | None,
) -> Fresh:
    closely = _Closely(base, site_key, max_length, parameters)
    origin, path = _cut(base)
    found = _walk(
        hrefs,
        closely,
        origin,
        path,
        (site_key.of_origins.get(origin) or _site_if_plain(origin, site_key)) if path else None,
        site_key.of_origins,
        None if parameters is None else parameters.strip,
        Resolved,
        xxh3_64_intdigest,
        max_length,
        max_links,
        positions,
        known,
    )
    if closely.too_long and left_out is not None:
        left_out[LeftOut.LENGTH] += closely.too_long
    return _new(Fresh, found)


def _cut(base: str) -> tuple[str, str]:
    """The origin of a canonical URL, and its path up to the last slash."""
    end = base.find("/", 8)
    path = base[end:].partition("?")[0] if end > 0 else ""
    return base[:end], path[: path.rfind("/") + 1]


class _Closely:
    """Resolves one reference at a time, by the URL parser; those of one page."""

    __slots__ = (
        "_base",
        "_given",
        "_max_length",
        "_parameters",
        "_parsed",
        "_site_key",
        "too_long",
    )

    def __init__(
        self, base: str, site_key: SiteKey, max_length: int, parameters: ParameterRules | None
    ) -> None:
        self._base = base
        self._parsed: Any = None
        self._site_key = site_key
        self._max_length = max_length
        self._parameters = parameters
        self._given: set[str] = {""}
        self.too_long = 0

    def __call__(self, href: str) -> Resolved | None:
        """None: it was there before, or leads nowhere."""
        reference = href.partition("#")[0]
        if reference in self._given:
            return None
        self._given.add(reference)
        if ":" in reference and reference.startswith(_NOT_CRAWLED):
            return None
        if len(reference) > self._max_length * MAX_SLACK:
            self.too_long += 1
            return None
        if odd := reference[-1] <= " ":
            reference = href  # white space is trimmed at the end of a URL, kept before a fragment
        try:
            url, site = self._joined(reference, odd=odd)
        except UrlError:
            return None
        if not site:
            return None
        if self._parameters is not None and ("?" in url or ";" in url):
            url = self._parameters.strip(url)
        if len(url) > self._max_length:
            self.too_long += 1
            return None
        digest = xxh3_64_intdigest(url.encode())
        return _new(Resolved, (url, digest if digest < _HALF else digest - _WHOLE, site))

    def _joined(self, reference: str, *, odd: bool) -> tuple[str, str]:
        """A canonical URL and its site, '' if it is not of the web. Raises `UrlError`."""
        if self._parsed is None:
            self._parsed = _parsed(self._base)
        try:
            url = (self._parsed + reference).href
        except (ValueError, TypeError):
            url = serialised(reference, self._base)
        if not url.startswith("http"):
            return url, ""
        origin = url[: url.find("/", 8)]
        site = self._site_key.of_origins.get(origin) or _site_if_plain(origin, self._site_key)
        if site is None or odd or url[-1] == "?":
            url = trimmed(url)
            site = self._site_key.site_of(host_of(url))
        return url, site


def _parsed(base: str) -> Any:
    """None, to which nothing can be joined, for an `xn--` host that the library refuses."""
    try:
        return can_ada.parse(base)
    except ValueError:
        return None


def _site_if_plain(origin: str, site_key: SiteKey) -> str | None:
    """The site of an origin that is canonical at a glance; None: look closer."""
    plain = _PLAIN.fullmatch(origin)
    if plain is None or len(plain[1]) > 63:
        return None
    site = site_key.site_of(plain[1])
    if len(site_key.of_origins) >= MAX_ORIGINS:
        site_key.of_origins.clear()
    site_key.of_origins[origin] = site
    return site
