"""HTML: links, text and facts of a page, from one parse.

Lexbor builds the tree, and one query finds everything that is wanted of it. Its `text()` is fast
but knows no blocks: it glues `<td>a</td><td>b</td>`, and with a separator it splits `w<b>or</b>d`.
So before parsing, a form feed (white space to HTML, and used for nothing else) is put in front of
every tag that is not inline; in the text, form feeds are the ends of lines. Inserting text nodes
around the blocks of the tree gives the same and costs twice as much.
"""

import re

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from mannerly.parse.charset import to_utf8
from mannerly.parse.contract import Href, Parsed
from mannerly.parse.crop import cropped
from mannerly.parse.defuse import defused
from mannerly.parse.refresh import refresh_target
from mannerly.parse.robots_tags import directives

MAX_LINKS = 5_000
MAX_TEXT = 1_000_000

_MAX_TITLE = 1_000
_MAX_HREF = 16_384
_HEAD = 2_048
_INLINE = (
    rb"(?:a(?:bbr|cronym)?|b(?:d[io]|ig)?|c(?:ite|ode)|d(?:ata|el|fn)|em|font|g"
    rb"|i(?:mg|n(?:put|s))?|kbd|l(?:abel|ink)|m(?:ark|eta)|nobr|path|q|r(?:uby|[bpt])"
    rb"|s(?:amp|cript|mall|pan|t(?:rike|rong|yle)|u[bp]|vg)?|t(?:ime|t)|u(?:se)?|var|wbr)"
)
_BLOCK = re.compile(rb"<(?!/?" + _INLINE + rb"[\s>/])(?=/?[a-zA-Z])")
"""A tag that separates: all but the inline ones, so that elements nobody has heard of do."""
_BLOCK_ANY_CASE = re.compile(_BLOCK.pattern, re.IGNORECASE)
"""Twice as slow, so for pages that begin in capitals only; a stray `<B>` elsewhere separates."""
_CAPITALS = re.compile(rb"<[A-Z]")

_WANTED = "a,area,frame,iframe,script,style,noscript,template,meta,link,base,title"
_HIDDEN = "[hidden],[aria-hidden=true]"
_UNSEEN = frozenset(("script", "style", "noscript", "template"))
_FOLLOWED_RELS = frozenset(("next", "prev", "canonical", "alternate"))
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:[-_][a-z0-9]{1,8}){0,4}")


def parse_html(
    body: bytes,
    content_type: str,
    *,
    agent: str,
    max_links: int = MAX_LINKS,
    max_text: int = MAX_TEXT,
) -> Parsed:
    """What is in a page. Never raises for anything in `body`; time and memory are bounded."""
    charset, source = to_utf8(body, content_type)
    source = cropped(source)
    block = _BLOCK_ANY_CASE if _CAPITALS.search(source, 0, _HEAD) else _BLOCK
    source, blocks = block.subn(b"\f<", source)
    source = _with_lines(defused(source, blocks))
    tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    page = Parsed(charset=charset, language=_language(tree))
    unseen = _read(tree.css(_WANTED), page, agent, max_links)
    if b" hidden" in source or b"-hidden" in source:
        unseen += [node for node in tree.css(_HIDDEN) if node.tag not in ("html", "body")]
    for node in unseen:
        node.decompose()
    if tree.body is not None:
        page.text = _lines(tree.body.text(), max_text)
    return page


def _with_lines(source: bytes) -> bytes:
    """Keep the lines of preformatted text."""
    start = source.find(b"<pre")
    if start < 0:
        return source
    parts: list[bytes] = []
    done = 0
    while start >= 0:
        end = source.find(b"</pre", start)
        if end < 0:
            break
        parts += (source[done:start], source[start:end].replace(b"\n", b"\f"))
        done = end
        start = source.find(b"<pre", end)
    parts.append(source[done:])
    return b"".join(parts)


def _lines(raw: str, limit: int) -> str:
    """Text with white space collapsed, one line per block."""
    lines = [line for block in raw[: 4 * limit].split("\f") if (line := " ".join(block.split()))]
    return "\n".join(lines)[:limit]


def _language(tree: LexborHTMLParser) -> str:
    root = tree.root
    if root is None:
        return ""
    attributes = root.attributes
    language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip().lower()
    return language if _LANGUAGE.fullmatch(language) else ""


def _read(nodes: list[LexborNode], page: Parsed, agent: str, max_links: int) -> list[LexborNode]:
    """Fill `page` with what the nodes say; returns those that are not seen by a reader."""
    unseen: list[LexborNode] = []
    hrefs: dict[str, bool] = {}
    for node in nodes:
        tag = node.tag
        href: str | None = None
        nofollow = False
        if tag in ("a", "area"):
            attributes = node.attributes
            href = attributes.get("href")
            rel = attributes.get("rel")
            if rel is not None:
                rels = rel.lower().split()
                nofollow = "nofollow" in rels or "ugc" in rels
        elif tag in _UNSEEN:
            unseen.append(node)
        elif tag == "link":
            href = _link_href(node.attributes)
        elif tag == "meta":
            href = _read_meta(node.attributes, page, agent)
        elif tag == "title":
            if not page.title:
                page.title = " ".join(node.text().split())[:_MAX_TITLE]
        elif tag == "base":
            if not page.base:
                page.base = (node.attributes.get("href") or "").strip()[:_MAX_HREF]
        else:
            href = node.attributes.get("src")
        if href and len(href) <= _MAX_HREF:
            if "\f" in href:
                href = href.replace("\f", "")
            if href in hrefs:
                hrefs[href] = hrefs[href] and nofollow
            elif len(hrefs) < max_links:
                hrefs[href] = nofollow
    page.hrefs = [Href(href, nofollow) for href, nofollow in hrefs.items()]
    return unseen


def _link_href(attributes: dict[str, str | None]) -> str | None:
    rels = (attributes.get("rel") or "").lower().split()
    if _FOLLOWED_RELS.isdisjoint(rels) or "stylesheet" in rels:
        return None
    kind = (attributes.get("type") or "").lower()
    if kind and "html" not in kind:
        return None  # feeds and the like
    return attributes.get("href")


def _read_meta(attributes: dict[str, str | None], page: Parsed, agent: str) -> str | None:
    content = attributes.get("content")
    if not content:
        return None
    name = (attributes.get("name") or "").strip().lower()
    if name in ("robots", agent.lower()):
        tags = directives(content)
        page.noindex |= tags.noindex
        page.nofollow |= tags.nofollow
        page.unavailable_after = page.unavailable_after or tags.unavailable_after
    elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
        return refresh_target(content)
    return None
