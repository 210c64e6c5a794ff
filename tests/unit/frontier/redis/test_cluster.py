"""Slots as a Cluster counts them."""

import pytest

from mannerly.frontier.redis.cluster import slot_of


@pytest.mark.parametrize(("tag", "slot"), [("123456789", 0x31C3), ("foo", 12182), ("", 0)])
def test_slots_are_those_of_the_specification(tag: str, slot: int) -> None:
    assert slot_of(tag) == slot
