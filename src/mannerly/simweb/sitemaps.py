"""Sitemaps: a plain one for small sites, an index of parts (every other part in gzip) for others.

They list the pages of the site's main host, those that no link leads to included.
"""

import gzip
import re

from mannerly.simweb.answer import Answer, Kind, Link
from mannerly.simweb.pages import Pages
from mannerly.simweb.site import WITH_SITEMAP, Site

PART = 500
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
_PART_PATH = re.compile(r"/sitemap-(0|[1-9][0-9]{0,6})\.xml(\.gz)?")


class Sitemap:
    """A `Content`: its links are the pages (or the parts) that it lists."""

    def __init__(self, tag: str, urls: list[str], *, packed: bool) -> None:
        self._tag = tag
        self._urls = urls
        self._packed = packed

    def links(self) -> list[Link]:
        return [Link(url, url, nofollow=False) for url in self._urls]

    def plain(self) -> bytes:
        outer = "urlset" if self._tag == "url" else "sitemapindex"
        rows = "".join(
            f"<{self._tag}><loc>{url.replace('&', '&amp;')}</loc></{self._tag}>\n"
            for url in self._urls
        )
        xml = f'{_XML}<{outer} xmlns="{_SCHEMA}">\n{rows}</{outer}>\n'
        return gzip.compress(xml.encode(), mtime=0) if self._packed else xml.encode()

    def gzipped(self) -> bytes | None:
        return None


def answer(pages: Pages, site: Site, host: str, target: str) -> Answer | None:
    """The sitemap at a path of the main host; None if there is none."""
    if host != site.host or site.robots[0] not in WITH_SITEMAP:
        return None
    parts = -(-site.pages // PART)
    if target == "/sitemap.xml":
        if parts == 1:
            return _answer(Sitemap("url", _listed(pages, site, 0), packed=False), packed=False)
        urls = [f"{site.origin}{_part_path(part)}" for part in range(parts)]
        return _answer(Sitemap("sitemap", urls, packed=False), packed=False)
    match = _PART_PATH.fullmatch(target)
    if match is None or parts == 1:
        return None
    part = int(match[1])
    if part >= parts or target != _part_path(part):
        return None
    packed = match[2] is not None
    return _answer(Sitemap("url", _listed(pages, site, part), packed=packed), packed=packed)


def _part_path(part: int) -> str:
    return f"/sitemap-{part}.xml{'.gz' if part % 2 else ''}"


def _answer(sitemap: Sitemap, *, packed: bool) -> Answer:
    kind = "application/gzip" if packed else "application/xml"
    return Answer(Kind.SITEMAP, 200, kind, sitemap)


def _listed(pages: Pages, site: Site, part: int) -> list[str]:
    numbers = range(part * PART, min((part + 1) * PART, site.pages))
    urls = [pages.url(site, number) for number in numbers]
    return [url for url in urls if url.startswith(site.home)]
