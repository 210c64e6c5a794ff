"""Copies of robots.txt that redirects lead to."""

from mannerly.engine.copies import LARGEST_BYTES, Copies
from mannerly.model import Outcome
from tests.unit.engine.urls import responded

URL = "http://example.org/robots.txt"
TTL_S = 100.0


def test_a_copy_serves_until_it_is_stale() -> None:
    copies = Copies(TTL_S)
    copies.keep(responded(URL, 200, b"User-agent: *\n"), read_at=1000.0)
    copy = copies.get(URL, 1099.9)
    assert copy is not None
    redirect = responded("http://other.example/robots.txt", 301)
    redirect.ended_at = 1099.5
    stand_in = copy.standing_in(redirect)
    assert (stand_in.body, stand_in.url) == (b"User-agent: *\n", URL)
    assert stand_in.ended_at == 1099.5
    assert copy.read_at == 1000.0
    assert copies.get(URL, 1100.0) is None
    assert copies.get(URL + "?", 1000.0) is None


def test_only_what_says_something_is_kept() -> None:
    copies = Copies(TTL_S)
    for status in (429, 500, 503, 301):
        copies.keep(responded(URL, status), 0.0)
    broken = responded(URL, 200)
    broken.failure = Outcome.BROKEN
    copies.keep(broken, 0.0)
    cut = responded(URL, 200)
    cut.truncated = True
    copies.keep(cut, 0.0)
    copies.keep(responded(URL, 200, b"#" * (LARGEST_BYTES + 1)), 0.0)
    assert len(copies) == 0
    copies.keep(responded(URL, 404), 0.0)
    assert len(copies) == 1


def test_they_are_bounded_and_the_longest_unused_go_first() -> None:
    copies = Copies(TTL_S, limit_bytes=20_000)
    first = "http://first.example/robots.txt"
    copies.keep(responded(first, 200), 0.0)
    for n in range(100):
        copies.keep(responded(f"http://host{n}.example/robots.txt", 200, b"#" * 500), 0.0)
        assert copies.get(first, 1.0) is not None
    assert len(copies) < 20
    assert copies.get("http://host0.example/robots.txt", 1.0) is None
    assert copies.get("http://host99.example/robots.txt", 1.0) is not None
    copies.keep(responded(first, 200, b"new"), 5.0)
    copy = copies.get(first, 6.0)
    assert copy is not None
    assert copy.fetched.body == b"new"
