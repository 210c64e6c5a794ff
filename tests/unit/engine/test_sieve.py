"""Links on their way to the frontier: what the sieve drops, and what it must never drop."""

from hypothesis import given
from hypothesis import strategies as st

from mannerly.engine.sieve import KnownHashes

hashes = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(hashes), st.lists(hashes))
def test_known_is_only_what_was_remembered(remembered: list[int], others: list[int]) -> None:
    known = KnownHashes(bits=4)
    known.remember(remembered)
    for url_hash in others:
        assert (url_hash in known) <= (url_hash in remembered)
    if remembered:
        assert remembered[-1] in known


def test_nothing_is_known_at_the_start() -> None:
    known = KnownHashes(bits=4)
    assert not any(n in known for n in range(-100, 100))
