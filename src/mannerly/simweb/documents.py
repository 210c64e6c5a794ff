"""HTML pages as contents: links and marks are drawn from the page's key, the body put together."""

import math
from functools import cached_property
from html import escape
from statistics import NormalDist

from mannerly.simweb import encodings, traps
from mannerly.simweb.answer import Kind, Link
from mannerly.simweb.chance import draw, unit
from mannerly.simweb.graph import Drawn, Graph
from mannerly.simweb.pages import Page
from mannerly.simweb.press import Marks, Press, Sheet, head
from mannerly.simweb.site import Site, Trap
from mannerly.simweb.spec import WebSpec
from mannerly.simweb.words import WORDS

_NORMAL = NormalDist()
_MARKS = ("noindex", "nofollow", "noindex, nofollow", "none")


class Library:
    """Makes the contents of one web's pages. The press is started when the first body is made."""

    def __init__(self, spec: WebSpec, graph: Graph) -> None:
        self.spec = spec
        self.graph = graph

    @cached_property
    def press(self) -> Press:
        return Press(self.spec.seed)

    def page(self, site: Site, page: Page) -> "HtmlPage":
        return HtmlPage(self, site, page)

    def trap(self, site: Site, target: str, links: Drawn) -> "TrapPage":
        return TrapPage(self, site, target, links)

    def size(self, key: int) -> int:
        """The size of a body, lognormal."""
        spread = self.spec.body_spread * _NORMAL.inv_cdf(max(1e-9, unit(key)))
        return int(min(self.spec.body_max, math.exp(self.spec.body_mu + spread)))


class HtmlPage:
    """The `Content` of an ordinary page."""

    def __init__(self, library: Library, site: Site, page: Page) -> None:
        self._library = library
        self._site = site
        self._page = page
        said = self._said()
        in_header = page.key >> 59 & 3 == 0
        self.in_header = said if in_header else ""
        """What its X-Robots-Tag says."""
        self.in_meta = "" if in_header else said
        """What its robots meta tag says."""

    def links(self) -> list[Link]:
        return self._drawn().rows()

    def plain(self) -> bytes:
        if self._page.kind is Kind.ENCODED:
            encoding = encodings.encoding_of(self._page.key)
            return encodings.document(encoding, self._page.key, self._marks(), self._drawn())
        return b"".join([sheet.plain for sheet in self._sheets()])

    def gzipped(self) -> bytes | None:
        if self._page.kind is Kind.ENCODED:
            return None
        return self._library.press.gzipped(self._sheets())

    def _drawn(self) -> Drawn:
        page = self._page
        drawn = self._library.graph.draw(self._site, page.number, page.url)
        if page.number == 0 and self._site.trap is not Trap.NONE:
            url = traps.entrance(self._site)
            drawn.urls.append(url)
            drawn.hrefs.append(escape(url))
        return drawn

    def _sheets(self) -> list[Sheet]:
        key = draw(self._page.key, b"body")
        top = head(self._marks(), self._drawn(), _lead(key))
        return self._library.press.sheets(top, key, self._library.size(key))

    def _is_leaf(self) -> bool:
        return self._site.hubs <= self._page.number < self._site.linked

    def _said(self) -> str:
        """Only leaves are marked, so that the tree stays whole."""
        share = self._library.spec.marked_pages
        if share and self._is_leaf() and unit(draw(self._page.key, b"marks")) < share:
            return _MARKS[self._page.key >> 56 & 3]
        return ""

    def _marks(self) -> Marks:
        page, site = self._page, self._site
        canonical = page.url
        if (
            self._is_leaf()
            and unit(draw(page.key, b"canonical")) < self._library.spec.duplicate_pages
        ):
            canonical = site.home
        name = page.url.rpartition("/")[2].partition(".")[0].replace("-", " ") or site.domain
        title = f"{name.replace('%C3%A9', '&eacute;')} &ndash; {site.domain}"
        return Marks(title, site.language, canonical, self.in_meta)


class TrapPage:
    """The `Content` of a trap's page: few links and little text."""

    def __init__(self, library: Library, site: Site, target: str, links: Drawn) -> None:
        self._library = library
        self._site = site
        self._target = target
        self._links = links

    def links(self) -> list[Link]:
        return self._links.rows()

    def plain(self) -> bytes:
        return b"".join([sheet.plain for sheet in self._sheets()])

    def gzipped(self) -> bytes | None:
        return self._library.press.gzipped(self._sheets())

    def _sheets(self) -> list[Sheet]:
        key = draw(self._site.salt, self._target.encode())
        url = f"{self._site.origin}{self._target.replace('&', '&amp;')}"
        marks = Marks(f"More of {self._site.domain}", self._site.language, url, "")
        return self._library.press.sheets(head(marks, self._links, _lead(key)), key, 8_000)


def _lead(key: int) -> str:
    """A sentence of a page's own."""
    return " ".join([WORDS[(key >> step) % 160] for step in range(0, 48, 3)]) + f" {key:x}."
