"""A page read a second time, by other code and another parser: the standard library's.

Nothing of Mannerly is used here. The rules are those that it documents: links of `a` and `area`,
frames, refreshes and `link` next, prev, canonical and alternate, unless they are marked nofollow;
visible text with blocks apart, without scripts and what the markup itself hides.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|g|i|img|input|ins|kbd|label|link"
    "|mark|meta|nobr|path|q|rb|rp|rt|ruby|s|samp|script|small|span|strike|strong|style|sub|sup|svg"
    "|time|tt|u|use|var|wbr"
)
VOID = re.compile("area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr")
UNSEEN = re.compile("script|style|noscript|noframes|noembed|iframe|title|template")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']*)", re.IGNORECASE)


MAX_TAGS = 310_000
"""Of a page with so many tags the end may not be read (`mannerly.parse.crop`)."""


@dataclass(slots=True)
class Page:
    hrefs: set[str] = field(default_factory=set)
    base: str = ""
    words: list[str] = field(default_factory=list)
    long: bool = False
    """There may be more of it than is read."""
    noindex: bool = False
    nofollow: bool = False

    def targets(self, url: str) -> set[str]:
        """What it leads to, without fragments."""
        if self.nofollow:
            return set()
        base = urljoin(url, self.base) if self.base else url
        found = set()
        for href in self.hrefs:
            try:
                found.add(urldefrag(urljoin(base, href.strip())).url)
            except ValueError:
                continue  # not a URL
        return found


def key(url: str) -> tuple[str, str, str]:
    """Host, path and query of a URL, however it is spelled."""
    parts = urlsplit(url)
    return (parts.hostname or "", unquote(parts.path) or "/", unquote(parts.query))


def read_html(body: bytes) -> Page:
    text = decoded(body)
    reader = _Reader()
    reader.feed(text)
    reader.close()
    page = reader.page
    page.words = "".join(reader.pieces).split()
    page.long = text.count("<") > MAX_TAGS
    return page


def decoded(body: bytes) -> str:
    named = _CHARSET.search(body[:1024])
    charset = named[1].decode("ascii", "replace").lower() if named else "utf-8"
    # What the web calls Latin-1 is Windows-1252.
    charset = {"iso-8859-1": "cp1252", "us-ascii": "cp1252"}.get(charset, charset)
    return body.decode(charset, "replace")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.pieces: list[str] = []
        self._hidden_by = ""
        """The element that hides what is read now, and how deep it is in others of its name."""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in reversed(attrs)}
        if self._hidden_by:
            self._depth += tag == self._hidden_by
        elif not VOID.fullmatch(tag) and (UNSEEN.fullmatch(tag) or _hidden(tag, attributes)):
            self._hidden_by, self._depth = tag, 1
        if not INLINE.fullmatch(tag):
            self.pieces.append("\n")
        self._read_link(tag, attributes)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # HTML knows no empty elements but the void ones: the slash means nothing.
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden_by:
            self._depth -= 1
            if not self._depth:
                self._hidden_by = ""
        if not INLINE.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden_by:
            self.pieces.append(data)

    def _read_link(self, tag: str, attributes: dict[str, str]) -> None:
        rels = attributes.get("rel", "").lower().split()
        page = self.page
        if tag in ("a", "area"):
            if not {"nofollow", "ugc", "sponsored"}.intersection(rels):
                self._add(attributes.get("href", ""))
        elif tag in ("frame", "iframe"):
            self._add(attributes.get("src", ""))
        elif tag == "link":
            kind = attributes.get("type", "")
            follows = {"next", "prev", "canonical", "alternate"}.intersection(rels)
            if follows and "stylesheet" not in rels and (not kind or "html" in kind):
                self._add(attributes.get("href", ""))
        elif tag == "base":
            page.base = page.base or attributes.get("href", "")
        elif tag == "meta":
            content = attributes.get("content", "")
            if attributes.get("http-equiv", "").lower() == "refresh":
                found = _REFRESH.match(content)
                self._add(found[1].strip() if found else "")
            elif attributes.get("name", "").lower() == "robots":
                page.noindex |= "noindex" in content.lower() or "none" in content.lower()
                page.nofollow |= "nofollow" in content.lower() or "none" in content.lower()

    def _add(self, href: str) -> None:
        if href:
            self.page.hrefs.add(href)


def _hidden(tag: str, attributes: dict[str, str]) -> bool:
    return tag not in ("html", "body") and (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or "display:none" in attributes.get("style", "").lower().replace(" ", "")
    )
