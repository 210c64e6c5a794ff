"""What is stored and followed of a page whose owner does not want everything."""

import pytest

from mannerly.config import build
from mannerly.engine.page import MAX_HEADER, PageReader, Reading
from mannerly.engine.plan import EnginePlan
from mannerly.engine.requests import Basis
from mannerly.fetch.contract import Fetched, TlsFacts
from mannerly.model import Lease
from tests.unit.engine.urls import HOME, queued, sieve

WALL = 1_800_000_000.0
LEASE = Lease("example.org", 1, 2, [], [], 0, 0.0)


def read(meta: str, *headers: tuple[bytes, bytes]) -> tuple[bool, bool]:
    """Is a page with one link stored, and is the link followed?"""
    reading = reading_of(meta, *headers)
    return reading.page is not None, bool(reading.links)


def reading_of(meta: str, *headers: tuple[bytes, bytes], keep: str = "") -> Reading:
    body = f"<html><head>{meta}</head><body>Words. <a href='/next'>On</a></body></html>"
    fetched = Fetched(HOME, status=200, body=body.encode(), started_at=1.0, ended_at=2.0)
    fetched.headers = [(b"Content-Type", b"text/html"), *headers]
    plan = EnginePlan.of(build({"email": "a@example.org", "keep": frozenset(keep.split())}), 10)
    return PageReader(plan, sieve(), "Mannerly").read(fetched, queued(), LEASE, WALL)


BOTH = (True, True)


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ("", BOTH),
        ("<meta name=robots content='noindex'>", (False, True)),
        ("<META NAME=ROBOTS CONTENT='NoIndex, NoFollow'>", (False, False)),
        ("<meta name=robots content=none>", (False, False)),
        ("<meta name=robots content=nofollow>", (True, False)),
        ("<meta name=mannerly content='noindex'>", (False, True)),
        ("<meta name=MANNERLY content='nofollow'>", (True, False)),
        ("<meta name=otherbot content='none'>", BOTH),
        ("<meta name=robots content=noindex><meta name=mannerly content=nofollow>", (False, False)),
        ("<meta name=robots content='index,follow'>", BOTH),
        ("<meta name=robots content='max-snippet:-1'>", BOTH),
        ("<meta name=robots content='unavailable_after: 25 Jun 2010 15:00:00 GMT'>", (False, True)),
        ("<meta name=robots content='Unavailable_After: 25 Jun 2050 15:00:00 GMT'>", BOTH),
        (
            "<meta name=robots content='nofollow, unavailable_after: Friday, 25-Jun-10 15:00:00 "
            "GMT, noarchive'>",
            (False, False),
        ),
        ("<meta name=mannerly content='unavailable_after:2010-06-25'>", (False, True)),
        ("<meta name=otherbot content='unavailable_after: 2010-06-25'>", BOTH),
        ("<meta name=robots content='unavailable_after: some day'>", BOTH),
    ],
)
def test_meta_robots(meta: str, expected: tuple[bool, bool]) -> None:
    assert read(meta) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([b"noindex"], (False, True)),
        ([b"NONE"], (False, False)),
        ([b"mannerly: noindex"], (False, True)),
        ([b"otherbot: noindex", b"nofollow"], (True, False)),
        ([b"otherbot: none"], BOTH),
        ([b"unavailable_after: 25 Jun 2010 15:00:00 GMT"], (False, True)),
        ([b"unavailable_after: 25 Jun 2050 15:00:00 GMT"], BOTH),
        ([b"\xff\xfe, noindex"], (False, True)),
    ],
)
def test_x_robots_tag(headers: list[bytes], expected: tuple[bool, bool]) -> None:
    assert read("", *((b"X-ROBOTS-Tag", value) for value in headers)) == expected


def test_header_and_page_add_up() -> None:
    meta = "<meta name=robots content=nofollow>"
    assert read(meta, (b"x-robots-tag", b"noindex")) == (False, False)


@pytest.mark.parametrize("where", ["meta", "header"])
def test_noarchive_means_no_copy_but_the_page_is_stored(where: str) -> None:
    meta = "<meta name=robots content='index, noarchive'>" if where == "meta" else ""
    headers = [(b"X-Robots-Tag", b"noarchive")] if where == "header" else []
    reading = reading_of(meta, *headers)
    assert reading.page is not None
    assert not reading.may_be_kept
    assert reading_of("").may_be_kept
    assert not reading_of("<meta name=robots content=noindex>").may_be_kept


def test_a_page_tells_how_it_was_fetched() -> None:
    fetched = Fetched(HOME, status=200, body=b"<p>Words.", started_at=1.0, ended_at=2.0)
    fetched.headers = [
        (b"Content-Type", b"text/html"), (b"ETAG", b'"1"'), (b"Server", b"x" * 999),
        (b"Cache-Control", b"no-store"), (b"Last-modified", b"then"), (b"content-language", b"de"),
    ]  # fmt: skip
    fetched.address, fetched.dns_s, fetched.connect_s, fetched.first_byte_s = "192.0.2.1", 1, 2, 3
    fetched.tls = TlsFacts("TLSv1.3", "AES", verified=False, problem="not checked")
    plan = EnginePlan.of(build({"email": "a@example.org"}), 10)
    reader = PageReader(plan, sieve(), "Mannerly")
    page = reader.read(fetched, queued(), LEASE, WALL, Basis(77, WALL, 4)).page
    assert page is not None
    assert (page.etag, page.cache_control, page.last_modified) == ('"1"', "no-store", "then")
    assert (page.content_language, page.server) == ("de", "x" * MAX_HEADER)
    assert (page.address, page.dns_s, page.connect_s, page.first_byte_s) == ("192.0.2.1", 1, 2, 3)
    assert (page.tls_version, page.tls_cipher, page.tls_problem) == (
        "TLSv1.3",
        "AES",
        "not checked",
    )
    assert (page.robots_hash, page.robots_line) == (77, 4)


def test_what_the_page_says_of_itself_becomes_columns() -> None:
    told = (
        "<meta name=description content=' What it is  about '><meta property=og:title content=Og>"
        "<link rel=canonical href='/home?utm_source=x#top'><h1>One</h1><h3>Two  words</h3>"
    )
    page = reading_of(told).page
    assert page is not None
    assert page.description == "What it is about"
    assert page.canonical == HOME.rstrip("/") + "/home"  # resolved by the crawl's rules
    assert dict(page.open_graph) == {"title": "Og"}
    assert page.headings == ((1, "One"), (3, "Two words"))
    assert page.main_text == ""
    elsewhere = reading_of("<link rel=canonical href='https://other.example/a'>").page
    assert elsewhere is not None
    assert (elsewhere.canonical, elsewhere.duplicate) == ("https://other.example/a", "")


def test_the_main_text_is_made_only_where_it_is_kept() -> None:
    navigation = f"<nav>Menu of things</nav><p>{'some words of prose ' * 20}</p>"
    page = reading_of(navigation, keep="main-text").page
    assert page is not None
    assert "Menu" in page.text
    assert page.main_text
    assert "Menu" not in page.main_text
