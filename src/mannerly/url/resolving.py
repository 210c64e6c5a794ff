"""Links of a page, resolved as a batch.

The same result as `canonical` for each link, at a third of the cost: the base is parsed once,
repeated references are dropped before they are parsed, and what depends only on the origin (is the
host sound, which site is it) is decided once per origin and page.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import can_ada
from xxhash import xxh3_64_intdigest

from mannerly.errors import UrlError
from mannerly.url.normal import MAX_SLACK, MAX_URL_LENGTH, host_of, serialised, trimmed
from mannerly.url.parameters import ParameterRules
from mannerly.url.site import SiteKey
from mannerly.url.traps import LeftOut

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


class Resolved(NamedTuple):
    """A link, ready for the frontier."""

    url: str
    hash: int
    site: str


def resolve(
    base: str,
    hrefs: Iterable[str],
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
    parsed_base = _parsed(base)
    site_of_origin = site_key.of_origins
    given: set[str] = {""}
    found: dict[str, Resolved] = {}
    longest_given = max_length * MAX_SLACK
    too_long = 0
    for position, href in enumerate(hrefs):
        reference = href.partition("#")[0]
        if reference in given:
            continue
        given.add(reference)
        if ":" in reference and reference.startswith(_NOT_CRAWLED):
            continue
        if len(reference) > longest_given:
            too_long += 1
            continue
        if odd := reference[-1] <= " ":
            reference = href  # white space is trimmed at the end of a URL, kept before a fragment
        try:
            try:
                url = (parsed_base + reference).href
            except (ValueError, TypeError):
                url = serialised(reference, base)
            if not url.startswith("http"):
                continue
            end = url.find("/", 8)
            origin = url[:end]
            site = site_of_origin.get(origin) or _site_if_plain(origin, site_key)
            if site is None or odd or url[-1] == "?":
                url = trimmed(url)
                site = site_key.site_of(host_of(url))
        except UrlError:
            continue
        if parameters is not None and ("?" in url or ";" in url):
            url = parameters.strip(url)
        if len(url) > max_length:
            too_long += 1
            continue
        if url in found:
            continue
        digest = xxh3_64_intdigest(url.encode())
        found[url] = _new(Resolved, (url, digest if digest < _HALF else digest - _WHOLE, site))
        if positions is not None:
            positions.append(position)
        if len(found) >= max_links:
            break
    if too_long and left_out is not None:
        left_out[LeftOut.LENGTH] += too_long
    return list(found.values())


def _parsed(base: str) -> Any:
    """None, to which nothing can be joined, for an `xn--` host that the library refuses: `resolve`
    turns to `serialised` then."""
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
