"""The links of a page: a tree that makes the whole site reachable, and chance on top of it.

Page n's children in the tree are the pages n * fanout + 1 and following, so every page is within
log(pages) clicks of the home page. The rest of the inside links go anywhere in the site; the
outside ones mostly to home pages, and to low numbers (of sites and of pages) much more often than
to high ones: that is what makes some sites popular.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from mannerly.simweb.answer import Link
from mannerly.simweb.chance import draw, stream, unit
from mannerly.simweb.names import dead_host
from mannerly.simweb.pages import Pages
from mannerly.simweb.site import Site
from mannerly.simweb.spec import WebSpec

_RANKS = (*[0] * 50, *[1] * 4, *[2] * 3, *[3] * 2, 4, 5, 6, 7, 7)
"""Which page of another site is linked to, by six bits of chance: mostly the home page."""
_CACHED_URLS = 1 << 17


class Drawn(NamedTuple):
    """A page's links as columns, which is cheaper than as rows."""

    urls: list[str]
    hrefs: list[str]
    """How each is written, as attribute text."""
    nofollow: frozenset[int]
    """The positions of those that are not to be followed."""

    def rows(self) -> list[Link]:
        return [
            Link(url, href, at in self.nofollow)
            for at, (url, href) in enumerate(zip(self.urls, self.hrefs, strict=True))
        ]


class Graph:
    """Draws the links of one web's pages."""

    def __init__(
        self, spec: WebSpec, pages: Pages, home: Callable[[int], str], site: Callable[[int], Site]
    ) -> None:
        self._spec = spec
        self._home = home
        self._pages = pages
        self._site = site
        self._popular = lru_cache(maxsize=_CACHED_URLS)(self._draw_popular)

    def draw(self, site: Site, number: int, base: str) -> Drawn:
        """The links of page `number`, as written on a page whose URL is `base`."""
        spec = self._spec
        numbers = stream(site.salt, number, spec.links_max + 1)
        chance = numbers[0]
        count = spec.links_min + chance % (spec.links_max - spec.links_min + 1)
        linked = site.linked
        first = number * spec.fanout + 1
        wanted = list(range(first, min(first + spec.fanout, linked)))
        if number:
            wanted.append(0)
        tree = len(wanted)
        inside = count - int(count * spec.outside_links) if linked > 1 else 0
        wanted += [at % linked for at in numbers[1 : 1 + max(0, inside - tree)]]
        urls = self._pages.urls(site, wanted)
        outside = self._outside(numbers[1 + len(urls) : 1 + count])
        self._mislead(outside, chance)
        urls += outside
        hrefs = urls.copy()
        slash = base.find("/", 8)
        if chance >> 16 & 1:  # half of the pages write links to their own host without it
            origin = base[: slash + 1]
            hrefs = [url[slash:] if url.startswith(origin) else url for url in urls]
        for at in _positions(draw(chance, b"odd"), spec.odd_links, len(urls)):
            hrefs[at] = odd_spelling(urls[at], base, chance + at)
        unfollowed = _positions(draw(chance, b"nofollow"), spec.nofollow_links, len(urls) - tree)
        return Drawn(urls, hrefs, frozenset(tree + at for at in unfollowed))

    def elsewhere(self, number: int) -> str:
        """A URL of some site, popular ones first."""
        chance = (number >> 32) / 4294967296.0
        index = int(self._spec.sites * chance * chance * chance)
        return self._popular(index * 8 + _RANKS[number & 63])

    def _draw_popular(self, code: int) -> str:
        """Page `code % 8` of site `code // 8`, or its last one. Called through a cache."""
        index, number = divmod(code, 8)
        if number == 0:
            return self._home(index)
        site = self._site(index)
        return self._pages.url(site, min(number, site.linked - 1))

    def _outside(self, numbers: tuple[int, ...]) -> list[str]:
        sites, popular = self._spec.sites, self._popular
        urls = []
        for number in numbers:
            chance = (number >> 32) / 4294967296.0
            index = int(sites * chance * chance * chance)
            urls.append(popular(index * 8 + _RANKS[number & 63]))
        return urls

    def _mislead(self, urls: list[str], chance: int) -> None:
        """Write some links to https sites with http, and let some lead nowhere."""
        for at in _positions(draw(chance, b"upgraded"), self._spec.upgraded_links, len(urls)):
            if urls[at].startswith("https:"):
                urls[at] = "http" + urls[at][5:]
        for at in _positions(draw(chance, b"dead"), self._spec.dead_links, len(urls)):
            urls[at] = f"http://{dead_host(chance >> 8)}/"


def _positions(salt: int, share: float, count: int) -> Iterator[int]:
    """Each position below `count` with the chance `share`, at a cost per position that is hit."""
    if share <= 0:
        return
    per_step = math.log1p(-min(share, 0.999999))
    at = -1
    while True:
        salt = draw(salt, b"next")
        at += 1 + int(math.log(unit(salt) or 1e-9) / per_step)
        if at >= count:
            return
        yield at


def odd_spelling(url: str, base: str, number: int) -> str:
    """One of the strange ways in which people write links. It resolves to `url`."""
    scheme, rest = url.split("//", 1)
    host, path = rest.split("/", 1)
    form = number % 7
    if form == 0:
        return f"{url}#part-{number & 7}"
    if form == 1:
        return f"{scheme}//{host.upper()}/{path}"
    if form == 2:
        return f"  {url}\n"
    if form == 3:
        return f"{scheme}//{host}:{443 if scheme == 'https:' else 80}/{path}"
    if form == 4:
        return f"{scheme}//{host}/gone/../{path}"
    if form == 5 and "%C3%A9" in path:
        return url.replace("%C3%A9", "&eacute;")
    if base.startswith(f"{scheme}//{host}/"):
        # Climb to the top from the directory of the base.
        return "../" * (base.partition("?")[0].count("/") - 3) + "./" + path
    if base.startswith(scheme):
        return f"//{host}/{path}"
    return f"{scheme}//{host}/./{path}"
