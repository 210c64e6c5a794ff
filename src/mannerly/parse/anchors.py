"""What a page says about its links: the words, the element, the relation. For `--keep links`.

Asked for only where it is kept: the words of seventy links cost about as much as the text of the
page. Bounded: so many characters a link, so many a page, whatever the elements hold.
"""

from selectolax.lexbor import LexborHTMLParser

from mannerly.parse.contract import LinkDetail

MAX_ANCHOR = 200
_MAX_READ = 1_000_000
"""Characters of anchors read of a page; links behind them have no words."""
_ELEMENTS = "a[href],area[href],link[href],frame[src],iframe[src]"
_TOLD = frozenset(("nofollow", "ugc", "sponsored", "canonical", "next", "prev", "alternate"))


def link_details(tree: LexborHTMLParser, max_links: int) -> dict[str, LinkDetail]:
    """By the reference as it stands in the page. Where one is repeated, the first with words."""
    found: dict[str, LinkDetail] = {}
    read = 0
    for node in tree.css(_ELEMENTS):
        attributes = node.attributes
        tag = node.tag or ""
        href = (attributes.get("href") or attributes.get("src") or "").replace("\f", "")
        known = found.get(href)
        if not href or (known.anchor if known else len(found) >= max_links):
            continue
        words = attributes.get("alt") or attributes.get("title") or ""
        if tag == "a" and read < _MAX_READ:
            text = node.text()
            read += len(text)
            words = text if not text.isspace() and text else attributes.get("title") or ""
        rels = (attributes.get("rel") or "").lower().split()
        rel = " ".join(word for word in rels[:20] if word in _TOLD) if rels else ""
        anchor = " ".join(words[: 4 * MAX_ANCHOR].split())[:MAX_ANCHOR]
        found[href] = LinkDetail(anchor, rel, tag)
    return found
