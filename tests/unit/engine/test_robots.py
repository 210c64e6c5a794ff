"""What a response to a request for robots.txt means."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.engine.robots import READ_LIMIT, Barred, Final, Hop, next_hop, robots_record
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome, RobotsState
from mannerly.politeness.robots import ROBOTS_LIMIT
from tests.unit.engine.urls import responded, sieve

ORIGIN = "http://example.org"
URL = ORIGIN + "/robots.txt"
RULES = b"User-agent: *\nDisallow: /closed\n"
SIEVE = sieve("excluded.example")


@given(st.integers(200, 599), st.integers(0, 9))
def test_every_status_means_something(status: int, failures: int) -> None:
    record = robots_record(ORIGIN, responded(URL, status, RULES), failures)
    if status == 429 or status >= 500:
        assert (record.state, record.failures) == (RobotsState.UNREACHABLE, failures + 1)
    elif status < 300:
        assert (record.state, record.body) == (RobotsState.FOUND, RULES)
    else:
        assert (record.state, record.failures) == (RobotsState.ABSENT, 0)


@given(st.sampled_from([outcome for outcome in Outcome if outcome]), st.integers(200, 599))
def test_any_failure_means_no(failure: Outcome, status: int) -> None:
    fetched = responded(URL, status, RULES)
    fetched.failure = failure
    assert robots_record(ORIGIN, fetched, 0).state is RobotsState.UNREACHABLE


PACKED = gzip.compress(RULES + bytes(range(32, 127)) * 300)


@pytest.mark.parametrize(
    ("body", "encoding", "state"),
    [
        (gzip.compress(RULES, mtime=0), b"gzip", RobotsState.FOUND),
        (PACKED[: len(PACKED) // 2], b"gzip", RobotsState.UNREACHABLE),
        (PACKED[:-8] + b"\0" * 8, b"gzip", RobotsState.UNREACHABLE),
        (b"\x1f\x8b", b"gzip", RobotsState.UNREACHABLE),
        (b"\x00\x01\x02 something packed", b"br", RobotsState.UNREACHABLE),
        (b"\x00\x01\x02 something packed", b"mystery", RobotsState.UNREACHABLE),
        # Plain text under a wrong label.
        (RULES, b"utf-8", RobotsState.FOUND),
        (RULES, b"gzip", RobotsState.FOUND),
        (b"", b"gzip", RobotsState.FOUND),
    ],
)
def test_what_was_damaged_on_the_way_is_not_read_in_part(
    body: bytes, encoding: bytes, state: RobotsState
) -> None:
    fetched = responded(URL, 200, body, content_encoding=encoding)
    assert robots_record(ORIGIN, fetched, 0).state is state


def test_a_file_that_is_too_large_is_read_as_far_as_it_counts() -> None:
    large = RULES + b"# and more\n" * 100_000
    fetched = responded(URL, 200, gzip.compress(large), content_encoding=b"gzip")
    record = robots_record(ORIGIN, fetched, 0)
    assert record.state is RobotsState.FOUND
    assert record.body == large[:READ_LIMIT]
    assert READ_LIMIT > ROBOTS_LIMIT


@pytest.mark.parametrize(
    ("location", "kind"),
    [(b"/other", Hop), (b"https://www.example.org/robots.txt", Hop),
     (b"http://elsewhere.example/r", Hop), (b"ftp://example.org/robots.txt", Barred),
     (b"http://[", Barred), (b"http://excluded.example/robots.txt", Barred), (b"", Final)],
)  # fmt: skip
def test_which_redirects_are_followed(
    location: bytes, kind: type[Hop] | type[Barred] | type[Final]
) -> None:
    assert isinstance(next_hop(URL, responded(URL, 301, location=location), SIEVE), kind)


@given(st.integers(200, 599).filter(lambda status: not 300 <= status < 400))
def test_only_a_3xx_redirects(status: int) -> None:
    fetched = Fetched(URL, status=status, headers=[(b"Location", b"/other")])
    assert isinstance(next_hop(URL, fetched, SIEVE), Final)
