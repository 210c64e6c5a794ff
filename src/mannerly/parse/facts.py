"""What the elements of a page say: links, title, description, headings."""

from collections.abc import Iterable
from typing import TypeAlias

from selectolax.lexbor import LexborNode

from mannerly.parse.blocks import line
from mannerly.parse.contract import (
    MAX_HEADING,
    MAX_HEADINGS,
    MAX_TOLD,
    TOLD,
    Heading,
    Href,
    LinkKind,
    Parsed,
)
from mannerly.parse.refresh import refresh_target
from mannerly.parse.robots_tags import directives

_MAX_TITLE = 1_000
_MAX_HREF = 16_384
_UNSEEN = frozenset(("script", "style", "noscript", "noframes", "noembed"))
_FRAMES = frozenset(("frame", "iframe"))
_REL_KINDS = {
    "canonical": LinkKind.CANONICAL,
    "next": LinkKind.NEXT,
    "prev": LinkKind.NEXT,
    "alternate": LinkKind.ALTERNATE,
}
Attributes: TypeAlias = dict[str, str | None]
"""All of a node's at once: to ask for one that is not there takes longer."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


class PageFacts:
    """Fills a `Parsed` with what its nodes say, in document order."""

    def __init__(self, page: Parsed, agent: str, max_links: int) -> None:
        self.page = page
        self.max_links = max_links
        self._agent = agent.lower()
        self._unseen: list[LexborNode] = []
        self._headings: list[tuple[int, LexborNode]] = []

    def read(self, nodes: Iterable[LexborNode]) -> list[LexborNode]:
        """Gives back those nodes that no reader sees."""
        hrefs, max_links = self.page.links, self.max_links
        for node in nodes:
            tag = node.tag
            if tag == "a":
                attributes = node.attributes
                href = attributes.get("href")
                if len(attributes) > 1 and (rel := attributes.get("rel")):
                    self._add_marked(href, rel, LinkKind.ANCHOR)
                elif not href or href in hrefs or len(href) > _MAX_HREF or "\f" in href:
                    self._add(href, LinkKind.ANCHOR)
                elif len(hrefs) < max_links:
                    hrefs[href] = None
            elif tag in _HEADINGS:
                self._read_heading(node, tag)
            elif tag in _UNSEEN:
                self._unseen.append(node)
            elif tag == "title":
                self.read_title(node.text_lexbor())
            else:
                self.see(tag or "", node.attributes)
                if tag in _FRAMES:
                    self._unseen.append(node)  # what is in it is for who knows no frames
        unseen, self._unseen = self._unseen, []
        return unseen

    def read_headings(self) -> None:
        """Once the nodes that are not seen are gone."""
        for level, node in self._headings:
            if text := line(node.text_lexbor(), MAX_HEADING):
                self.page.headings.append(Heading(level, text))
        self._headings = []

    def read_title(self, raw: str) -> None:
        """The first that has any words counts."""
        self.page.title = self.page.title or line(raw, _MAX_TITLE)

    def add_anchors(self, anchors: dict[str, str]) -> None:
        """The words of links. Where one is repeated, the first with words."""
        known = self.page.anchors
        for href, words in anchors.items():
            if not known.get(href) and (href in known or len(known) < self.max_links):
                known[href] = words

    def _read_heading(self, node: LexborNode, tag: str) -> None:
        headings = self._headings
        # A node is given for each selector that it matches, so one with a `href` comes twice.
        again = headings and headings[-1][1].mem_id == node.mem_id
        if not again and len(headings) + len(self.page.headings) < MAX_HEADINGS:
            headings.append((_HEADINGS[tag], node))

    def see(self, tag: str, attributes: Attributes) -> None:
        """An element that says something by its attributes alone."""
        if tag == "meta":
            self._read_meta(attributes)
        elif tag == "link":
            self._read_link(attributes)
        elif tag == "a":
            self._add_marked(attributes.get("href"), attributes.get("rel"), LinkKind.ANCHOR)
        elif tag in _FRAMES:
            self._add(attributes.get("src"), LinkKind.FRAME)
        elif tag == "area":
            self._add_marked(attributes.get("href"), attributes.get("rel"), LinkKind.AREA)
        elif tag == "base" and not self.page.base:
            base = (attributes.get("href") or "").replace("\f", "")
            self.page.base = base.strip()[:_MAX_HREF]

    def _read_link(self, attributes: Attributes) -> None:
        rel = (attributes.get("rel") or "").lower()
        kinds = [_REL_KINDS[word] for word in rel.split() if word in _REL_KINDS]
        if not kinds or "stylesheet" in rel:
            return
        media_type = (attributes.get("type") or "").lower()
        if media_type and "html" not in media_type:
            return  # feeds and the like
        href = attributes.get("href")
        if kinds[0] is LinkKind.CANONICAL and href and not self.page.canonical:
            self.page.canonical = href.replace("\f", "").strip()[:_MAX_HREF]
        self._add(href, kinds[0])

    def _read_meta(self, attributes: Attributes) -> None:
        content = attributes.get("content")
        if not content:
            return
        page = self.page
        name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
        if name in ("robots", self._agent):
            tags = directives(content)
            page.noindex |= tags.noindex
            page.nofollow |= tags.nofollow
            page.noarchive |= tags.noarchive
            page.unavailable_after = page.unavailable_after or tags.unavailable_after
        elif name in TOLD:
            if name not in page.told and (words := line(content, MAX_TOLD)):
                page.told[name] = words
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            self._add(refresh_target(content), LinkKind.REFRESH)

    def _add_marked(self, href: str | None, rel: str | None, kind: LinkKind) -> None:
        rels = (rel or "").lower().split()
        ugc = "ugc" in rels
        sponsored = "sponsored" in rels
        nofollow = ugc or sponsored or "nofollow" in rels
        self._add(href, kind, nofollow=nofollow, ugc=ugc, sponsored=sponsored)

    def _add(
        self,
        href: str | None,
        kind: LinkKind,
        *,
        nofollow: bool = False,
        ugc: bool = False,
        sponsored: bool = False,
    ) -> None:
        if not href or len(href) > _MAX_HREF:
            return
        href = href.replace("\f", "")  # put there by `blocks`
        links = self.page.links
        if href not in links:
            if len(links) < self.max_links:
                plain = kind is LinkKind.ANCHOR and not nofollow
                links[href] = None if plain else Href(href, nofollow, kind, ugc, sponsored)
        elif (known := links[href]) is not None:
            links[href] = Href(
                href,
                known.nofollow and nofollow,
                known.kind,
                known.ugc and ugc,
                known.sponsored and sponsored,
            )
