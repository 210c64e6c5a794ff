"""The pages of a site: number to URL and back, and what is at each. All O(1).

A page's path ends with its number in hexadecimal, so a URL names its page; the rest of the path is
drawn from the number, so a URL that was made up names none. Page 0 is the home page.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.simweb.answer import Kind
from mannerly.simweb.chance import numbered
from mannerly.simweb.site import Site
from mannerly.simweb.spec import WebSpec
from mannerly.simweb.words import SECTIONS, SLUGS

FILE_TYPES = (
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("json", "application/json"),
    ("txt", "text/plain; charset=utf-8"),
    ("xml", "application/xml"),
)

# Tables instead of draws, because every link of every page comes through here.
_NAMES = [f"{section}/{slug}" for slug in SLUGS for section in SECTIONS]
# How a leaf's path ends, by ten bits of its key: the paths that robots.txt rules are about
# (robots.py), and near misses of them. None stands for a path that begins otherwise.
_ENDS: list[str | None] = [
    *[None] * 52,
    *[".print"] * 16,
    *[".print.html"] * 8,
    *["?sort=asc"] * 16,
    *[""] * 400,
    *[".html"] * 532,
]
_OPEN = 12
"""Of the first 52, so many are under /private/open/, the others under /private/."""

_SMALL_SITE = 100
_KEPT_SITES = 10_000

_PATH = re.compile(r"/(?:[a-z/]+/)?[a-z%A-Z0-9-]+-([0-9a-f]+)(?:\.[a-z]+)*(?:\?sort=asc)?")


class Page(NamedTuple):
    """What is known of a page before anything is rendered."""

    number: int
    key: int
    """What everything else about it is drawn from."""
    url: str
    kind: Kind


class Pages:
    """The rules by which pages are drawn in one web."""

    def __init__(self, spec: WebSpec) -> None:
        shares = (
            (Kind.INSIDE, spec.inside_redirects),
            (Kind.OUTSIDE, spec.outside_redirects),
            (Kind.CHAIN, spec.redirect_chains),
            (Kind.LOOP, spec.redirect_loops),
            (Kind.MISSING, spec.missing_pages),
            (Kind.GONE, spec.gone_pages),
            (Kind.BUSY, spec.busy_pages),
            (Kind.FAILING, spec.failing_pages),
            (Kind.FILE, spec.files),
            (Kind.ENCODED, spec.encoded_pages),
            (Kind.STALLED, spec.stalled_pages),
            (Kind.STOPPED, spec.stopped_pages),
            (Kind.CUT, spec.cut_pages),
        )
        self._limits = [int(limit * 0x10000) for limit in accumulate(s for _, s in shares)]
        self._kinds = [*(kind for kind, _ in shares), Kind.PAGE]

        self._kept: dict[int, list[str]] = {}

    def page(self, site: Site, number: int) -> Page:
        key = numbered(site.salt, number)
        return Page(number, key, self.url(site, number), self._kind(site, number, key))

    def url(self, site: Site, number: int) -> str:
        """The page's canonical URL."""
        return self.urls(site, (number,))[0]

    def urls(self, site: Site, numbers: Iterable[int]) -> list[str]:
        """The canonical URLs of pages, in order. The hot path of every link.

        All URLs of a small site are kept for a while, since each is linked to from most others.
        """
        if site.pages > _SMALL_SITE:
            return self._draw_urls(site, numbers)
        known = self._kept.get(site.index)
        if known is None:
            known = self._draw_urls(site, range(site.pages))
            if len(self._kept) >= _KEPT_SITES:
                self._kept.clear()
            self._kept[site.index] = known
        return [known[number] for number in numbers]

    def _draw_urls(self, site: Site, numbers: Iterable[int]) -> list[str]:
        salt, home, hubs, linked = site.salt, site.home, site.hubs, site.linked
        subhosts, ordinary = site.subhosts, self._limits[-1]
        urls = []
        for number in numbers:
            key = xxh3_64_intdigest(number.to_bytes(8, "little"), salt)
            if number < hubs or number >= linked:
                url = f"{home}{_NAMES[key & 1023]}-{number:x}.html" if number else home
            elif (
                (key >> 20 & 0xFFFF) >= ordinary
                and (end := _ENDS[key >> 10 & 1023]) is not None
                and (not subhosts or key >> 38 & 7)
            ):
                url = f"{home}{_NAMES[key & 1023]}-{number:x}{end}"
            else:
                url = self._rare_url(site, number, key)
            urls.append(url)
        return urls

    def _rare_url(self, site: Site, number: int, key: int) -> str:
        """The URL of a leaf of any kind, on any host."""
        host = site.host
        if site.subhosts and key >> 38 & 7 == 0:
            host = site.subhosts[(key >> 41) % len(site.subhosts)]
        slug = SLUGS[key >> 4 & 63]
        if self._kind(site, number, key) is Kind.FILE:
            suffix = FILE_TYPES[(key >> 44) % len(FILE_TYPES)][0]
            return f"{site.scheme}://{host}/files/{slug}-{number:x}.{suffix}"
        end = _ENDS[key >> 10 & 1023]
        if end is None:
            folder = "private/open" if (key >> 10 & 1023) < _OPEN else "private"
            return f"{site.scheme}://{host}/{folder}/{slug}-{number:x}.html"
        return f"{site.scheme}://{host}/{_NAMES[key & 1023]}-{number:x}{end}"

    def find(self, site: Site, host: str, target: str) -> Page | None:
        """The page at a path of a host; None if there is none."""
        if target == "/":
            return self.page(site, 0) if host == site.host else None
        match = _PATH.fullmatch(target)
        if match is None or len(match[1]) > 8:
            return None
        number = int(match[1], 16)
        if not 0 < number < site.pages:
            return None
        page = self.page(site, number)
        return page if page.url == f"{site.scheme}://{host}{target}" else None

    def _kind(self, site: Site, number: int, key: int) -> Kind:
        if number < site.hubs or number >= site.linked:
            return Kind.PAGE
        return self._kinds[bisect_right(self._limits, key >> 20 & 0xFFFF)]
