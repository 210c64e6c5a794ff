"""Sitemaps that are too much: packed to nothing, full of URLs, or naming others without end."""

import gzip

from tests.hostile.script import Script
from tests.hostile.site import FETCHED, NO_PAGE, PAGE, Site, response

ENTRIES = 50_000
"""What the protocol allows in one sitemap; 50 MB is what it allows them to take."""
BLANKS = b" " * 1_000
"""In each of 50,000 entries: 50 MB, of which the crawler reads ten."""
GZIP = b"Content-Encoding: gzip"


def sites() -> list[Site]:
    bomb, twice, bombs = "sitemap-bomb", "sitemap-packed-twice", "sitemap-of-bombs"
    part = _packed(_urls(bombs, BLANKS))
    return [
        _site(bomb, _packed(_urls(bomb, BLANKS))),
        _site(twice, _packed(_urls(twice, BLANKS)), coding=GZIP),
        _site(bombs, _packed(_index(bombs)), part=part),
        _site("sitemap-full", _packed(_urls("sitemap-full"))),
        _site("sitemap-without-ends", _packed(b"<urlset>" + b"<url><loc>" * 5_000_000)),
    ]


def _urls(name: str, space: bytes = b"") -> bytes:
    """The space is in the middle: what is read of 50 MB has 10,000 entries."""
    line = b"<url>%s<loc>http://%s.example/%%d</loc></url>" % (space, name.encode())
    return b"<urlset>" + b"".join([line % n for n in range(ENTRIES)]) + b"</urlset>"


def _index(name: str) -> bytes:
    line = b"<sitemap><loc>http://%s.example/part-%%d</loc></sitemap>" % name.encode()
    return b"<sitemapindex>" + b"".join([line % n for n in range(ENTRIES)]) + b"</sitemapindex>"


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 6)


def _site(name: str, sitemap: bytes, *, coding: bytes = b"", part: bytes = b"") -> Site:
    """`part` is what every sitemap is that an index names."""
    robots = f"User-agent: *\nAllow: /\nSitemap: http://{name}.example/map\n".encode()
    body = gzip.compress(sitemap) if coding else sitemap
    scripts = {
        "/robots.txt": response(robots, "text/plain"),
        "/map": response(body, "application/gzip", *([coding] if coding else [])),
    }
    other = response(part, "application/gzip") if part else PAGE

    def answer(path: str) -> Script:
        return PAGE if path == "/" else scripts.get(path, other)

    return Site(name, answer, {"/": FETCHED, "/map": NO_PAGE})
