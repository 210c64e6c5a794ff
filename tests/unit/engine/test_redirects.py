"""Redirects of pages: where they point, and that no chain is endless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.engine.redirects import (
    MAX_REDIRECTS,
    hops_of,
    location_of,
    redirection,
    retry_priority,
)
from mannerly.fetch.contract import Fetched
from mannerly.model import Priority, QueuedUrl, Source
from tests.unit.engine.urls import queued, responded, sieve

SIEVE = sieve("excluded.example")


def successor(url: QueuedUrl, *, deferred: bool) -> QueuedUrl | None:
    """What the frontier holds after `url` redirected somewhere new, perhaps after a deferral."""
    target = f"http://host{hops_of(url) % 3}.example/{url.hash}"
    links = redirection(responded(url.url, location=target.encode()), url, SIEVE).links
    if not links:
        return None
    (link,) = links
    followed = queued(link.url, priority=link.priority, source=link.source, depth=link.depth)
    if deferred:
        followed = followed._replace(priority=retry_priority(followed), tries=1)
    return followed


@given(
    st.sampled_from([Priority.SEED, Priority.LINK, Priority.RETRY]),
    st.lists(st.booleans(), min_size=MAX_REDIRECTS + 5, max_size=MAX_REDIRECTS + 5),
)
def test_a_chain_ends_after_so_many_hops_deferred_or_not(
    priority: int, deferrals: list[bool]
) -> None:
    url: QueuedUrl | None = queued(priority=priority)
    followed = 0
    for deferred in deferrals:
        assert url is not None
        assert hops_of(url) == followed
        url = successor(url, deferred=deferred)
        if url is None:
            break
        followed += 1
    assert followed == MAX_REDIRECTS


@given(st.integers(1, MAX_REDIRECTS))
def test_a_redirect_goes_before_links_and_behind_them_once_it_failed(hops: int) -> None:
    url = queued(source=Source.REDIRECT, priority=Priority.NEXT + hops)
    assert url.priority < Priority.LINK
    assert retry_priority(url) >= Priority.RETRY
    assert retry_priority(queued()) == Priority.RETRY


@pytest.mark.parametrize(
    ("location", "target", "followed"),
    [
        (b"/next", "http://example.org/next", True),
        (b" next#part ", "http://example.org/next", True),
        (b"https://example.org/", "https://example.org/", True),
        (b"//other.example/x", "http://other.example/x", True),
        (b"/?q=\xe2\x98\x83", "http://example.org/?q=%E2%98%83", True),
        (b"/?q=\xff", "http://example.org/?q=%FF", True),
        (b"http://b\xc3\xbccher.example/", "http://xn--bcher-kva.example/", True),
        (b"/", "http://example.org/", False),
        (b"/a?utm_source=x", "http://example.org/a", True),
        (b"/?PHPSESSID=1f2e", "http://example.org/?PHPSESSID=1f2e", True),
        (b"http://excluded.example/", "http://excluded.example/", False),
        (b"/a" * 50, "http://example.org" + "/a" * 50, False),
        (b"", "", False),
        (b"ftp://example.org/", "", False),
        (b"javascript:alert(1)", "", False),
        (b"data:text/html,hi", "", False),
        (b"http://[", "", False),
        (b"http://" + b"a" * 300 + b".example/", "", False),
    ],
)
def test_where_a_redirect_leads(location: bytes, target: str, followed: bool) -> None:
    found = redirection(responded(location=location), queued(), SIEVE)
    assert found.target == target
    assert [link.url for link in found.links] == ([target] if followed else [])
    assert bool(found.why_not) != followed


def test_two_locations_that_differ_are_none() -> None:
    same = [(b"Location", b"/a"), (b"location", b"/a")]
    assert location_of(Fetched("http://example.org/", status=301, headers=same)) == "/a"
    other = [*same, (b"LOCATION", b"/b")]
    assert location_of(Fetched("http://example.org/", status=301, headers=other)) == ""


def test_a_redirect_is_as_deep_as_what_it_came_from() -> None:
    (link,) = redirection(responded(location=b"/next"), queued(depth=4), SIEVE).links
    assert (link.depth, link.source, link.referrer) == (4, Source.REDIRECT, queued().hash)


@given(st.binary(max_size=60))
def test_no_location_raises(location: bytes) -> None:
    found = redirection(responded(location=location), queued(), SIEVE)
    assert found.target.startswith("http") == bool(found.target)
