"""Bare domains that are not served over https."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.engine.fallback import FALLS_BACK, falls_back, over_http
from mannerly.model import Outcome, Priority, Source
from mannerly.url import canonical, url_hash
from tests.unit.engine.urls import queued

failures = st.none() | st.sampled_from(Outcome)
hosts = st.from_regex(r"[a-z][a-z0-9]{0,10}\.(org|example)", fullmatch=True)


@given(hosts, st.sampled_from(Source), failures)
def test_only_a_bare_domain_falls_back_and_only_once(
    host: str, source: Source, failure: Outcome | None
) -> None:
    url = queued(f"https://{host}/", source=source)
    falls = falls_back(url, failure)
    assert falls == (source is Source.BARE_SEED and failure in FALLS_BACK)
    plain = over_http(url, host)
    again = queued(plain.url, source=plain.source, priority=plain.priority)
    assert not falls_back(again, failure)


@pytest.mark.parametrize(
    "failure", [None, Outcome.NO_SUCH_NAME, Outcome.DNS_TROUBLE, Outcome.ADDRESS_REFUSED,
                Outcome.NOT_SENT, Outcome.ROBOTS_UNREACHABLE]
)  # fmt: skip
def test_what_is_no_matter_of_the_scheme_does_not_fall_back(failure: Outcome | None) -> None:
    assert not falls_back(queued("https://example.org/", source=Source.BARE_SEED), failure)


@given(hosts, st.from_regex(r"/[a-z/?=]{0,10}", fullmatch=True))
def test_it_is_the_same_place_and_comes_next(host: str, path: str) -> None:
    url = queued(canonical(f"https://{host}{path}"), source=Source.BARE_SEED, depth=0)
    plain = over_http(url, host)
    assert plain.url == canonical(plain.url) == url.url.replace("https://", "http://")
    assert plain.hash == url_hash(plain.url) != url.hash
    assert (plain.site, plain.depth, plain.priority) == (host, url.depth, Priority.NEXT)
