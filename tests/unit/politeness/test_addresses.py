"""The limit per IP address: its rules, and what holds for any sequence of visits."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mannerly.politeness.addresses import LATE_S, AddressSlots, address_key

ONE, OTHER = "192.0.2.1", "192.0.2.2"
DELAY_S = 0.5
ROUNDING_S = 1e-9

visits = st.lists(
    st.tuples(
        st.floats(0, 3),
        st.sampled_from([ONE, OTHER]),
        st.sampled_from("abcdefgh"),
        st.floats(0, 20),
    ),
    max_size=60,
)
"""What happens in turn: time passes, a site comes to an address; its next visit is due so late."""


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
    ],
)
def test_what_is_limited_as_one(address: str, key: str) -> None:
    assert address_key(address) == key


def test_one_begins_and_the_next_is_turned_away() -> None:
    slots = AddressSlots(DELAY_S)
    assert slots.ask(ONE, "a", 100.0) == 0
    assert slots.ask(ONE, "b", 100.4) is None
    assert slots.ask(OTHER, "b", 100.4) == 0
    assert slots.ask(ONE, "b", 101.0) == 0


def test_a_booked_slot_is_kept_from_others() -> None:
    slots = AddressSlots(DELAY_S)
    at = slots.book(ONE, "a", 110.0, 100.0)
    assert 110.0 <= at < 111.0
    assert slots.ask(ONE, "stranger", at + 0.01) is None
    assert slots.ask(ONE, "a", at + 0.02) == 0


def test_who_booked_waits_for_one_that_was_late_and_no_longer_than_a_slot() -> None:
    slots = AddressSlots(DELAY_S)
    first_at, second_at = (slots.book(ONE, site, 110.0, 100.0) for site in "ab")
    late_at = first_at + 0.4
    assert slots.ask(ONE, "a", late_at) == 0
    wait_s = slots.ask(ONE, "b", second_at)
    assert wait_s == pytest.approx(late_at + DELAY_S - second_at)


def test_after_a_pause_those_who_come_at_once_are_spread_anew() -> None:
    slots = AddressSlots(DELAY_S)
    at = [slots.book(ONE, site, 110.0, 100.0) for site in "abcd"][-1]
    waits_s = [slots.ask(ONE, site, at) for site in "abcd"]
    assert waits_s == [0, pytest.approx(DELAY_S), None, None]
    # Their bookings are void: they book again, behind those who begin now.
    again = [slots.book(ONE, site, at, at) for site in "cd"]
    assert at + 2 * DELAY_S <= again[0] < again[1]
    assert slots.ask(ONE, "c", again[0]) == 0


def test_far_too_late_is_like_without_a_booking() -> None:
    slots = AddressSlots(DELAY_S)
    at = slots.book(ONE, "a", 110.0, 100.0)
    for second in range(20):  # others ask, so that what is past is looked at
        slots.ask(OTHER, "b", at + LATE_S + second)
    assert len(slots) == 1


def test_no_limit() -> None:
    slots = AddressSlots(0.0)
    assert [slots.ask(ONE, "a", 1.0), slots.ask(ONE, "b", 1.0)] == [0, 0]
    assert slots.book(ONE, "a", 7.0, 1.0) == 7.0
    assert len(slots) == 0


@settings(deadline=None)
@given(visits, st.sampled_from([1, 3, 1000]))
def test_two_visits_to_an_address_begin_a_delay_apart(
    steps: list[tuple[float, str, str, float]], most: int
) -> None:
    """Whoever asks, booked or not. With room for fewer addresses than there are, it still holds for
    those that are kept."""
    slots = AddressSlots(DELAY_S, most)
    now = 1000.0
    begun: dict[str, list[float]] = {ONE: [], OTHER: []}
    for passed_s, address, site, rest_s in steps:
        now += passed_s
        wait_s = slots.ask(address, site, now)
        if wait_s is not None:
            assert 0 <= wait_s <= DELAY_S + 0.1
            begun[address].append(now + wait_s)
        booked_at = slots.book(address, site, now + rest_s, now)
        assert booked_at >= now + rest_s
        assert len(slots) <= 2 * most
    if most > 1:
        for times in begun.values():
            for earlier_at, later_at in itertools.pairwise(times):
                assert later_at - earlier_at >= DELAY_S - ROUNDING_S


@settings(deadline=None)
@given(st.lists(st.floats(0, 30), min_size=2, max_size=50))
def test_bookings_of_an_address_are_a_slot_apart_and_none_is_far(rests_s: list[float]) -> None:
    slots = AddressSlots(DELAY_S)
    booked = [
        slots.book(ONE, str(number), 100.0 + rest_s, 100.0) for number, rest_s in enumerate(rests_s)
    ]
    for earlier_at, later_at in itertools.pairwise(sorted(booked)):
        assert later_at - earlier_at > DELAY_S
    for rest_s, booked_at in zip(rests_s, booked, strict=True):
        # No slot stays empty that somebody wanted: at worst all the others are before.
        assert 0 <= booked_at - 100.0 - rest_s <= len(rests_s) * (DELAY_S + 0.1)


@settings(deadline=None)
@given(st.integers(2, 30), st.floats(0, 0.3), st.randoms(use_true_random=False))
def test_in_the_long_run_nobody_is_turned_away(sites: int, jitter_s: float, chance) -> None:  # type: ignore[no-untyped-def]
    """Sites that come at their slots, or a little late, all begin: no lease is wasted."""
    slots = AddressSlots(DELAY_S)
    due = [(slots.book(ONE, str(site), 100.0, 100.0), str(site)) for site in range(sites)]
    for _ in range(3 * sites):
        due.sort()
        at, site = due.pop(0)
        now = at + chance.uniform(0, jitter_s)
        wait_s = slots.ask(ONE, site, now)
        assert wait_s is not None
        due.append((slots.book(ONE, site, now + wait_s + 5.0, now + wait_s), site))


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=60, max_size=120))
def test_memory_is_bounded(addresses: list[int]) -> None:
    slots = AddressSlots(DELAY_S, most=20)
    for number in addresses:
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        slots.ask(address, str(number), 100.0)
        slots.book(address, str(number), 1e6, 100.0)
        assert len(slots) <= 40


def test_what_is_past_is_forgotten() -> None:
    slots = AddressSlots(DELAY_S)
    for number in range(1000):
        slots.ask(f"10.0.{number >> 8}.{number & 255}", str(number), 1.0 * number)
    assert len(slots) < 10


def test_a_crowd_costs_little() -> None:
    """A run of slots is two numbers: the ten-thousandth booking is found as soon as the first."""
    slots = AddressSlots(DELAY_S)
    for number in range(10_000):
        slots.book(ONE, str(number), 100.0, 100.0)
    assert len(slots._addresses[ONE].starts) == 1
