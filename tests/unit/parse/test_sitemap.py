"""Sitemaps: what is taken from them, and what they cannot do to us."""

import gzip
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.parse import SitemapEntry, SitemapKind, in_scope, parse_sitemap
from mannerly.parse.dates import date_at
from mannerly.parse.sitemap import MAX_DEPTH, MAX_ENTRIES


def locs(body: bytes) -> list[str]:
    return [entry.loc for entry in parse_sitemap(body, "text/xml").entries]


def test_entries_and_dates_in_any_order() -> None:
    found = parse_sitemap(
        b"""<urlset><url><lastmod>2024-02-03</lastmod>
        <loc> https://a.example/x?a=1&amp;b=&#50; </loc>
        <image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
        <!-- <url><loc>https://a.example/no</loc></url> -->
        <URL><LOC>https://a.example/?a=1&b=2&copy=3</LOC><lastmod>soon</lastmod></URL>
        <url><loc>/relative</loc></url><url><loc>ftp://a.example/</loc></url></urlset>""",
        "text/xml",
    )
    assert found.kind is SitemapKind.URLSET
    assert found.entries == [
        SitemapEntry("https://a.example/x?a=1&b=2", 1706918400.0),
        SitemapEntry("https://a.example/?a=1&b=2&copy=3", None),
    ]
    assert not found.truncated


def test_items_that_are_not_closed() -> None:
    body = (
        b"<urlset><url><loc>http://a.example/1<url><loc>http://a.example/2</loc><url><loc>http://a"
    )
    assert locs(body) == ["http://a.example/1", "http://a.example/2"]


def test_channels_are_no_items() -> None:
    feed = b"<rss><channel><link>http://a.example/</link>%s<link>http://a.example/z</link></rss>"
    assert locs(feed % b"<item><link>http://a.example/1</link></item>") == ["http://a.example/1"]


def test_entities_are_refused() -> None:
    body = (
        b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>http://a.example/&a;</loc></url></urlset>'
    )
    assert parse_sitemap(body, "text/xml") == (SitemapKind.URLSET, [], False)


def test_limits() -> None:
    many = b"<urlset>" + b"<url><loc>http://a.example/</loc></url>" * (MAX_ENTRIES + 1)
    found = parse_sitemap(many, "text/xml")
    assert (len(found.entries), found.truncated) == (MAX_ENTRIES, True)
    found = parse_sitemap(b"http://a.example/\n" * (MAX_ENTRIES + 1), "text/plain")
    assert (len(found.entries), found.truncated) == (MAX_ENTRIES, True)
    index = b"<sitemapindex><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>"
    assert len(parse_sitemap(index, "text/xml", depth=MAX_DEPTH - 1).entries) == 1
    assert parse_sitemap(index, "text/xml", depth=MAX_DEPTH) == (SitemapKind.INDEX, [], True)


def test_gzip_of_several_members_and_a_damaged_one() -> None:
    parts = [gzip.compress(b"http://a.example/1\nhttp://a."), gzip.compress(b"example/2\n")]
    assert locs(b"".join(parts)) == ["http://a.example/1", "http://a.example/2"]
    assert locs(parts[0] + parts[1][:10]) == ["http://a.example/1", "http://a."]
    assert parse_sitemap(b"\x1f\x8bnonsense", "").kind is None
    bomb = gzip.compress(b"<urlset><url><loc>http://a.example/</loc></url>" + b" " * 60_000_000)
    found = parse_sitemap(bomb, "application/gzip")
    assert (len(found.entries), found.truncated) == (1, True)


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<a><![CDATA[" * 500_000,
        b"<urlset>" + b"<!--" * 1_000_000,
        b"<urlset>" + b"<" * 2_000_000,
        b"<urlset><url>" + b"<loc>" * 200_000,
        b"<urlset>" + b"<url>" * 200_000,
        b"<feed><entry><link " + b" rel=  " * 200_000 + b">",
        b"<urlset><url><loc>http://a.example/" + b"&amp;" * 500_000,
        b"<" + b"a" * 2_000_000,
    ],
)
def test_bounded(body: bytes) -> None:
    started = time.process_time()
    parse_sitemap(body, "text/xml")
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024", 1704067200.0),
        ("2024-03", 1709251200.0),
        ("2024-03-01", 1709251200.0),
        ("2024-03-01T12:00:00.5+02:00", 1709287200.5),
        ("Thu, 05 Jan 2017 13:34:51 +0100", 1483619691.0),
        ("0001-01-01T00:00:00+14:00", -62135647200.0),
        ("2024-13-01", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(text: str, at: float | None) -> None:
    assert date_at(text) == at


def test_a_sitemap_speaks_for_its_folder() -> None:
    assert in_scope("https://a.example/s.xml", "https://a.example/deep/x")
    assert not in_scope("https://a.example/deep/s.xml", "https://a.example/x")
    assert not in_scope("https://a.example/s.xml", "https://b.example/x")


TAGS = st.sampled_from(
    ["<url>", "</url>", "<loc>", "</loc>", "http://a.example/", "&amp;", "<![CDATA[", "]]>", "<!--"]
)


@settings(deadline=None)  # the first body that must be guessed loads the detector
@given(
    st.one_of(
        st.binary(max_size=100), st.lists(TAGS, max_size=20).map(lambda t: "".join(t).encode())
    )
)
def test_never_raises(body: bytes) -> None:
    for root in (b"", b"<urlset>", b"<rss>", b"<feed>", b"\x1f\x8b"):
        for entry in parse_sitemap(root + body, "text/xml").entries:
            assert entry.loc.lower().startswith(("http://", "https://"))


@given(st.lists(st.text("abc/&<>'\"?=é", max_size=12), max_size=6))
def test_what_is_escaped_comes_back(paths: list[str]) -> None:
    urls = [f"http://a.example/{path}" for path in paths]
    escaped = [url.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for url in urls]
    body = "".join(f"<url><loc>{url}</loc></url>" for url in escaped)
    assert locs(f"<urlset>{body}</urlset>".encode()) == urls
