"""The words of a page's links. For `--keep links`.

Asked for only where it is kept: the words of seventy links cost about as much as the text of the
page. Bounded: so many characters a link, so many a page, whatever the elements hold. What kind of
link it is and how it is marked, `Href` tells.
"""

from selectolax.lexbor import LexborHTMLParser

MAX_ANCHOR = 200
_MAX_READ = 1_000_000
"""Characters of anchors read of a page; links behind them have no words."""
_ELEMENTS = "a[href],area[href],frame[src],iframe[src]"


def anchors_of(tree: LexborHTMLParser, max_links: int) -> dict[str, str]:
    """By the reference as it stands in the page. Where one is repeated, the first with words."""
    found: dict[str, str] = {}
    read = 0
    for node in tree.css(_ELEMENTS):
        attributes = node.attributes
        href = (attributes.get("href") or attributes.get("src") or "").replace("\f", "")
        if not href or found.get(href) or (href not in found and len(found) >= max_links):
            continue
        words = attributes.get("alt") or attributes.get("title") or ""
        if node.tag == "a" and read < _MAX_READ:
            text = node.text()
            read += len(text)
            words = text if not text.isspace() and text else attributes.get("title") or ""
        found[href] = " ".join(words[: 4 * MAX_ANCHOR].split())[:MAX_ANCHOR]
    return found
