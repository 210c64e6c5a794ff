"""Where visits meet the limit per IP address: who may begin, and who comes back when.

What the address is, is known only when a connection is about to be opened, so the transport asks
here. A visit takes one slot, however many requests it makes at the address (robots.txt and the page
after it, a connection that was lost). When it is over the site's next slot is booked, and its rest
lasts until then: so it is not leased in vain. A site that is turned away is given back with the
time of its slot; nobody is blamed.
"""

from functools import partial

from mannerly.clock import Clock
from mannerly.engine.plan import EnginePlan
from mannerly.engine.workbench import Seat
from mannerly.fetch.contract import Admit
from mannerly.politeness.addresses import AddressSlots


class Admission:
    def __init__(self, plan: EnginePlan, slots: AddressSlots, clock: Clock) -> None:
        self._full = plan.urls_per_site
        self._slots = slots
        self._clock = clock

    def begin(self, seat: Seat) -> None:
        """A visit begins: it has no slot yet."""
        seat.admitted.clear()
        seat.turned_away = ""

    def of(self, seat: Seat) -> Admit:
        """What the seat's channel asks before a request is sent."""
        return partial(self._admit, seat)

    def elsewhere(self, site: str) -> Admit:
        """The same for a request to another site within a visit; it is a visit to that site."""
        return lambda address: self._slots.ask(address, site, self._clock.now())

    def was_refused(self, seat: Seat) -> bool:
        """Was no request sent because no address of the host had a slot?"""
        return bool(seat.turned_away and not seat.admitted)

    def rest(self, seat: Seat) -> None:
        """The visit is over, or nothing came of it: the seat rests until a slot of the address that
        it was at, or wanted to go to. Once a visit.

        Not where the site seems to have nothing left: a slot that nobody uses keeps others out. If
        there is more after all, it comes like a site that was never visited.
        """
        address = seat.admitted[-1] if seat.admitted else seat.turned_away
        more = seat.more or seat.has_url or len(seat.lease.urls) >= self._full
        self.begin(seat)
        if address and more:
            seat.not_before_at = self._slots.book(
                address, seat.lease.site, seat.not_before_at, self._clock.now()
            )

    def _admit(self, seat: Seat, address: str) -> float | None:
        if address in seat.admitted:
            return 0.0
        wait_s = self._slots.ask(address, seat.lease.site, self._clock.now())
        if wait_s is not None:
            seat.admitted.append(address)
        elif not seat.turned_away:
            seat.turned_away = address
        return wait_s
