"""Reading an origin's robots.txt within a visit, wherever its redirects lead.

A redirect to another site is followed under a lease of that site, claimed for it: it is a visit to
that site like any other, counted from the end of the response. Where the site cannot be had at the
moment, the reading is postponed. All claims of a chain are held until its end: two requests of one
chain to one site are one visit, as they are on the first site.

What a redirect leads to is read in place of the first site's robots.txt, whatever the other site's
own rules say; they speak of pages (RFC 9309 has no word about it, and Google does the same).
"""

from typing import NamedTuple

from mannerly.clock import Clock
from mannerly.engine.admission import Admission
from mannerly.engine.claims import Claimed, Claims
from mannerly.engine.copies import Copies
from mannerly.engine.ledger import Ledger, Release
from mannerly.engine.requests import RequestBook
from mannerly.engine.robots import MAX_ROBOTS_REDIRECTS, READ_LIMIT, Barred, Final, next_hop
from mannerly.engine.sieve import Sieve
from mannerly.engine.workbench import Seat
from mannerly.evidence import ROBOTS
from mannerly.fetch.contract import Channel, Fetched, Transport
from mannerly.model import Lease, Outcome
from mannerly.observe.tally import Tally
from mannerly.politeness.pacing import PacePolicy, delay_for, why_delay
from mannerly.url import Resolved, origin_of


class RobotsAnswer(NamedTuple):
    """What came of asking for a robots.txt."""

    fetched: Fetched
    """The last response of the chain. A failure of the first request is what the transport says;
    any later one is ROBOTS_UNREACHABLE: the origin did answer, but its rules could not be read."""
    read_at: float
    """When that was read: for a copy that was at hand, earlier than now."""
    postponed: bool = False
    """The chain led to a site that could not be claimed now."""


class RobotsReader:
    def __init__(
        self,
        *,
        pace: PacePolicy,
        transport: Transport,
        admission: Admission,
        sieve: Sieve,
        claims: Claims,
        ledger: Ledger,
        book: RequestBook,
        tally: Tally,
        clock: Clock,
    ) -> None:
        self._pace = pace
        self._transport = transport
        self._admission = admission
        self._sieve = sieve
        self._claims = claims
        self._ledger = ledger
        self._book = book
        self._tally = tally
        self._clock = clock
        self._copies = Copies(pace.robots_ttl_s)

    async def read(
        self, own: Channel, origin: str, seat: Seat, deadline_at: float, delay_s: float
    ) -> RobotsAnswer:
        """GET /robots.txt over `own`, the channel to its origin, and what it redirects to.

        `delay_s`: what the origin's site is known to ask for.
        """
        url = origin + "/robots.txt"
        self._book.ask(seat.visit, seat.lease, ROBOTS, origin, url=url, delay_s=delay_s)
        fetched = await self._get(own, url, seat.lease, seat.start_by_at, deadline_at)
        self._book.answered(seat.visit, fetched)
        claimed: dict[str, Claimed] = {}
        try:
            answer = await self._follow(fetched, own, origin, seat, claimed, deadline_at)
        finally:
            for claim in claimed.values():
                self._release(claim, seat)
        self._copies.keep(answer.fetched, answer.read_at)
        return answer

    async def _follow(
        self,
        fetched: Fetched,
        own: Channel,
        origin: str,
        seat: Seat,
        claimed: dict[str, Claimed],
        deadline_at: float,
    ) -> RobotsAnswer:
        for _ in range(MAX_ROBOTS_REDIRECTS):
            if fetched.failure is not None:
                break
            hop = next_hop(fetched.url, fetched, self._sieve)
            if isinstance(hop, Final):
                break
            if isinstance(hop, Barred):
                _fail(fetched, hop.why)
                break
            if hop.target.site != seat.lease.site:
                copy = self._copies.get(hop.target.url, self._clock.now())
                if copy is not None:
                    return RobotsAnswer(copy.standing_in(fetched), copy.read_at)
            start_by_at = await self._may_ask(hop.target.site, seat, claimed)
            if start_by_at is None:
                _fail(fetched, f"robots.txt redirects to {hop.target.site}, which is busy")
                return RobotsAnswer(fetched, fetched.ended_at, postponed=True)
            self._ask(hop.target, origin, seat, claimed)
            claim = claimed.get(hop.target.site)
            lease = claim.lease if claim is not None else seat.lease
            fetched = await self._hop(
                hop.target, own, origin, seat, lease, start_by_at, deadline_at
            )
            self._book.answered(seat.visit, fetched)
        return RobotsAnswer(fetched, fetched.ended_at)

    async def _may_ask(self, site: str, seat: Seat, claimed: dict[str, Claimed]) -> float | None:
        """Until when a request to `site` may start; None: not now."""
        if site == seat.lease.site:
            return seat.start_by_at
        if site not in claimed:
            claim = await self._claims.claim(site)
            if claim is None:
                return None
            claimed[site] = claim
        return min(seat.start_by_at, claimed[site].start_by_at)

    def _ask(self, target: Resolved, origin: str, seat: Seat, claimed: dict[str, Claimed]) -> None:
        claim = claimed.get(target.site)
        self._book.ask(
            seat.visit,
            claim.lease if claim is not None else seat.lease,
            ROBOTS,
            origin,
            url=target.url,
            delay_s=self._delay_s(claim),
        )

    async def _hop(
        self,
        target: Resolved,
        own: Channel,
        origin: str,
        seat: Seat,
        lease: Lease,
        start_by_at: float,
        deadline_at: float,
    ) -> Fetched:
        channel = own
        if origin_of(target.url) != origin:
            own.close()  # a visit holds one connection at a time: descriptors are budgeted
            admission = self._admission
            at_home = target.site == seat.lease.site
            admit = admission.of(seat) if at_home else admission.elsewhere(target.site)
            channel = self._transport.open(origin_of(target.url), admit)
        try:
            fetched = await self._get(channel, target.url, lease, start_by_at, deadline_at)
        finally:
            if channel is not own:
                channel.close()
        if fetched.failure is not None:
            _fail(fetched, f"robots.txt redirects to {target.url}: {fetched.detail}")
        return fetched

    async def _get(
        self, channel: Channel, url: str, lease: Lease, start_by_at: float, deadline_at: float
    ) -> Fetched:
        asked_at = self._clock.wall()
        fetched = await channel.get(
            url, deadline_at=deadline_at, start_by_at=start_by_at, body_limit=READ_LIMIT
        )
        if fetched.started_at:
            self._tally.robots_requests += 1
            self._ledger.archive(lease, fetched, asked_at)
        return fetched

    def _delay_s(self, claim: Claimed | None) -> float:
        delay_s = delay_for(self._pace, None)
        return delay_s if claim is None else max(delay_s, claim.delay_s)

    def _release(self, claim: Claimed, seat: Seat) -> None:
        """As after any visit. Counted from now, which is after the last response."""
        lease = claim.lease
        rest_s = self._delay_s(claim)
        self._book.claim_rests(seat.visit, lease, rest_s, why_delay(self._pace, rest_s))
        self._ledger.release(
            Release(lease, self._clock.now() + rest_s, lease.failures, abandoned=False, delay_s=0.0)
        )


def _fail(fetched: Fetched, why: str) -> None:
    fetched.failure = Outcome.ROBOTS_UNREACHABLE
    fetched.detail = why
