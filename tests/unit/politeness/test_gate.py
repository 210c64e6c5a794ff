"""The robots gate: the decision over all states, and the bounded cache behind it."""

import pytest

from mannerly.model import RobotsRecord, RobotsState
from mannerly.politeness.gate import GiveUp, MustFetch, RobotsCache, Ruling, Wait, ask
from tests.unit.politeness.test_pacing import POLICY

ORIGIN = "https://example.org"
NOW = 1_000_000.0


def record(
    state: RobotsState, *, body: bytes = b"", age_s: float = 0.0, failures: int = 0
) -> RobotsRecord:
    return RobotsRecord(ORIGIN, state, body, age_s, failures)


def answer(state: RobotsState, *, age_s: float = 0.0, failures: int = 0, body: bytes = b""):  # type: ignore[no-untyped-def]
    cache = RobotsCache("mannerly")
    known = cache.put(record(state, body=body, failures=failures), NOW - age_s)
    return ask(POLICY, known, NOW)


def test_nothing_known_means_fetch() -> None:
    assert ask(POLICY, None, NOW) == MustFetch(0)


def test_fresh_rules_decide_and_stale_ones_do_not() -> None:
    ruling = answer(RobotsState.FOUND, body=b"User-agent: *\nDisallow: /private\n", age_s=86399)
    assert isinstance(ruling, Ruling)
    assert not ruling.rules.verdict("/private/x").allowed
    assert ruling.rules.verdict("/public").allowed
    assert answer(RobotsState.FOUND, age_s=86400) == MustFetch(0)


def test_absent_means_allowed() -> None:
    ruling = answer(RobotsState.ABSENT)
    assert isinstance(ruling, Ruling)
    assert ruling.rules.verdict("/anything").allowed


def test_unreachable_waits_then_asks_again_then_gives_up() -> None:
    assert answer(RobotsState.UNREACHABLE, failures=1, age_s=10) == Wait(NOW + 50)
    assert answer(RobotsState.UNREACHABLE, failures=1, age_s=60) == MustFetch(1)
    assert answer(RobotsState.UNREACHABLE, failures=2, age_s=60) == Wait(NOW + 180)
    assert answer(RobotsState.UNREACHABLE, failures=3, age_s=60) == GiveUp()
    assert answer(RobotsState.UNREACHABLE, failures=3, age_s=86400) == MustFetch(0)


def test_a_lease_brings_news_only_if_it_is_newer() -> None:
    cache = RobotsCache("mannerly")
    cache.put(record(RobotsState.ABSENT), NOW)
    cache.learn([record(RobotsState.UNREACHABLE, age_s=100, failures=1)], NOW)
    known = cache.get(ORIGIN)
    assert known is not None
    assert known.state is RobotsState.ABSENT
    cache.learn([record(RobotsState.UNREACHABLE, age_s=5, failures=1)], NOW + 100)
    known = cache.get(ORIGIN)
    assert known is not None
    assert known.state is RobotsState.UNREACHABLE
    assert known.fetched_at == pytest.approx(NOW + 95)


def test_the_cache_is_bounded_and_forgets_the_oldest() -> None:
    cache = RobotsCache("mannerly", limit_bytes=100_000)
    for n in range(1000):
        origin = f"https://host{n}.example"
        cache.put(RobotsRecord(origin, RobotsState.ABSENT, b"", 0, 0), NOW)
    assert len(cache) < 400
    assert cache.get("https://host0.example") is None
    assert cache.get("https://host999.example") is not None
