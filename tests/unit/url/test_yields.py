"""Patterns, query variants and the yield guard."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.errors import UrlError
from mannerly.url import canonical
from mannerly.url.patterns import folded_plain, pattern_of
from mannerly.url.variants import DistinctCount, QueryVariants
from mannerly.url.yields import LEAVE_OUT, NEW, PROVEN, PUT_OFF, REPEATS, Gave, Standing, YieldGuard
from tests.compiled import compiled_part

SITE = "example.org"


def page(number: int, kind: str = "calendar") -> str:
    return f"https://example.org/{kind}/{number}?view=list"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/2024/05/post-17.html", "/0/0/post-0.html"),
        ("/u/7f3a9c/photos?page=3&a", "/u/*/photos?a&page"),
        ("/item12/", "/item0/"),
        ("/maze/a/b/b/a/", "/maze/a/b/\u2026/"),
        ("/maze/a/b/a/b/b/", "/maze/a/b/\u2026/"),
        ("/a/b", "/a/b"),
        ("/x?b=1&a=2&b=3", "/x?a&b"),
        ("/x?p1=1&p2=2", "/x?p0&p0"),
    ],
)
def test_patterns(path: str, pattern: str) -> None:
    assert pattern_of(f"https://example.org{path}") == f"example.org{pattern}"
    assert pattern_of(f"http://shop7.example.org:81{path}") == f"shop0.example.org{pattern}"


@given(st.text(st.sampled_from("aZ09-_./?&=%\u2026\u00e9"), max_size=30))
def test_numbers_are_folded_alike(shape: str) -> None:
    folded = compiled_part("url._patterns").folded(shape)
    assert folded in ([folded_plain(shape)] if shape.isascii() else [None])


@given(st.text(max_size=300))
def test_every_url_has_a_pattern_that_is_bounded(text: str) -> None:
    try:
        url = canonical(text, "https://example.org/a/b/c?d")
    except UrlError:
        return
    assert len(pattern_of(url)) <= 200
    assert pattern_of(url) == pattern_of(url.replace("https://", "http://"))


@pytest.mark.parametrize("count", [1, 10, 60, 150, 1_000, 20_000])
def test_distinct_things_are_counted_about(count: int) -> None:
    chance = random.Random(count)
    numbers = [chance.getrandbits(64) for _ in range(count)]
    counter = DistinctCount()
    for number in numbers + numbers:
        counter.put(number)
    assert 0.65 * count <= counter.estimate <= 1.35 * count + 1


def test_a_path_has_enough_of_queries() -> None:
    variants = QueryVariants(500)
    asked = [variants.too_many(f"https://example.org/l/{n % 7}?f={n}") for n in range(2_000)]
    assert 330 <= asked.index(True) <= 700
    assert all(asked[asked.index(True) :])
    assert not variants.too_many("https://example.org/l/1")
    assert not variants.too_many("https://example.org/other?f=1")
    assert not variants.too_many("https://other.example/l/1?f=1")


def test_the_same_queries_again_are_no_new_ones() -> None:
    variants = QueryVariants(100)
    for _ in range(50):
        for n in range(40):
            assert not variants.too_many(f"https://example.org/user/{_ * n}?tab={n}")


def test_counts_of_queries_are_bounded() -> None:
    variants = QueryVariants(5, paths=10)
    for n in range(100):
        variants.too_many(f"https://example.org/{'x' * n}?a")
        assert len(variants) <= 10


def test_a_pattern_that_repeats_is_put_off_then_left_out() -> None:
    guard = YieldGuard()
    seen = [guard.note(SITE, page(n), Gave.NOTHING) for n in range(70)]
    assert seen.index(Standing.PUT_OFF) == PUT_OFF // REPEATS - 1
    assert seen.index(Standing.LEFT_OUT) == LEAVE_OUT // REPEATS - 1
    assert guard.standing(SITE, page(10_000)) is Standing.LEFT_OUT
    assert guard.standing(SITE, page(1, "news")) is Standing.OPEN
    assert guard.standing("other.example", page(1)) is Standing.OPEN
    assert (guard.closings, list(guard.closed)) == (
        1,
        [(SITE, "example.org/calendar/0?view", LEAVE_OUT // REPEATS)],
    )


def test_what_turns_out_to_be_new_opens_it_again() -> None:
    guard = YieldGuard()
    for n in range(100):
        guard.note(SITE, page(n), Gave.NOTHING)
    needed = (LEAVE_OUT - PUT_OFF) // NEW
    for n in range(needed):
        assert guard.note(SITE, page(n), Gave.SOMETHING_NEW) is Standing.LEFT_OUT
    assert guard.note(SITE, page(needed), Gave.SOMETHING_NEW) is Standing.OPEN
    assert guard.closings == 1


def test_lists_are_kept_by_what_they_lead_to() -> None:
    guard = YieldGuard()
    article = page(1, "article")
    assert not guard.leads(SITE, page(1, "list"), article)
    for n in range(PROVEN):
        guard.note(SITE, page(n, "article"), Gave.SOMETHING_NEW)
    assert guard.leads(SITE, page(1, "list"), article)
    assert not guard.leads(SITE, page(2, "article"), article)
    assert not guard.leads("other.example", page(1, "list"), article)


gifts = st.lists(st.sampled_from(Gave), max_size=300)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.sampled_from(Gave))))
def test_memory_is_bounded_and_answers_are_the_same(
    notes: list[tuple[int, int, Gave]],
) -> None:
    guards = [YieldGuard(patterns=7), YieldGuard(patterns=7)]
    for site, kind, gave in notes:
        told = [g.note(f"s{site}", page(1, "x" * kind), gave) for g in guards]
        assert told[0] == told[1] == guards[0].standing(f"s{site}", page(2, "x" * kind))
        assert len(guards[0]) <= 7
        assert set(guards[0]._suspects) <= {site for site, _ in guards[0]._records}


@given(gifts)
def test_nothing_is_left_out_before_so_many_repeats(given_: list[Gave]) -> None:
    guard = YieldGuard()
    for n, gave in enumerate(given_):
        standing = guard.note(SITE, page(n), gave)
        repeats = sum(1 for one in given_[: n + 1] if one > 0)
        if repeats < LEAVE_OUT // REPEATS:
            assert standing is not Standing.LEFT_OUT


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_a_pattern_that_is_half_new_stays(seed: int) -> None:
    """A large ordinary site: many URLs alike, half of them copies of others."""
    chance = random.Random(seed)
    guard = YieldGuard()
    for n in range(2_000):
        gave = Gave.SOMETHING_NEW if chance.random() < 0.5 else Gave.NOTHING
        assert guard.note(SITE, page(n), gave) is not Standing.LEFT_OUT
