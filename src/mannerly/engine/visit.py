"""One visit to a site: the robots gate, robots.txt if need be, then at most one page.

The rules that the code below follows:

- No page is requested before its origin's robots.txt was read; unreachable means no.
- robots.txt and the page after it are one visit, on one connection, within one total time-out.
- No page is requested before the frontier knows of a delay that is longer than the crawl's own.
- A URL that needs no request (disallowed, excluded) is settled on the way and costs no delay.
- Whatever happens, the seat ends released (None) or comes back with the time of its next visit.
"""

import time
from typing import NamedTuple

from mannerly.clock import Clock
from mannerly.engine.admission import Admission
from mannerly.engine.claims import Claims
from mannerly.engine.fallback import falls_back, over_http
from mannerly.engine.gatekeeper import Gatekeeper
from mannerly.engine.ledger import Ledger, Release
from mannerly.engine.overload import Overload
from mannerly.engine.page import PageReader, Reading, fetch_record
from mannerly.engine.plan import HOLD_DELAY_S, EnginePlan
from mannerly.engine.redirects import redirection, retry_priority
from mannerly.engine.requests import NOTHING, Basis, RequestBook
from mannerly.engine.robots_reader import RobotsReader
from mannerly.engine.sieve import Sieve
from mannerly.engine.sitemaps import SitemapReader
from mannerly.engine.workbench import Seat
from mannerly.evidence import PAGE
from mannerly.fetch.contract import Channel, Fetched, Transport
from mannerly.model import SITEMAPS, Lease, Outcome, QueuedUrl
from mannerly.observe.tally import Tally
from mannerly.politeness.gate import GiveUp, MustFetch, RobotsCache, Ruling, Wait
from mannerly.politeness.pacing import (
    Pace,
    PacePolicy,
    after_failure,
    after_response,
    parse_retry_after,
)
from mannerly.url import origin_of, path_of

NO_SERVER = frozenset(
    {
        Outcome.NO_SUCH_NAME,
        Outcome.DNS_TROUBLE,
        Outcome.CONNECT_FAILED,
        Outcome.TLS_FAILED,
        Outcome.ADDRESS_REFUSED,
    }
)
"""There was nobody to ask for robots.txt: the failure is the URL's own, not that of robots.txt."""


TIMED = 8
"""To ask for the CPU time of a thread takes microseconds, so not every page is timed."""
DEADLY = "each time it was read, our process died"


class Ended(NamedTuple):
    """The visit is over."""

    next_at: float | None
    """When the seat may be served again; None: it was released."""


class Visitor:
    def __init__(
        self,
        *,
        plan: EnginePlan,
        pace: PacePolicy,
        transport: Transport,
        robots: RobotsCache,
        admission: Admission,
        overload: Overload,
        sieve: Sieve,
        reader: PageReader,
        ledger: Ledger,
        claims: Claims,
        book: RequestBook,
        tally: Tally,
        clock: Clock,
    ) -> None:
        self._plan = plan
        self._pace = pace
        self._transport = transport
        reading = RobotsReader(
            pace=pace,
            transport=transport,
            admission=admission,
            sieve=sieve,
            claims=claims,
            ledger=ledger,
            book=book,
            tally=tally,
            clock=clock,
        )
        self._gate = Gatekeeper(
            pace=pace, cache=robots, reader=reading, ledger=ledger, book=book, clock=clock
        )
        self._admission = admission
        self._overload = overload
        self._sitemaps = SitemapReader(plan, sieve)
        self._sieve = sieve
        self._reader = reader
        self._ledger = ledger
        self._book = book
        self._tally = tally
        self._clock = clock
        self._read_so_far = -1

    async def serve(self, seat: Seat) -> float | None:
        """Visit the seat's site. When it may be served again, or None if it was released."""
        now = self._clock.now()
        if now > seat.start_by_at:
            self._release(seat, "lapsed")
            return None
        if seat.next_url == 0:
            self._gate.welcome(seat)
        seat.visit = self._book.begin()
        self._admission.begin(seat)
        seat.began_at = now
        deadline_at = now + self._plan.visit_timeout_s
        read: Ruling | GiveUp | None = None
        wait_until_at: float | None = None
        while seat.has_url:
            url = seat.lease.urls[seat.next_url]
            origin = origin_of(url.url)
            if read is not None and origin != seat.channel_origin:
                break  # another origin is another visit
            if self._sieve.excluded(url.url, seat.lease.site):
                self._settle(seat, url, Outcome.EXCLUDED, detail="on the exclusion list")
                continue
            if self._reader.is_deadly(url):
                self._settle(seat, url, Outcome.BROKEN, detail=DEADLY)
                continue
            # What was read in this visit holds for all of it, however soon it gets stale.
            answer = self._gate.ask(origin) if read is None else read
            if isinstance(answer, MustFetch):
                told = await self._read_robots(seat, url, origin, answer.failures, deadline_at)
                if isinstance(told, Ended):
                    return told.next_at
                answer = read = told
            if isinstance(answer, Wait):
                seat.next_url += 1  # stays in the queue
                wait_until_at = min(wait_until_at or answer.until_at, answer.until_at)
                continue
            if isinstance(answer, GiveUp):
                self._settle(seat, url, Outcome.ROBOTS_UNREACHABLE)
                continue
            verdict = answer.rules.verdict(path_of(url.url))
            if not verdict.allowed:
                detail = f"robots.txt line {verdict.line}: {verdict.rule}"
                self._settle(seat, url, Outcome.DISALLOWED, detail=detail)
                continue
            if read is None:
                self._tally.visits += 1
            basis = Basis(answer.version, answer.fetched_at, verdict.line)
            return await self._visit_page(seat, url, origin, basis, deadline_at)
        if wait_until_at is not None and read is None:
            seat.not_before_at = max(seat.not_before_at, wait_until_at)
        return self._go_on(seat, seat.lease.failures)

    async def _read_robots(
        self, seat: Seat, url: QueuedUrl, origin: str, failures: int, deadline_at: float
    ) -> Ruling | GiveUp | Ended:
        """Ask the origin for its robots.txt: what it means, or the end of the visit."""
        asked_at = self._clock.wall()
        channel = self._channel(seat, origin)
        answer = await self._gate.read(channel, origin, seat, deadline_at)
        fetched = answer.fetched
        if fetched.failure is Outcome.NOT_SENT:
            self._release_unsent(seat, origin)
            return Ended(None)
        self._tally.visits += 1
        if self._overload.excuses(seat.lease.site, fetched, seat.began_at):
            self._excuse(seat, origin, fetched)
            return Ended(None)
        if falls_back(url, fetched.failure):
            return Ended(self._fall_back(seat, url, origin, fetched, asked_at))
        if fetched.failure in NO_SERVER:
            return Ended(self._conclude(seat, url, origin, fetched, asked_at))
        told = self._gate.learn(seat, origin, answer, failures)
        if isinstance(told, Ruling):
            self._ledger.add_links(self._sitemaps.named(told.rules, origin, url, seat.lease.site))
        if isinstance(told, Wait):
            seat.decided += 1
            why = "robots postponed" if answer.postponed else "robots unreachable"
            self._tally.deferred[why] += 1
            self._release(seat, "")
            return Ended(None)
        if self._gate.is_news(seat, origin):
            # Should we die in the visit, the site comes back after the delay that the frontier
            # knows of. So it is told first, by giving the lease back, and the page comes with the
            # next one. To wait here until a checkpoint has told it would keep a slot busy; a lease
            # that nobody could end early would make each site wait for the longest delay there is.
            self._release(seat, "")
            return Ended(None)
        return told

    def _release_unsent(self, seat: Seat, origin: str) -> None:
        """The request came too late, or its address had no slot for it. But one may have been
        written before, on a connection that turned out to be closed, and then the site rests as
        after any request."""
        if seat.visit.asked:
            rested_at = self._clock.now() + self._gate.delay(origin)
            seat.not_before_at = max(seat.not_before_at, rested_at)
        self._release(seat, "address" if self._admission.was_refused(seat) else "lapsed")

    def _fall_back(
        self, seat: Seat, url: QueuedUrl, origin: str, fetched: Fetched, asked_at: float
    ) -> float | None:
        """Nobody speaks https at this bare domain: it is settled, and http comes in its place."""
        assert fetched.failure is not None
        self._ledger.add_links([over_http(url, seat.lease.site)])
        self._settle(seat, url, fetched.failure, fetched=fetched, fetched_at=asked_at)
        seat.not_before_at = fetched.ended_at + self._gate.delay(origin)
        seat.close_channel()
        return self._go_on(seat, 0)

    async def _visit_page(
        self, seat: Seat, url: QueuedUrl, origin: str, basis: Basis, deadline_at: float
    ) -> float | None:
        fetched_at = self._clock.wall()
        delay_s = self._gate.delay(origin)
        self._book.ask(
            seat.visit, seat.lease, PAGE, origin, url=url.url, delay_s=delay_s, basis=basis
        )
        fetched = await self._channel(seat, origin).get(
            url.url,
            deadline_at=deadline_at,
            start_by_at=seat.start_by_at,
            body_limit=self._plan.body_limit,
        )
        self._book.answered(seat.visit, fetched)
        if fetched.failure is Outcome.NOT_SENT:
            self._release_unsent(seat, origin)
            return None
        self._tally.page_requests += 1
        self._tally.wire_bytes += len(fetched.body)
        if self._overload.excuses(seat.lease.site, fetched, seat.began_at):
            self._excuse(seat, origin, fetched)
            return None
        if url.source in SITEMAPS and 200 <= fetched.status < 300:
            await self._read_sitemap(seat, url, fetched)
        return self._conclude(seat, url, origin, fetched, fetched_at, basis)

    async def _read_sitemap(self, seat: Seat, url: QueuedUrl, fetched: Fetched) -> None:
        async for links in self._sitemaps.listed(fetched, url, seat.lease.site):
            self._ledger.add_links(links)
            self._tally.links_sent += len(links)
            seat.more = seat.more or bool(links)

    def _excuse(self, seat: Seat, origin: str, fetched: Fetched) -> None:
        """The failure was ours: URL and site stay as they were, and a visit has been made."""
        seat.not_before_at = fetched.ended_at + self._gate.delay(origin)
        seat.decided += 1
        self._release(seat, "")

    def _conclude(
        self,
        seat: Seat,
        url: QueuedUrl,
        origin: str,
        fetched: Fetched,
        fetched_at: float,
        basis: Basis = NOTHING,
    ) -> float | None:
        """What follows for the URL and for the site from what the network brought."""
        if fetched.failure is None:
            self._overload.answered(seat.lease.site)
        pace = self._judge(seat, url, origin, fetched)
        seat.not_before_at = fetched.ended_at + pace.rest_s
        self._book.rests(seat.visit, pace.rest_s, pace.why)
        if pace.settle is None:
            self._ledger.defer(seat.lease, url, retry_priority(url))
            self._archive(seat, url, fetched, fetched_at)
            why = fetched.failure.name.lower() if fetched.failure else f"http {fetched.status}"
            self._tally.deferred[why] += 1
            seat.next_url += 1
            seat.decided += 1
        else:
            self._finish(seat, url, pace.settle, fetched, fetched_at, basis)
        if pace.failures or fetched.failure is not None or fetched.truncated:
            seat.close_channel()
        seat.lease.failures = pace.failures
        if pace.failures:
            self._release(seat, "", abandoned=pace.abandoned)
            return None
        return self._go_on(seat, pace.failures)

    def _judge(self, seat: Seat, url: QueuedUrl, origin: str, fetched: Fetched) -> Pace:
        delay_s = self._gate.delay(origin)
        if fetched.failure is not None:
            return after_failure(
                self._pace,
                failure=fetched.failure,
                delay_s=delay_s,
                failures=seat.lease.failures,
                tries=url.tries + 1,
            )
        return after_response(
            self._pace,
            status=fetched.status,
            retry_after_s=parse_retry_after(fetched.header(b"retry-after"), self._clock.wall()),
            delay_s=delay_s,
            failures=seat.lease.failures,
            tries=url.tries + 1,
        )

    def _finish(
        self,
        seat: Seat,
        url: QueuedUrl,
        outcome: Outcome,
        fetched: Fetched,
        fetched_at: float,
        basis: Basis,
    ) -> None:
        """The URL is done: its page, its links, its redirect, its record."""
        redirect_to = detail = ""
        keeps = True
        if outcome is Outcome.FETCHED and url.source not in SITEMAPS:
            reading = self._read(fetched, url, seat.lease, fetched_at, basis)
            keeps = reading.may_be_kept
            self._tally.links_seen += reading.links_seen
            self._tally.links_sent += len(reading.links)
            self._ledger.add_links(reading.links)
            seat.more = any(link.site == seat.lease.site for link in reading.links)
            if reading.page is not None:
                self._ledger.store(reading.page, reading.graph)
                self._tally.pages_stored += 1
            if reading.extract is not None:
                self._ledger.store_extract(reading.extract)
        elif outcome is Outcome.REDIRECTED:
            redirect_to, links, detail = redirection(fetched, url, self._sieve)
            self._ledger.add_links(links)
        if keeps:
            self._archive(seat, url, fetched, fetched_at)
        self._settle(
            seat,
            url,
            outcome,
            fetched=fetched,
            fetched_at=fetched_at,
            redirect_to=redirect_to,
            detail=detail,
        )

    def _read(
        self, fetched: Fetched, url: QueuedUrl, lease: Lease, fetched_at: float, basis: Basis
    ) -> Reading:
        """A page; the CPU that pages take is told by every `TIMED`th of them."""
        self._read_so_far += 1
        if self._read_so_far % TIMED:
            return self._reader.read(fetched, url, lease, fetched_at, basis)
        began_s = time.thread_time()
        reading = self._reader.read(fetched, url, lease, fetched_at, basis)
        self._tally.parse_s += TIMED * (time.thread_time() - began_s)
        return reading

    def _archive(self, seat: Seat, url: QueuedUrl, fetched: Fetched, fetched_at: float) -> None:
        self._ledger.archive(seat.lease, fetched, fetched_at, ("depth", str(url.depth)))

    def _go_on(self, seat: Seat, failures: int) -> float | None:
        """Keep the lease for the next URL if its time comes soon enough, else release it."""
        self._book.rests_until(seat.visit, seat.not_before_at)
        self._admission.rest(seat)
        wait_s = seat.not_before_at - self._clock.now()
        if seat.has_url and wait_s <= HOLD_DELAY_S and seat.not_before_at < seat.start_by_at:
            return seat.not_before_at
        seat.lease.failures = failures
        self._release(seat, "waiting")
        return None

    def _release(self, seat: Seat, cause: str, *, abandoned: bool = False) -> None:
        """Give the lease back. `cause` is what to count it under if nothing came of it."""
        seat.close_channel()
        self._book.rests_until(seat.visit, seat.not_before_at)
        self._admission.rest(seat)
        if not seat.decided and cause:
            self._tally.leases_unused[cause] += 1
        self._ledger.release(
            Release(
                seat.lease,
                seat.not_before_at,
                seat.lease.failures,
                abandoned,
                self._gate.delay_to_keep(seat),
            )
        )

    def release_unserved(self, seat: Seat, cause: str) -> None:
        """Give back a lease that the engine will not serve (any more)."""
        self._release(seat, cause)

    def give_up(self, seat: Seat, error: Exception) -> None:
        """Something of ours broke over the seat's URL: settle it, and let the site rest."""
        if seat.has_url:
            url = seat.lease.urls[seat.next_url]
            self._settle(seat, url, Outcome.BROKEN, detail=f"internal error: {error!r}")
        self.release_interrupted(seat)

    def release_interrupted(self, seat: Seat) -> None:
        """Give back a lease in mid-visit. A request may be on its way, so the site rests as if it
        had been answered now."""
        delay_s = self._gate.delay(seat.channel_origin)
        seat.not_before_at = max(seat.not_before_at, self._clock.now() + delay_s)
        self._release(seat, "stopped")

    def _settle(
        self,
        seat: Seat,
        url: QueuedUrl,
        outcome: Outcome,
        *,
        fetched: Fetched | None = None,
        fetched_at: float | None = None,
        redirect_to: str = "",
        detail: str = "",
    ) -> None:
        record = fetch_record(
            seat.lease,
            url,
            outcome,
            fetched_at=self._clock.wall() if fetched_at is None else fetched_at,
            fetched=fetched,
            redirect_to=redirect_to,
            detail=detail,
        )
        self._ledger.settle(seat.lease, url, outcome, record)
        self._tally.settled[outcome] += 1
        seat.next_url += 1
        seat.decided += 1

    def _channel(self, seat: Seat, origin: str) -> Channel:
        if seat.channel is None or seat.channel_origin != origin:
            seat.close_channel()
            seat.channel = self._transport.open(origin, self._admission.of(seat))
            seat.channel_origin = origin
        return seat.channel
