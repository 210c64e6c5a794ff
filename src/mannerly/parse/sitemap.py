"""Sitemaps: which URLs a site offers, from what its robots.txt (or an index) points at.

    sitemap = parse_sitemap(body, content_type, depth=0)
    for entry in sitemap.entries: ...

Understood are XML sitemaps and indexes of them, RSS and Atom feeds, and plain lists of URLs; gzip
is undone whatever the type says. Sitemaps are written by hand and by bad programs, and cut off in
the middle: so this is no XML parser but a reader of tags, which takes what it can understand. It
never raises for what is in a body. Entities are not expanded, nothing is ever loaded, and a
document that declares entities is refused.

Bounded: `MAX_ENTRIES` (the protocol's own limit), `MAX_BYTES` decoded, and `MAX_DEPTH` for
indexes that name indexes. Who fetches them passes `depth` on, and judges each URL like any other:
whether it may be named here (`in_scope`), robots.txt, exclusions.
"""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import chain, islice
from typing import NamedTuple, cast

from isal import isal_zlib

from mannerly.parse.charset import to_utf8
from mannerly.parse.dates import date_at
from mannerly.url import origin_of, path_of

MAX_ENTRIES = 50_000
MAX_BYTES = 10 * 2**20
"""The protocol allows 50 MB. What is read of a page is less, and 50,000 URLs fit in here."""
MAX_DEPTH = 3
"""Indexes that may stand between robots.txt and a sitemap."""

_MAX_LOC = 4_096
_MAX_MEMBERS = 256
_MAX_TAGS = 20 * MAX_ENTRIES
_GZIP = b"\x1f\x8b"
# The library's type stub takes the class for an instance.
_GZIP_ERROR = cast("type[Exception]", isal_zlib.error)
_SPACE = b"\t\n\f\r "
# All repeats are possessive, and bounded where they could run over the same bytes again.
_ROOT = re.compile(rb"<(?:([A-Za-z_][\w.-]{0,40}+):)?([A-Za-z_][\w.-]{0,40}+)[^<>]*+>")
_TEXT = rb"((?:[^<]++|<!\[CDATA\[[^\]<>]{0,4096}+\]\]>)*+)"
_CDATA = re.compile(rb"<!\[CDATA\[([^\]<>]*+)\]\]>")
_HREF = re.compile(rb"\shref\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_REL = re.compile(rb"\srel\s*+=\s*+[\"']?+\s*+(?!alternate[\"'\s>])[^\"'\s>]")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class SitemapKind(Enum):
    URLSET = "urlset"
    INDEX = "index"
    """Its entries are sitemaps."""
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"


class SitemapEntry(NamedTuple):
    loc: str
    """An absolute http or https URL as written, not yet in canonical form."""
    modified_at: float | None
    """Unix time, None if it is not told or not understood."""


class Sitemap(NamedTuple):
    kind: SitemapKind | None
    """None: this is no sitemap."""
    entries: list[SitemapEntry]
    """In document order; repeats are kept."""
    truncated: bool
    """There was more than the limits allow."""


class _Form(NamedTuple):
    """Which elements make up a kind of sitemap."""

    kind: SitemapKind
    item: bytes
    locs: tuple[bytes, ...]
    """The first that an item has is taken."""
    dates: tuple[bytes, ...]


_RSS = _Form(SitemapKind.RSS, b"item", (b"link", b"guid"), (b"pubdate", b"date"))
_FORMS = {
    b"urlset": _Form(SitemapKind.URLSET, b"url", (b"loc",), (b"lastmod",)),
    b"sitemapindex": _Form(SitemapKind.INDEX, b"sitemap", (b"loc",), (b"lastmod",)),
    b"rss": _RSS,
    b"rdf": _RSS,
    b"feed": _Form(SitemapKind.ATOM, b"entry", (b"link",), (b"updated", b"modified")),
}


class OpenSitemap(NamedTuple):
    """A sitemap that is read as its entries are asked for: fifty thousand of them take a second."""

    kind: SitemapKind | None
    entries: Iterator[SitemapEntry]
    """All of them; whoever reads stops at `MAX_ENTRIES`."""
    truncated: bool
    """As far as it is known before reading."""


def parse_sitemap(body: bytes, content_type: str, *, depth: int = 0) -> Sitemap:
    """What a sitemap lists. `depth`: how many indexes led to it."""
    kind, rest, truncated = open_sitemap(body, content_type, depth=depth)
    entries = list(islice(rest, MAX_ENTRIES + 1))
    return Sitemap(kind, entries[:MAX_ENTRIES], truncated or len(entries) > MAX_ENTRIES)


def open_sitemap(body: bytes, content_type: str, *, depth: int = 0) -> OpenSitemap:
    """The same, without reading the entries yet."""
    body, truncated = _unzipped(body)
    _, text = to_utf8(body.lstrip(_SPACE), content_type)
    text = text.removeprefix(b"\xef\xbb\xbf").lstrip(_SPACE)
    if not text.startswith(b"<"):
        return _listed(text, truncated)
    text = _uncommented(text)
    root = _ROOT.search(text)
    form = _FORMS.get(root[2].lower()) if root else None
    if root is None or form is None:
        return _NOTHING
    if b"<!ENTITY" in text[: root.start()]:
        return OpenSitemap(form.kind, iter(()), truncated=truncated)
    if form.kind is SitemapKind.INDEX and depth >= MAX_DEPTH:
        return OpenSitemap(form.kind, iter(()), truncated=True)
    # In RSS 1.0, the root alone is of another namespace than the rest.
    prefix = root[1] + b":" if root[1] and form is not _RSS else b""
    return OpenSitemap(form.kind, _entries(text, root.end(), form, prefix), truncated)


_NOTHING = OpenSitemap(None, iter(()), truncated=False)


def in_scope(sitemap_url: str, url: str) -> bool:
    """Whether a sitemap may speak for a URL: same origin, and below the sitemap's own folder.

    Both in canonical form. Where robots.txt of the URL's own origin names the sitemap, that is
    leave enough, and this need not be asked (sitemaps.org, "cross-submission").
    """
    folder = path_of(sitemap_url).partition("?")[0].rpartition("/")[0] + "/"
    return origin_of(sitemap_url) == origin_of(url) and path_of(url).startswith(folder)


def _unzipped(body: bytes) -> tuple[bytes, bool]:
    """At most `MAX_BYTES`, and whether there was more. What comes before damage is kept."""
    parts: list[bytes] = []
    room = MAX_BYTES
    for _ in range(_MAX_MEMBERS):
        if not body.startswith(_GZIP) or room <= 0:
            break
        member = isal_zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(body, room)
        except _GZIP_ERROR:
            break
        parts.append(part)
        room -= len(part)
        body = member.unused_data
        if not member.eof:
            return b"".join(parts), room == 0
    if parts:
        return b"".join(parts), room <= 0
    return body[:MAX_BYTES], len(body) > MAX_BYTES


def _listed(text: bytes, truncated: bool) -> OpenSitemap:
    """A plain list: one URL a line, and lines that are none are passed over."""
    locs = filter(None, map(_absolute, text.splitlines()))
    first = next(locs, "")
    if not first:
        return _NOTHING
    entries = (SitemapEntry(loc, None) for loc in chain((first,), locs))
    return OpenSitemap(SitemapKind.TEXT, entries, truncated)


def _uncommented(text: bytes) -> bytes:
    parts: list[bytes] = []
    done = 0
    while (start := text.find(b"<!--", done)) >= 0:
        end = text.find(b"-->", start + 4)
        if end < 0:
            break
        parts.append(text[done:start])
        done = end + 3
    return b"".join((*parts, text[done:])) if parts else text


def _entries(text: bytes, start: int, form: _Form, prefix: bytes) -> Iterator[SitemapEntry]:
    """The items of a document, one at a time.

    An item ends where it is closed, where the next one begins, or with the document. A tag of
    another namespace (`image:loc`) is none of ours.
    """
    names = b"|".join((form.item, *form.locs, *form.dates))
    tags = re.compile(
        rb"<(/?)" + re.escape(prefix) + rb"(" + names + rb")(?=[\s/>])([^<>]*+)>" + _TEXT,
        re.IGNORECASE,
    )
    found: dict[bytes, list[str]] = {}
    inside = False
    reading = b""
    """The element whose text is being read."""
    pieces: list[bytes] = []
    for tag in islice(tags.finditer(text, start), _MAX_TAGS):
        closing, name, attributes, content = tag.groups()
        name = name.lower()
        if reading:
            if name != reading and (name != form.item or not b"".join(pieces).strip()):
                pieces.append(content)  # one inside the other: `<loc><url>...`
                continue
            found.setdefault(reading, []).append(_text(pieces))
            reading = b""
        if name == form.item:
            yield from _finished(found, form)
            found = {}
            inside = not closing
        elif inside and not closing:
            if form.kind is SitemapKind.ATOM and name == b"link":
                found.setdefault(name, []).append(_alternate(attributes))
            elif not attributes.endswith(b"/"):
                reading = name
                pieces = [content] if tag.end() < len(text) else []  # else it may be cut off
    if reading:
        found.setdefault(reading, []).append(_text(pieces))
    yield from _finished(found, form)


def _alternate(attributes: bytes) -> str:
    """Where an Atom link leads, '' if that is not the entry's own page."""
    href = None if _REL.search(attributes) else _HREF.search(attributes)
    return _text([href[1] or href[2] or b""]) if href else ""


def _finished(found: dict[bytes, list[str]], form: _Form) -> Iterator[SitemapEntry]:
    if not found:
        return
    dates = [date for name in form.dates for date in found.get(name, ())]
    for name in form.locs:
        locs = [loc for told in found.get(name, ()) if (loc := _absolute(told.encode()))]
        if locs:
            # Feeds say one thing in several ways; in sitemaps, several `loc` are several URLs.
            several = form.kind in (SitemapKind.URLSET, SitemapKind.INDEX)
            modified_at = date_at(dates[0]) if dates else None
            yield from (SitemapEntry(loc, modified_at) for loc in (locs if several else locs[:1]))
            return


def _absolute(loc: bytes) -> str:
    """The URL, if it is one that can be crawled, else ''."""
    text = loc.decode("utf-8", "replace").strip()
    web = text[:8].lower().startswith(("http://", "https://"))
    return text if web and len(text) <= _MAX_LOC else ""


def _text(pieces: list[bytes]) -> str:
    raw = b"".join(pieces)[: 2 * _MAX_LOC]
    if b"<" in raw:
        raw = _CDATA.sub(lambda cdata: cdata[1].replace(b"&", b"&amp;"), raw)
    text = raw.decode("utf-8", "replace")
    return _REFERENCE.sub(_character, text).strip() if "&" in text else text.strip()


def _character(reference: re.Match[str]) -> str:
    if reference[1]:
        return _NAMED[reference[1]]
    code = int(reference[2]) if reference[2] else int(reference[3], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
