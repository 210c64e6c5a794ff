"""Slots as a Cluster counts them, and what a commit in one says that it is about."""

from collections import Counter

import pytest

from mannerly.frontier.redis.cluster import CRAWL, SLOTS, slot_of, slots_of
from mannerly.frontier.redis.concluding import intent, meant


@pytest.mark.parametrize(("tag", "slot"), [("123456789", 0x31C3), ("foo", 12182), ("", 0)])
def test_slots_are_those_of_the_specification(tag: str, slot: int) -> None:
    assert slot_of(tag) == slot


@pytest.mark.parametrize("name", ["mannerly", "a", "crawl_17", "x" * 63])
@pytest.mark.parametrize("masters", [2, 3, 5, 8])
def test_masters_share_the_buckets_of_every_crawl(name: str, masters: int) -> None:
    slots = [slot for part, slot in slots_of(name).items() if part != CRAWL]
    shares = Counter(slot * masters // SLOTS for slot in slots)
    assert sum(shares.values()) == 32
    # A 32nd in which a master's slots begin or end may be another's.
    assert all(abs(shares[number] - 32 / masters) < 2 for number in range(masters))


def test_an_intent_is_read_as_it_was_written() -> None:
    tokens = {7: b"8 bytes.", 0: b"", 31: b"8 bytes.16 bytes"}
    assert dict(meant(intent(tokens))) == tokens
    assert list(meant(b"")) == []
