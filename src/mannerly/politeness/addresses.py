"""The limit per IP address: one visit may begin every `delay_s`, whatever sites live there.

A function of history and the time that is passed in: no clock, no chance, no I/O.

Time is cut into slots, a moment wider than the delay, so that who is late catches up. A site that
was visited, or turned away, has a slot **booked** and is released until then; so in the long run
every visit finds its slot free. Slots say who comes when; that two visits really begin a delay
apart is held by when the last one began, whoever was late.

The rules of `ask`, in their order:

1. Who comes with a booking begins as soon as the last visit is a delay ago, if that is no more than
   a slot away; it waits where it is. If it is more, the booking is void.
2. Who comes without one begins if the last visit is a delay ago and nobody has booked this slot.
3. Everybody else is turned away, and should `book`.

Memory is bounded: what is past is forgotten as others ask, and at most `most` addresses and as many
bookings are kept. Beyond that the longest unused address is forgotten, and a site is told of a slot
that is not kept for it: it may be turned away again.
"""

import ipaddress
import math
import zlib
from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple

from mannerly.politeness.pacing import MOMENT_S

MOST = 50_000
"""Some 40 MB in all, if every one is an address of its own."""
LATE_S = 600.0
"""A booking is good for this long after its time: a busy crawler comes late to all of them."""
NETWORK_BITS = 64
"""Of an IPv6 address: what one customer of a hoster gets at least."""
_SWEPT = 2
"""Entries that are looked at for being past, whenever somebody asks."""


def address_key(address: str) -> str:
    """What is limited as one: an IPv4 address, or the /64 network of an IPv6 address."""
    if ":" not in address:
        return address  # as sockets write it; to parse it takes longer than all the rest
    ip = ipaddress.IPv6Address(address)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(ip), NETWORK_BITS), strict=False))


class _Booking(NamedTuple):
    key: str
    at: float


class _Address:
    """One address: when its last visit began, and which slots are booked, as runs of numbers."""

    __slots__ = ("ends", "last_at", "phase_s", "starts")

    def __init__(self, key: str, width_s: float) -> None:
        self.last_at = -math.inf
        # Each address has its own beat, or all that is booked anywhere would come at one moment.
        self.phase_s = zlib.crc32(key.encode("ascii")) / 2**32 * width_s
        self.starts: list[int] = []
        self.ends: list[int] = []

    def first_free(self, slot: int) -> int:
        run = bisect_right(self.starts, slot) - 1
        return self.ends[run] if run >= 0 and self.ends[run] > slot else slot

    def take(self, slot: int) -> None:
        """Mark a slot that is free. Runs that meet become one, so a crowd costs no memory."""
        run = bisect_right(self.starts, slot)
        joins_left = run > 0 and self.ends[run - 1] == slot
        joins_right = run < len(self.starts) and self.starts[run] == slot + 1
        if joins_left and joins_right:
            self.ends[run - 1] = self.ends.pop(run)
            del self.starts[run]
        elif joins_left:
            self.ends[run - 1] = slot + 1
        elif joins_right:
            self.starts[run] = slot
        else:
            self.starts.insert(run, slot)
            self.ends.insert(run, slot + 1)

    def forget_before(self, slot: int) -> None:
        past = bisect_right(self.ends, slot)
        if past:
            del self.starts[:past], self.ends[:past]


class AddressSlots:
    def __init__(self, delay_s: float, most: int = MOST) -> None:
        """`delay_s` 0: there is no limit."""
        self.delay_s = delay_s
        self._width_s = delay_s + MOMENT_S
        self._most = most
        self._addresses: OrderedDict[str, _Address] = OrderedDict()
        self._bookings: OrderedDict[str, _Booking] = OrderedDict()

    def __len__(self) -> int:
        """Addresses and bookings that are kept."""
        return len(self._addresses) + len(self._bookings)

    def ask(self, address: str, site: str, now: float) -> float | None:
        """In how many seconds a visit to `site` at `address` may begin, which it then does; None:
        not now."""
        if not self.delay_s:
            return 0.0
        key = address_key(address)
        known = self._known(key, now)
        start_at = max(now, known.last_at + self.delay_s)
        booking = self._bookings.get(site)
        if booking is not None and booking.key == key and booking.at - now <= self._width_s:
            del self._bookings[site]
            start_at = max(start_at, booking.at)
            if start_at - now > self._width_s:
                return None
        elif start_at > now or known.first_free(slot := self._slot(known, now)) != slot:
            return None
        known.last_at = start_at
        return start_at - now

    def book(self, address: str, site: str, earliest_at: float, now: float) -> float:
        """When the next visit to `site` at `address` should come: `earliest_at` or later."""
        if not self.delay_s:
            return earliest_at
        key = address_key(address)
        known = self._known(key, now)
        after_at = max(earliest_at, now, known.last_at + self.delay_s)
        slot = self._slot(known, after_at)
        while self._time_of(known, slot) < after_at:
            slot += 1
        slot = known.first_free(slot)
        booked_at = self._time_of(known, slot)
        self._bookings.pop(site, None)
        if len(self._bookings) < self._most:
            known.take(slot)
            self._bookings[site] = _Booking(key, booked_at)
        return booked_at

    def _slot(self, known: _Address, at: float) -> int:
        return math.floor((at - known.phase_s) / self._width_s)

    def _time_of(self, known: _Address, slot: int) -> float:
        return known.phase_s + slot * self._width_s

    def _known(self, key: str, now: float) -> _Address:
        self._sweep(now)
        known = self._addresses.get(key)
        if known is None:
            known = self._addresses[key] = _Address(key, self._width_s)
            if len(self._addresses) > self._most:
                self._addresses.popitem(last=False)
        else:
            self._addresses.move_to_end(key)
            known.forget_before(self._slot(known, now))
        return known

    def _sweep(self, now: float) -> None:
        """Look at those that were not looked at for longest, and forget what is past."""
        for _ in range(min(_SWEPT, len(self._addresses))):
            key, known = self._addresses.popitem(last=False)
            known.forget_before(self._slot(known, now))
            if known.starts or known.last_at + self.delay_s > now:
                self._addresses[key] = known
        for _ in range(min(_SWEPT, len(self._bookings))):
            site, booking = self._bookings.popitem(last=False)
            if booking.at + LATE_S > now:
                self._bookings[site] = booking
