"""Sitemaps: what a site's robots.txt names is read for the URLs that it lists.

A sitemap is a URL in its site's queue like any other: robots.txt, delay, exclusions and the address
guard hold for it. Only what is made of its body differs: it is no page, and what it lists goes to
the frontier, within the frontier's caps. A site speaks for itself alone: a sitemap on another site,
and what a sitemap lists of other sites, is left out. An index names sitemaps and no other indexes,
as the protocol has it, so there is no depth to lose oneself in.
"""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched
from mannerly.fetch.decode import decode
from mannerly.model import NewUrl, QueuedUrl, Source
from mannerly.parse.sitemap import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ENTRIES,
    OpenSitemap,
    SitemapKind,
    open_sitemap,
)
from mannerly.politeness.robots import RobotsRules
from mannerly.url import LeftOut, Resolved

USUAL = "/sitemap.xml"
SLICE = 200
"""Entries read before others get their turn: a few milliseconds' worth."""


class SitemapReader:
    def __init__(self, plan: EnginePlan, sieve: Sieve) -> None:
        self._plan = plan
        self._sieve = sieve
        # A decoded sitemap may be large; with one at a time there is one in memory.
        self._turn = asyncio.Lock()

    def named(self, rules: RobotsRules, origin: str, page: QueuedUrl, site: str) -> list[NewUrl]:
        """The sitemaps that a robots.txt names, which was read on the way to `page`."""
        if not self._plan.sitemaps:
            return []
        hrefs = list(rules.sitemaps)
        if not hrefs and self._plan.guess_sitemaps:
            hrefs = [origin + USUAL]
        found = self._sieve.resolve(origin + "/robots.txt", hrefs, as_it_is=True)
        return self._sieve.sitemaps(self._of_site(found, site), page, Source.SITEMAP)

    async def listed(
        self, fetched: Fetched, url: QueuedUrl, site: str
    ) -> AsyncIterator[list[NewUrl]]:
        """What the sitemap at `url` lists, a slice at a time."""
        async with self._turn:
            kind, entries, _ = self._opened(fetched, url)
            rest = islice(entries, MAX_ENTRIES)
            while locs := [entry.loc for entry in islice(rest, SLICE)]:
                found = self._of_site(self._sieve.resolve(url.url, locs), site)
                if kind is SitemapKind.INDEX:
                    yield self._sieve.sitemaps(found, url, Source.SITEMAP_PART)
                else:
                    yield self._sieve.links(self._sieve.unknown(found), url, Source.LISTED)
                await asyncio.sleep(0)

    def _opened(self, fetched: Fetched, url: QueuedUrl) -> OpenSitemap:
        decoded = decode(fetched.body, fetched.header(b"content-encoding"), MAX_BYTES)
        depth = MAX_DEPTH if url.source == Source.SITEMAP_PART else 0
        return open_sitemap(decoded.body, fetched.header(b"content-type"), depth=depth)

    def _of_site(self, found: list[Resolved], site: str) -> list[Resolved]:
        own = [link for link in found if link.site == site]
        if len(own) < len(found):
            self._sieve.left_out[LeftOut.FOREIGN] += len(found) - len(own)
        return own
