"""X-Robots-Tag: what it says to us, in all the ways in which it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mannerly.politeness.tags import header_tags, is_over

WALL = 1_800_000_000.0
PAST = "25 Jun 2010 15:00:00 PST"
FUTURE = "25 Jun 2040 15:00:00 PST"
RFC850 = "Friday, 25-Jun-10 15:00:00 GMT"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], ""),
        ([""], ""),
        (["noindex"], "i"),
        (["nofollow"], "f"),
        (["none"], "if"),
        (["NoIndex, NOFOLLOW"], "if"),
        (["index, follow, all, noarchive"], "a"),
        (["noindex", "nofollow"], "if"),
        (["mannerly: noindex"], "i"),
        (["Mannerly: NONE"], "if"),
        (["robots: noindex"], "i"),
        (["*: nofollow"], "f"),
        (["otherbot: noindex, nofollow"], ""),
        (["otherbot: noindex, mannerly: nofollow"], "f"),
        (["mannerly: nofollow, otherbot: noindex"], "f"),
        (["mannerly: noindex, nofollow"], "if"),
        # Each header begins anew: the second speaks to everybody.
        (["otherbot: noindex", "nofollow"], "f"),
        (["max-snippet: 20, noindex"], "i"),
        (["otherbot: max-snippet: 20, noindex"], ""),
        ([f"unavailable_after: {PAST}"], "i"),
        ([f"unavailable_after: {FUTURE}"], ""),
        ([f"UNAVAILABLE_AFTER: {PAST.upper()}"], "i"),
        ([f"unavailable_after: {FUTURE}, nofollow"], "f"),
        ([f"mannerly: unavailable_after: {PAST}"], "i"),
        ([f"otherbot: unavailable_after: {PAST}"], ""),
        ([f"unavailable_after: {RFC850}"], "i"),
        # The comma and the colons of a date are no part of the list.
        ([f"unavailable_after: {RFC850.replace('-10', '-40')}, noindex"], "i"),
        (["unavailable_after: 2010-06-25T15:00:00Z"], "i"),
        (["unavailable_after: 2040-06-25"], ""),
        (["unavailable_after: some day"], ""),
    ],
)
def test_what_headers_say(values: list[str], said: str) -> None:
    assert header_tags(values, "Mannerly", WALL) == ("i" in said, "f" in said, "a" in said)


def test_a_date_passes() -> None:
    assert not is_over("Fri, 15 Jan 2027 08:00:01 GMT", WALL)
    assert is_over("Fri, 15 Jan 2027 08:00:00 GMT", WALL)


WORDS = st.sampled_from(
    ["noindex", "nofollow", "none", "all", "mannerly:", "otherbot:", "unavailable_after:", PAST,
     RFC850, ",", ", ", " ", ":", "max-snippet:-1"]
)  # fmt: skip


@given(st.lists(st.lists(WORDS).map("".join) | st.text(), max_size=4), st.text(max_size=8))
def test_never_raises_and_more_headers_never_allow_more(values: list[str], agent: str) -> None:
    before = header_tags(values[:-1], agent, WALL)
    after = header_tags(values, agent, WALL)
    assert after.noindex >= before.noindex
    assert after.nofollow >= before.nofollow


@given(st.text())
def test_no_date_raises(date: str) -> None:
    assert is_over(date, WALL) in (True, False)
