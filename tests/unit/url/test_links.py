"""The compiled way through a page's links gives what the URL parser gives."""

from array import array
from collections import Counter
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from mannerly.url import (
    LeftOut,
    ParameterRules,
    Resolved,
    SiteKey,
    fresh,
    links_plain,
    resolve,
    resolving,
    url_hash,
)
from tests.compiled import compiled_part

PARTS = (
    "/", "//", ".", "..", "...", "a", "B", "index.html", "?", "#", ":", ";", "&", "=", "q=1",
    "utm_source=x", "jsessionid=1F2E", "http:", "https:", "https://", "http://", "www.a.example",
    "b.example", "B.Example", ":80", ":443", ":8080", "%41", "%2e", "%zz", "é", " ", "\t", "\\",
    "'", '"', "<", "|", "^", "~", "@", "user@", "[", "]", "{", "javascript:", "mailto:", "data:",
    "x" * 40, "\u3000", "\ufffd",
)  # fmt: skip
HREFS = st.lists(
    st.one_of(st.lists(st.sampled_from(PARTS), max_size=7).map("".join), st.text(max_size=8)),
    max_size=12,
)
BASES = (
    "https://www.a.example/",
    "https://www.a.example/dir/page.html?x=/y/z",
    "http://b.example:8080/a;v=1/b;jsessionid=7/c",
    "https://xn--bcher-kva.example/%C3%A9/x",
    "http://192.0.2.7/x//y/",
    "https://www.a.example/dir?a;b/c",
)


@pytest.fixture(scope="module")
def compiled() -> ModuleType:
    return compiled_part("url._links")


Outcome = tuple[list[Resolved], list[int], Counter[LeftOut]]


def outcome(
    walk: ModuleType, base: str, hrefs: list[str], *, strips: bool, max_length: int, max_links: int
) -> Outcome:
    key = SiteKey()
    positions: list[int] = []
    left_out: Counter[LeftOut] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolving, "_walk", walk.walk)
        # Once before: only what is known of an origin makes a link to it plain.
        resolve(base, hrefs, key)
        found = resolve(
            base,
            hrefs,
            key,
            max_links=max_links,
            max_length=max_length,
            parameters=ParameterRules() if strips else None,
            left_out=left_out,
            positions=positions,
        )
    return found, positions, left_out


@settings(max_examples=400, deadline=None)
@given(
    base=st.sampled_from(BASES),
    hrefs=HREFS,
    strips=st.booleans(),
    max_length=st.sampled_from([30, 2_000]),
    max_links=st.sampled_from([3, 5_000]),
)
@example(BASES[0], ["/a/./b", "/a/..", "/.", "..", ".", "./x", "a/../b", "/..."], True, 99, 99)
@example(
    BASES[0], ["/a?", "/a?b#c", "?x", "a?..", "/a?/../b", "a;b", "/;jsessionid=1"], True, 99, 99
)
@example(
    BASES[0], ["http://b.example#/x", "http://b.example?/x", "https://b.example"], True, 99, 99
)
@example(BASES[0], ["/%2e%2E/b", "/a%2eb", "%", "a%2", "?%2e", "#%2e"], True, 99, 99)
@example(BASES[0], [" ", " #a", "\t/a b ", " /a #b ", "\x00/a", "/a\x1f", "  "], True, 99, 99)
@example(
    BASES[2],
    ["//", "///b.example/", "//b.example", "//B.example/x", "//b.example/./"],
    True,
    99,
    99,
)
@example(BASES[0], ["ftp://b.example/", "h:x", "http:x", "a1:b", "A:b", "a", ":"], True, 99, 99)
@example(BASES[2], ["x", "/x", "x;jsessionid=3", "x?utm_source=1&a=2", "a:b", "/a:b"], True, 99, 99)
def test_both_ways_give_the_same(
    compiled: ModuleType,
    base: str,
    hrefs: list[str],
    strips: bool,
    max_length: int,
    max_links: int,
) -> None:
    one, other = (
        outcome(walk, base, hrefs, strips=strips, max_length=max_length, max_links=max_links)
        for walk in (compiled, links_plain)
    )
    assert one == other
    assert all(type(link) is Resolved for link in one[0])


@given(
    base=st.sampled_from(BASES),
    hrefs=HREFS,
    known=st.lists(st.integers(0, 11), max_size=8),
    max_links=st.sampled_from([3, 5_000]),
)
def test_both_leave_out_the_same_known_ones(
    compiled: ModuleType, base: str, hrefs: list[str], known: list[int], max_links: int
) -> None:
    key = SiteKey()
    every = resolve(base, hrefs, key, max_links=max_links)
    slots = array("q", bytes(8 * 16))
    for place in known:
        if place < len(every):
            slots[every[place].hash & 15] = every[place].hash
    for walk in (compiled, links_plain):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(resolving, "_walk", walk.walk)
            found = fresh(base, hrefs, key, slots, max_links=max_links)
        assert found.in_all == len(every)
        assert found.links == [link for link in every if slots[link.hash & 15] != link.hash]
        assert all(type(link) is Resolved for link in found.links)


@given(st.binary(max_size=300))
def test_hashes_are_those_of_the_library(compiled: ModuleType, data: bytes) -> None:
    assert compiled.short_digest(data) in (None, xxh3_64_intdigest(data))


def test_hashes_of_every_length(compiled: ModuleType) -> None:
    data = bytes(range(1, 251))
    for size in range(241):
        assert compiled.short_digest(data[:size]) == xxh3_64_intdigest(data[:size])
    assert compiled.short_digest(data[:241]) is None
    long = "/" + "x" * 400
    key = SiteKey()
    (link,) = fresh("https://www.a.example/", [long], key, array("q", [0])).links
    assert link.hash == url_hash(link.url)


def test_plain_ones_need_no_parser(compiled: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be compiled in vain."""
    monkeypatch.setattr(resolving, "_walk", compiled.walk)
    monkeypatch.setattr(resolving, "_Closely", Refusing)
    key = SiteKey()
    key.of_origins["http://b.example"] = "b.example"
    hrefs = ["/x", "y.html#top", "http://b.example/z", "/q?a=1&b=2", "/x#again"]
    hrefs += ["mailto:a@b.example", "javascript:f()", "#top", " /caf%C3%A9\n"]
    assert [link.url for link in resolve("https://www.a.example/d/", hrefs, key)] == [
        "https://www.a.example/x",
        "https://www.a.example/d/y.html",
        "http://b.example/z",
        "https://www.a.example/q?a=1&b=2",
        "https://www.a.example/caf%C3%A9",
    ]
    (link,) = resolve("http://www.a.example/d/", ["//b.example/y"], key)
    assert link == ("http://b.example/y", url_hash("http://b.example/y"), "b.example")


def test_a_known_one_needs_no_origin(compiled: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it is known says that its origin is sound."""
    monkeypatch.setattr(resolving, "_walk", compiled.walk)
    monkeypatch.setattr(resolving, "_Closely", Refusing)
    hashed = url_hash("http://b.example/z")
    found = fresh(
        "https://www.a.example/d/", ["http://b.example/z"], SiteKey(), array("q", [hashed])
    )
    assert found == (1, [])


def test_an_origin_that_is_forgotten_meanwhile(
    compiled: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "_walk", compiled.walk)
    monkeypatch.setattr(resolving, "MAX_ORIGINS", 2)
    key = SiteKey()
    key.of_origins["http://b.example"] = "b.example"
    hrefs = ["http://b.example/z", "http://c.example/", "http://d.example/", "/x"]
    found = resolve("https://www.a.example/d/", hrefs, key)
    assert [(link.url, link.site) for link in found] == [
        ("http://b.example/z", "b.example"),
        ("http://c.example/", "c.example"),
        ("http://d.example/", "d.example"),
        ("https://www.a.example/x", "a.example"),
    ]


class Refusing:
    too_long = 0

    def __init__(self, *_: object) -> None:
        pass

    def __call__(self, href: str) -> None:
        raise AssertionError(f"{href} was asked of the parser")
