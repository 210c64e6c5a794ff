"""The canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.errors import UrlError
from mannerly.url import canonical, host_of, origin_of, path_of, url_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/a/../b?q#f", "https://example.org/b?q"),
        ("https://user:secret@example.org/", "https://example.org/"),
        ("https://example.org./", "https://example.org/"),
        ("https://example.org.:8443/", "https://example.org:8443/"),
        ("https://example.org/a?", "https://example.org/a"),
        ("https://example.org/a?#f", "https://example.org/a"),
        ("https://example.org/?a=?", "https://example.org/?a=?"),
        ("  https://example.org/a b\n", "https://example.org/a%20b"),
        ("https://b\u00fccher.example/\u00fc", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("https://example.org/\ud800", "https://example.org/%EF%BF%BD"),
        ("https://a.xn--pokxncvks/XN--x", "https://a.xn--pokxncvks/XN--x"),
        ("https://example.org/b?a=1&A=%7e", "https://example.org/b?a=1&A=%7e"),
    ],
)
def test_canonical(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


def test_relative_references_are_joined() -> None:
    base = "https://example.org/a/b?q"
    assert canonical("c", base) == "https://example.org/a/c"
    assert canonical("//other.example", base) == "https://other.example/"
    assert canonical("?x", base) == "https://example.org/a/b?x"
    assert canonical("", base) == base
    assert canonical("c", "https://xn--pokxncvks/d/") == "https://xn--pokxncvks/d/c"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "/a",
        "mailto:a@b.example",
        "ftp://example.org/",
        "javascript:alert(1)",
        "http://",
        "http://./",
        "http://a..b/",
        "http://.a/",
        "http://a../",
        "http://0../",
        "http://a b/",
        "http://example.org:99999/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "https://example.org/" + "a" * 2048,
        "https://example.org/" + "a/../" * 10_000,
        "http://\u00fc.xn--pokxncvks/",
    ],
)
def test_what_cannot_be_crawled_is_an_error(text: str) -> None:
    with pytest.raises(UrlError):
        canonical(text)


def test_the_length_limit_is_on_the_canonical_form() -> None:
    url = "https://example.org/" + "a" * (2048 - len("https://example.org/"))
    assert canonical(url + "#fragment") == url
    with pytest.raises(UrlError):
        canonical(url, max_length=2047)


def test_parts() -> None:
    url = "https://example.org:8443/a?b"
    assert (host_of(url), origin_of(url), path_of(url)) == (
        "example.org",
        "https://example.org:8443",
        "/a?b",
    )
    assert host_of("http://[::1]:8080/") == host_of("http://[::1]/") == "[::1]"
    assert host_of("http://a/") == "a"
    assert path_of("http://a/") == "/"


def test_hash_is_signed_and_fixed() -> None:
    # Frontiers on disk hold these numbers: they may never change.
    assert url_hash("https://example.org/") == -8202114674208552119
    many = [url_hash(f"https://example.org/{n}") for n in range(1000)]
    assert len(set(many)) == 1000
    assert min(many) < 0 < max(many)
    assert all(-(2**63) <= one < 2**63 for one in many)


WORDS = "http https :// : / // .. . ? # @ a xn-- XN-- % %2e [ ] ::1 80 8080 ftp: * & = ~ | 127.1"
ODD = ["\\", " ", "\t", "\n", "\0", "\u00fc", "\ud800", "\u3002", "\u00ad", "\u1e9e", "example.org"]
PIECES = st.lists(st.sampled_from([*WORDS.split(), *ODD]), max_size=14).map("".join)


@given(st.one_of(st.text(), PIECES, PIECES.map("https://{}".format)), st.none() | PIECES)
def test_any_text_is_a_canonical_url_or_an_error(text: str, base: str | None) -> None:
    try:
        url = canonical(text, base)
    except UrlError:
        return
    assert canonical(url) == url
    assert url.startswith(("http://", "https://"))
    assert url.isascii()
    assert len(url) <= 2048
    assert "#" not in url
    assert "@" not in origin_of(url)
    assert origin_of(url) + path_of(url) == url
    assert host_of(url) in origin_of(url)
    assert host_of(url)
    assert not host_of(url).endswith(".")
