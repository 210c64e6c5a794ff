"""The compiled way through a page's links gives what the URL parser gives."""

from array import array
from collections import Counter
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mannerly.url import LeftOut, ParameterRules, Resolved, SiteKey, links_plain, resolve, resolving
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


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.lists(st.integers(0, 19)))
def test_both_find_the_same_others(
    compiled: ModuleType, hashes: list[int], known: list[int]
) -> None:
    slots = array("q", bytes(8 * 16))
    for place in known:
        if place < len(hashes):
            slots[hashes[place] & 15] = hashes[place]
    links = [Resolved(f"/{n}", digest, "a.example") for n, digest in enumerate(hashes)]
    left = compiled.others(links, slots)
    assert left == links_plain.others(links, slots)
    assert all(slots[link.hash & 15] != link.hash for link in left)


def test_plain_ones_need_no_parser(compiled: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be compiled in vain."""
    monkeypatch.setattr(resolving, "_walk", compiled.walk)
    monkeypatch.setattr(resolving, "_Closely", Refusing)
    key = SiteKey()
    key.of_origins["http://b.example"] = "b.example"
    hrefs = ["/x", "y.html#top", "http://b.example/z", "/q?a=1&b=2", "/x#again"]
    assert [link.url for link in resolve("https://www.a.example/d/", hrefs, key)] == [
        "https://www.a.example/x",
        "https://www.a.example/d/y.html",
        "http://b.example/z",
        "https://www.a.example/q?a=1&b=2",
    ]


class Refusing:
    too_long = 0

    def __init__(self, *_: object) -> None:
        pass

    def __call__(self, href: str) -> None:
        raise AssertionError(f"{href} was asked of the parser")
