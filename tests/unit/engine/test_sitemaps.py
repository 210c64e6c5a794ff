"""Sitemaps: which are read, and what of them goes to the frontier."""

import gzip
from collections.abc import Iterable

import pytest

from mannerly.config import build
from mannerly.engine.plan import EnginePlan
from mannerly.engine.redirects import MAX_REDIRECTS, hops_of, redirection, retry_priority
from mannerly.engine.sieve import Sieve
from mannerly.engine.sitemaps import SLICE, SitemapReader
from mannerly.model import NewUrl, Priority, QueuedUrl, Source
from mannerly.politeness.robots import parse_robots
from mannerly.url import Exclusions, LeftOut, SiteKey
from tests.unit.engine.urls import queued, responded

SITE = "a.example"
ORIGIN = "https://www.a.example"
PAGE = queued(f"{ORIGIN}/", depth=2)


def reader(**options: str) -> tuple[SitemapReader, Sieve]:
    plan = EnginePlan.of(build({"email": "a@example.org", **options}), 10)
    sieve = Sieve(plan, SiteKey(), Exclusions(["https://www.a.example/private/"]))
    return SitemapReader(plan, sieve), sieve


def named(robots: str, **options: str) -> list[NewUrl]:
    rules = parse_robots(robots.encode(), "mannerly")
    return reader(**options)[0].named(rules, ORIGIN, PAGE, SITE)


def document(root: str, item: str, urls: Iterable[str]) -> bytes:
    entries = "".join(f"<{item}><loc>{url}</loc></{item}>" for url in urls)
    return f"<{root}>{entries}</{root}>".encode()


def urlset(*urls: str) -> bytes:
    return document("urlset", "url", urls)


def index(*urls: str) -> bytes:
    return document("sitemapindex", "sitemap", urls)


async def listed(
    body: bytes, source: Source = Source.SITEMAP, **options: str
) -> tuple[list[NewUrl], Sieve]:
    url = queued(f"{ORIGIN}/sitemap.xml", source=source, priority=Priority.SITEMAP, depth=2)
    sitemaps, sieve = reader(**options)
    fetched = responded(url.url, 200, body)
    return [link async for part in sitemaps.listed(fetched, url, SITE) for link in part], sieve


def test_what_robots_txt_names_is_read_before_links_and_of_its_own_site_only() -> None:
    found = named(
        "Sitemap: https://cdn.a.example/one.xml?v=2\nSitemap: https://b.example/two.xml\n"
        "Sitemap: https://www.a.example/private/three.xml\n"
    )
    assert [link.url for link in found] == ["https://cdn.a.example/one.xml?v=2"]
    assert found[0].source == Source.SITEMAP
    assert found[0].priority < Priority.LINK
    assert found[0].depth == PAGE.depth


@pytest.mark.parametrize(
    ("robots", "options", "urls"),
    [
        ("", {}, []),
        ("", {"sitemaps": "usual"}, [f"{ORIGIN}/sitemap.xml"]),
        (f"Sitemap: {ORIGIN}/s.xml", {"sitemaps": "usual"}, [f"{ORIGIN}/s.xml"]),
        (f"Sitemap: {ORIGIN}/s.xml", {"sitemaps": "off"}, []),
        (f"Sitemap: {ORIGIN}/s.xml", {"seeded_urls_only": "true"}, []),
    ],
)
def test_the_option_decides(robots: str, options: dict[str, str], urls: list[str]) -> None:
    assert [link.url for link in named(robots, **options)] == urls


async def test_a_sitemap_speaks_for_its_own_site() -> None:
    links, sieve = await listed(
        urlset(f"{ORIGIN}/1", "https://a.example/2", "https://b.example/3", f"{ORIGIN}/private/4")
    )
    assert [link.url for link in links] == [f"{ORIGIN}/1", "https://a.example/2"]
    assert {(link.source, link.priority, link.depth) for link in links} == {
        (Source.LISTED, Priority.LINK, 3)
    }
    assert sieve.left_out == {LeftOut.FOREIGN: 1, LeftOut.EXCLUDED: 1}


async def test_an_index_names_sitemaps_but_no_indexes() -> None:
    links, _ = await listed(index(f"{ORIGIN}/1.xml.gz", "https://b.example/2.xml"))
    assert [(link.url, link.source) for link in links] == [
        (f"{ORIGIN}/1.xml.gz", Source.SITEMAP_PART)
    ]
    part, _ = await listed(gzip.compress(urlset(f"{ORIGIN}/1")), Source.SITEMAP_PART)
    assert [link.url for link in part] == [f"{ORIGIN}/1"]
    nested, _ = await listed(index(f"{ORIGIN}/2.xml"), Source.SITEMAP_PART)
    assert nested == []


async def test_all_of_a_long_one_is_read() -> None:
    links, _ = await listed(urlset(*(f"{ORIGIN}/{number}" for number in range(3 * SLICE + 1))))
    assert len(links) == 3 * SLICE + 1


async def test_what_is_no_sitemap_lists_nothing() -> None:
    for body in (b"", b"<html><a href='/1'>1</a></html>", b"\x1f\x8b\x08 broken", b"\0" * 1000):
        assert (await listed(body))[0] == []


def test_a_redirected_sitemap_is_one_still_and_its_chain_ends() -> None:
    _, sieve = reader()
    url: QueuedUrl | None = queued(
        f"{ORIGIN}/0.xml", source=Source.SITEMAP, priority=Priority.SITEMAP
    )
    hops = 0
    while url is not None:
        target = f"{ORIGIN}/{hops + 1}.xml".encode()
        links = redirection(responded(url.url, location=target), url, sieve).links
        url = None
        for link in links:
            assert link.source == Source.SITEMAP
            hops += 1
            followed = queued(link.url, source=Source.SITEMAP, priority=link.priority)
            url = followed._replace(priority=retry_priority(followed))
            assert hops_of(url) == hops_of(followed) == hops
    assert hops == MAX_REDIRECTS
    away = responded(f"{ORIGIN}/0.xml", location=b"https://b.example/s.xml")
    start = queued(f"{ORIGIN}/0.xml", source=Source.SITEMAP, priority=Priority.SITEMAP)
    assert [link.source for link in redirection(away, start, sieve).links] == [Source.REDIRECT]
