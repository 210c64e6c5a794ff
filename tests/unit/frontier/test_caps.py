"""What becomes of a site's URLs, as pure numbers."""

from hypothesis import given
from hypothesis import strategies as st

from mannerly.frontier import caps
from mannerly.model import Caps, DropCause

LIMITS = st.builds(
    Caps,
    pending=st.integers(0, 50),
    spilt=st.integers(0, 50),
    pages=st.integers(0, 50),
)
NUMBER = st.integers(0, 60)


@given(LIMITS, NUMBER, NUMBER)
def test_the_queue_never_grows_beyond_a_cap(limits: Caps, pending: int, pages: int) -> None:
    room = caps.room(limits, pending=pending, pages=pages)
    assert room >= 0
    if room:
        assert not limits.pending or pending + room <= limits.pending
        assert not limits.pages or pages + pending + room <= limits.pages


@given(LIMITS, NUMBER, NUMBER)
def test_a_spill_never_holds_more_than_its_cap_or_than_can_be_needed(
    limits: Caps, pages: int, spilt: int
) -> None:
    room = caps.spill_room(limits, pages=pages, spilt=spilt)
    assert room >= 0
    if room:
        assert not limits.spilt or spilt + room <= limits.spilt
        assert not limits.pages or pages + spilt + room <= limits.pages


@given(LIMITS, NUMBER, NUMBER)
def test_an_empty_queue_is_refilled_unless_the_site_is_full(
    limits: Caps, pages: int, spilt: int
) -> None:
    coming = caps.coming_back(limits, pending=0, pages=pages, spilt=spilt)
    assert bool(coming) == (spilt > 0 and not caps.is_full(limits, pages=pages))


@given(LIMITS, NUMBER, NUMBER, NUMBER)
def test_what_comes_back_is_there_and_has_room(
    limits: Caps, pending: int, pages: int, spilt: int
) -> None:
    coming = caps.coming_back(limits, pending=pending, pages=pages, spilt=spilt)
    assert 0 <= coming <= min(spilt, caps.PORTION, caps.room(limits, pending=pending, pages=pages))


def test_nothing_comes_back_into_a_queue_that_is_more_than_half_full() -> None:
    limits = Caps(pending=10, spilt=0, pages=0)
    assert caps.coming_back(limits, pending=6, pages=0, spilt=100) == 0
    assert caps.coming_back(limits, pending=5, pages=0, spilt=100) == 5


def test_0_is_no_limit() -> None:
    limits = Caps(pending=0, spilt=0, pages=0)
    assert caps.room(limits, pending=10**9, pages=10**9) > 10**9
    assert caps.spill_room(limits, pages=10**9, spilt=10**9) > 10**9
    assert not caps.is_full(limits, pages=10**9)


def test_the_cause_of_a_drop_is_the_page_limit_only_when_it_is_reached() -> None:
    limits = Caps(pending=1, spilt=1, pages=3)
    assert caps.drop_cause(limits, pages=2) is DropCause.SPILL_FULL
    assert caps.drop_cause(limits, pages=3) is DropCause.SITE_FULL
