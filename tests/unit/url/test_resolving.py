"""Links of a page as a batch: the same as one by one."""

from hypothesis import given
from hypothesis import strategies as st

from mannerly.errors import UrlError
from mannerly.url import SiteKey, canonical, host_of, resolve, url_hash

KEY = SiteKey()
BASE = "https://www.example.co.uk/a/b.html?q=1"

WORDS = (
    "http:// https:// // / .. ? # x y example.org a.b.co.uk . :8080 u@ % mailto: javascript:"
    " JavaScript: [::1] xn--pokxncvks 127.0.0.1 - _"
)
PIECES = [*WORDS.split(), " ", "\n", "\f", "\ud800", "\u00fc"]
HREFS = st.lists(st.lists(st.sampled_from(PIECES), max_size=7).map("".join), max_size=12)


def one_by_one(base: str, hrefs: list[str]) -> list[str]:
    found: dict[str, None] = {}
    for href in hrefs:
        if not href.partition("#")[0]:
            continue  # the page itself
        try:
            found[canonical(href, base)] = None
        except UrlError:
            continue
    return list(found)


@given(HREFS)
def test_a_batch_is_what_its_links_are(hrefs: list[str]) -> None:
    resolved = resolve(BASE, hrefs, KEY)
    assert [link.url for link in resolved] == one_by_one(BASE, hrefs)
    for link in resolved:
        assert link.hash == url_hash(link.url)
        assert link.site == KEY.site_of(host_of(link.url))


def test_links_are_distinct_in_order_and_crawlable() -> None:
    hrefs = [
        "/x#1",
        "#top",
        "",
        "mailto:a@b.example",
        "JAVASCRIPT:void(0)",
        "/x#2",
        "c",
        "tel:1",
        "/x?",
    ]
    hrefs += ["https://user@www.example.co.uk./x", "http://a..b/", "//other.example"]
    assert [(link.url, link.site) for link in resolve(BASE, hrefs, KEY)] == [
        ("https://www.example.co.uk/x", "example.co.uk"),
        ("https://www.example.co.uk/a/c", "example.co.uk"),
        ("https://other.example/", "other.example"),
    ]


def test_what_only_some_links_need() -> None:
    hrefs = ["/space #fragment", f"//{'a' * 64}.example/", f"//{'a' * 63}.example/"]
    assert [link.url for link in resolve(BASE, hrefs, KEY)] == [
        "https://www.example.co.uk/space%20",
        f"https://{'a' * 63}.example/",
    ]


def test_bounds() -> None:
    assert len(resolve(BASE, [f"/{n}" for n in range(9_000)], KEY)) == 5_000
    assert len(resolve(BASE, [f"/{n}" for n in range(100)], KEY, max_links=7)) == 7
    assert resolve(BASE, ["/" + "x" * 2_000_000, "/" + "x" * 3_000], KEY) == []


def test_a_base_that_only_today_s_standard_accepts() -> None:
    (link,) = resolve("https://xn--pokxncvks/a/", ["b"], KEY)
    assert link.url == "https://xn--pokxncvks/a/b"
