"""The web itself: what is at a URL, what it links to, and whether a polite crawler may ask for it.

Everything is a pure function of the spec, the URL and the attempt; a bounded cache of sites is all
that is remembered. Deriving a site or a page does not depend on how many there are.
"""

import math

from mannerly.simweb import encodings, robots, sitemaps, traps
from mannerly.simweb.answer import Answer, Behaviour, Fixed, Kind, Link
from mannerly.simweb.chance import draw, unit
from mannerly.simweb.documents import HtmlPage, Library
from mannerly.simweb.files import MAKERS
from mannerly.simweb.graph import Graph
from mannerly.simweb.names import index_of
from mannerly.simweb.pages import FILE_TYPES, Page, Pages
from mannerly.simweb.redirects import (
    LAST_HOP,
    chained,
    looped,
    sent_elsewhere,
    sent_on,
    without_hop,
)
from mannerly.simweb.site import Homes, RobotsKind, Site, derive
from mannerly.simweb.spec import WebSpec

_CACHED_SITES = 50_000
_SETTLED = 1_000
"""An attempt by which every busy page has answered."""


class Web:
    """One simulated web."""

    def __init__(self, spec: WebSpec) -> None:
        self.spec = spec
        self._salt = draw(spec.seed, b"a simulated web")
        self._sites: dict[int, Site] = {}
        self.home = Homes(spec, self._salt).url
        """`home(index)` is the home page of a site."""
        self.pages = Pages(spec)
        self.graph = Graph(spec, self.pages, self.home, self.site)
        self._library = Library(spec, self.graph)

    def site(self, index: int) -> Site:
        """Site number `index`, from 0."""
        site = self._sites.get(index)
        if site is None:
            site = derive(self.spec, self._salt, index)
            if len(self._sites) >= _CACHED_SITES:
                self._sites.clear()
            self._sites[index] = site
        return site

    def site_at(self, host: str) -> Site | None:
        """The site that a host belongs to; None if that host does not exist."""
        index = index_of(self._salt, self.spec.sites, host)
        if index is None:
            return None
        site = self.site(index)
        return site if host in site.hosts else None

    def warm_up(self) -> None:
        """Make what the first body would have to wait for."""
        assert self._library.press.passage_mean > 0

    def answer(self, url: str, attempt: int = 0) -> Answer:
        """What is answered to a GET of a canonical URL. `attempt` counts from 0."""
        scheme, host, target = split(url)
        site = self.site_at(host)
        if site is None:
            return Answer(Kind.UNKNOWN_HOST, 404, content=_note("Unknown host"))
        answer = self._answer(site, scheme, host, target, attempt)
        if site.latency_s:
            answer.latency_s = site.latency_s * _lateness(unit(draw(site.salt, url.encode())))
        answer.keep_alive = site.keep_alive
        answer.chunked = site.chunked
        return answer

    def links(self, url: str) -> list[str]:
        """The links a polite crawler follows from a URL, its redirect's target included."""
        answer = self.answer(url, _SETTLED)
        return [answer.location] if answer.location else answer.links

    def page_links(self, url: str) -> list[Link]:
        """All links of a page as they are written, those not to be followed included."""
        return self.answer(url, _SETTLED).content.links()

    def allowed(self, url: str) -> bool:
        """May the agent `mannerly` ask for this URL? No where robots.txt cannot be read."""
        scheme, host, target = split(url)
        site = self.site_at(host)
        if site is None or target == "/robots.txt":
            return True
        if site.behaviour is not Behaviour.WHOLE or (scheme == "https" != site.scheme):
            return False
        return robots.verdict(site.robots_of(host), target)

    def crawl_delay_s(self, url: str) -> float:
        """The crawl-delay in the robots.txt that governs a URL, 0 if it has none."""
        _, host, _ = split(url)
        site = self.site_at(host)
        return robots.crawl_delay_s(self.spec, site, host) if site is not None else 0.0

    def sitemap(self, url: str) -> str:
        """The sitemap that the robots.txt of a URL's host names, '' if it names none."""
        _, host, _ = split(url)
        site = self.site_at(host)
        return robots.named_sitemap(site, host) if site is not None else ""

    def _answer(self, site: Site, scheme: str, host: str, target: str, attempt: int) -> Answer:
        if scheme == "https" and site.scheme == "http":
            return Answer(Kind.UNSECURED, 0, behaviour=Behaviour.NO_TLS)
        if site.behaviour is Behaviour.STALL:
            return Answer(Kind.STALLED, 0, behaviour=Behaviour.STALL)
        if site.behaviour is Behaviour.CLOSE:
            return Answer(Kind.CLOSED, 0, behaviour=Behaviour.CLOSE)
        if scheme != site.scheme:
            return sent_on(301, f"https://{host}{target}")
        if target == "/robots.txt" and (
            host != site.other_host or site.robots[0] is RobotsKind.MOVED
        ):
            return robots.answer(self.spec, site, host)
        if host == site.other_host:
            return sent_on(301, f"{site.origin}{target}")
        if (found := sitemaps.answer(self.pages, site, host, target)) is not None:
            return found
        if host == site.host and (links := traps.links(site, target)) is not None:
            return Answer(Kind.TRAP, 200, content=self._library.trap(site, target, links))
        plain, hop = without_hop(target)
        page = self.pages.find(site, host, plain)
        if page is None or hop > LAST_HOP.get(page.kind, 0):
            return _missing()
        return self._page(site, page, attempt, hop)

    def _page(self, site: Site, page: Page, attempt: int, hop: int) -> Answer:
        kind = page.kind
        if kind is Kind.INSIDE:
            return sent_elsewhere(page, self.pages.url(site, (page.key >> 40) % site.linked))
        if kind is Kind.OUTSIDE:
            return sent_elsewhere(page, self.graph.elsewhere(page.key), Kind.OUTSIDE)
        if kind is Kind.CHAIN:
            return chained(self.pages, site, page, hop)
        if kind is Kind.LOOP:
            return looped(page, hop)
        if kind is Kind.MISSING:
            return _missing()
        if kind is Kind.GONE:
            return Answer(Kind.GONE, 410, content=_note("Gone"))
        if kind is Kind.FAILING:
            return Answer(Kind.FAILING, 500, content=_note("Something broke"))
        if kind is Kind.STALLED:
            return Answer(Kind.STALLED, 0, behaviour=Behaviour.STALL)
        if kind is Kind.FILE:
            suffix, content_type = FILE_TYPES[(page.key >> 44) % len(FILE_TYPES)]
            made = Fixed(lambda: MAKERS[suffix](page.key))
            return Answer(Kind.FILE, 200, content_type, made)
        if kind is Kind.BUSY and attempt <= (page.key >> 40) % 3:
            return _busy(page.key)
        return self._html(site, page)

    def _html(self, site: Site, page: Page) -> Answer:
        content = self._library.page(site, page)
        answer = Answer(page.kind, 200, content=content)
        _mark(answer, content)
        if page.kind is Kind.ENCODED:
            answer.content_type = encodings.content_type(encodings.encoding_of(page.key))
        elif page.kind is Kind.STOPPED:
            answer.behaviour = Behaviour.STOP
        elif page.kind is Kind.CUT:
            answer.behaviour = Behaviour.CUT
        return answer


def split(url: str) -> tuple[str, str, str]:
    """Scheme, host (without port) and path with query of a canonical URL."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return scheme, host.partition(":")[0], slash + path


def _lateness(chance: float) -> float:
    """Exponential with the mean 1, but cut off at 5: late answers, not endless ones."""
    return min(5.0, -math.log1p(-chance))


def _mark(answer: Answer, content: HtmlPage) -> None:
    said = content.in_header or content.in_meta
    if not said:
        return
    answer.noindex = "noindex" in said or said == "none"
    answer.nofollow = "nofollow" in said or said == "none"
    if content.in_header:
        answer.extra = (("X-Robots-Tag", content.in_header),)


def _busy(key: int) -> Answer:
    status = 429 if key >> 50 & 1 else 503
    wait_s = 1 + (key >> 51) % 3
    answer = Answer(Kind.BUSY, status, content=_note("Busy, come back later"))
    if key >> 60 & 1:
        answer.retry_date_s = float(wait_s)
    else:
        answer.extra = (("Retry-After", str(wait_s)),)
    return answer


def _missing() -> Answer:
    return Answer(Kind.MISSING, 404, content=_note("Not found"))


def _note(text: str) -> Fixed:
    page = f"<!doctype html><title>{text}</title><h1>{text}</h1><p>Sorry.</p>\n".encode()
    return Fixed(lambda: page)
