"""A page does not become dearer unnoticed. Instructions are counted, so the machine may be busy."""

import pytest
from benchmarks.crawl import guard
from benchmarks.crawl.guard import Counted


@pytest.fixture(scope="module")
def counted() -> Counted:
    return guard.counted()


def test_a_page_costs_no_more_than_was_kept(counted: Counted) -> None:
    assert not guard.complaint(counted.ratio, guard.baseline())


def test_a_fifth_more_is_noticed(counted: Counted) -> None:
    # A crawl that comes after another one is about a hundredth cheaper.
    assert counted.dearer_ratio == pytest.approx(1.2 * counted.ratio, rel=0.03)
    assert "make it cheaper" in guard.complaint(counted.dearer_ratio, counted.ratio)


def test_what_is_allowed() -> None:
    assert not guard.complaint(1.14, 1.0)
    assert not guard.complaint(0.5, 1.0)
    assert "16% more" in guard.complaint(1.16, 1.0)
