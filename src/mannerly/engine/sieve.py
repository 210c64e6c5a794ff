"""The sieve: links on their way from a page to the frontier.

It drops what must not be followed (depth, traps, exclusions) and counts it by cause, and it drops
what this process knows that the frontier has. Known is only what was *committed*: a hash enters the
cache after its `add` returned, so a crash between the two can never make a URL disappear.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from mannerly.engine.plan import EnginePlan
from mannerly.errors import UrlError
from mannerly.model import SITEMAPS, NewUrl, Priority, QueuedUrl, Source
from mannerly.url import (
    Exclusions,
    LeftOut,
    QueryVariants,
    Resolved,
    SiteKey,
    Standing,
    YieldGuard,
    canonical,
    fresh,
    host_of,
    resolve,
)

_new = tuple.__new__
"""Makes a `NewUrl` at half the price of calling it."""


class KnownHashes:
    """A direct-mapped cache of 64-bit hashes: fixed size, forgets, never wrong about "known".

    One slot per hash, by its low bits; a newcomer replaces what was there. 8 bytes a slot.
    """

    def __init__(self, bits: int = 20) -> None:
        self._mask = (1 << bits) - 1
        self._slots = array("q", bytes(8 << bits))
        self._slots[0] = 1  # belongs elsewhere, so that 0 is not known from the start

    def __contains__(self, url_hash: int) -> bool:
        return self._slots[url_hash & self._mask] == url_hash

    @property
    def slots(self) -> "array[int]":
        """For who looks up many at once: a power of two of hashes, each at the place of its low
        bits."""
        return self._slots

    def remember(self, hashes: Iterable[int]) -> None:
        slots, mask = self._slots, self._mask
        for url_hash in hashes:
            slots[url_hash & mask] = url_hash


class Sieve:
    def __init__(self, plan: EnginePlan, site_key: SiteKey, exclusions: Exclusions) -> None:
        self._plan = plan
        self._site_key = site_key
        self._exclusions = exclusions
        self._traps = plan.traps
        self._variants = QueryVariants(plan.max_query_variants) if plan.max_query_variants else None
        self.guard = YieldGuard() if plan.yield_guard else None
        self.left_out: Counter[LeftOut] = Counter()
        """Links that were not followed, by cause. With repeats: what is left out is not
        remembered."""
        self.known = KnownHashes()

    def resolve(
        self,
        base: str,
        hrefs: list[str],
        base_href: str = "",
        *,
        as_it_is: bool = False,
        positions: list[int] | None = None,
    ) -> list[Resolved]:
        """The links of the page at `base`, whose `<base>` says `base_href`; `as_it_is`: with all
        their parameters. Where among `hrefs` they came from is added to `positions`."""
        return resolve(
            self._base(base, base_href),
            hrefs,
            self._site_key,
            max_links=self._plan.max_links,
            max_length=self._plan.max_url_length,
            parameters=None if as_it_is else self._plan.parameters,
            left_out=self.left_out,
            positions=positions,
        )

    def fresh(self, base: str, hrefs: list[str], base_href: str = "") -> tuple[int, list[Resolved]]:
        """As `resolve`: how many links there are, and those of them that are not known."""
        return fresh(
            self._base(base, base_href),
            hrefs,
            self._site_key,
            self.known.slots,
            max_links=self._plan.max_links,
            max_length=self._plan.max_url_length,
            parameters=self._plan.parameters,
            left_out=self.left_out,
        )

    def unknown(self, found: list[Resolved]) -> list[Resolved]:
        return [link for link in found if link.hash not in self.known]

    def links(
        self, found: list[Resolved], page: QueuedUrl, source: Source = Source.LINK
    ) -> list[NewUrl]:
        """What goes to the frontier of a page's links that are not known, or of what a sitemap
        lists."""
        depth = page.depth + 1
        if not self._plan.follow:
            return []
        if 0 <= self._plan.max_depth < depth:
            if found:
                self.left_out[LeftOut.DEPTH] += len(found)
            return []
        return self._links(found, depth, page, source)

    def canonical(self, named: Resolved, page: QueuedUrl) -> list[NewUrl]:
        """The URL that a page names as its own: as deep as the page, like a redirect."""
        return self._links(self.unknown([named]), page.depth, page) if self._plan.follow else []

    def sitemaps(self, found: list[Resolved], page: QueuedUrl, source: Source) -> list[NewUrl]:
        """Sitemaps go before links and are as deep as what named them: they are no pages."""
        if not self._plan.follow:
            return []
        return [
            NewUrl(it.site, it.hash, it.url, page.depth, Priority.SITEMAP, source, page.hash)
            for it in self.unknown(found)
            if self._may_follow(it)
        ]

    def _base(self, url: str, base_href: str) -> str:
        if base_href:
            with suppress(UrlError):
                return canonical(base_href, url)
        return url

    def _links(
        self,
        found: list[Resolved],
        depth: int,
        page: QueuedUrl,
        source: Source = Source.LINK,
    ) -> list[NewUrl]:
        guard, referrer = self.guard, page.hash
        links = []
        for link in found:
            url, hash_, site = link
            if (cause := self._cause(url, site)) is not None:
                self.left_out[cause] += 1
                continue
            priority = Priority.LINK
            if guard is not None and (standing := guard.standing(site, url)):
                if standing is Standing.LEFT_OUT:
                    self.left_out[LeftOut.YIELD] += 1
                    continue
                priority = Priority.PUT_OFF
            links.append(_new(NewUrl, (site, hash_, url, depth, priority, source, referrer)))
        return links

    def redirect(self, target: Resolved, page: QueuedUrl, priority: int) -> list[NewUrl]:
        """A redirect is as deep as what it came from, and a sitemap stays one within its site."""
        if not self._may_follow(target):
            return []
        own = self._site_key.site_of(host_of(page.url))
        is_sitemap = page.source in SITEMAPS and target.site == own
        return [
            NewUrl(
                target.site,
                target.hash,
                target.url,
                page.depth,
                priority,
                page.source if is_sitemap else Source.REDIRECT,
                page.hash,
            )
        ]

    def excluded(self, url: str, site: str) -> bool:
        exclusions = self._exclusions
        return not exclusions.empty and exclusions.covers(url, host_of(url), site)

    def _may_follow(self, link: Resolved) -> bool:
        cause = self._cause(link.url, link.site)
        if cause is not None:
            self.left_out[cause] += 1
        return cause is None

    def _cause(self, url: str, site: str) -> LeftOut | None:
        if not self._exclusions.empty and self.excluded(url, site):
            return LeftOut.EXCLUDED
        cause = self._traps.cause(url) if self._traps is not None else None
        if cause is None and self._variants is not None and "?" in url:
            return LeftOut.VARIANTS if self._variants.too_many(url) else None
        return cause
