"""The robots gate at work: what is known of the origins' robots.txt, and reading them.

Decides by `politeness.gate` and notes in the ledger what it learns. What follows for the URL and
the site from an origin that cannot be asked is the visitor's business.
"""

from mannerly.clock import Clock
from mannerly.engine.ledger import Learned, Ledger
from mannerly.engine.requests import RequestBook
from mannerly.engine.robots import robots_record
from mannerly.engine.robots_reader import RobotsAnswer, RobotsReader
from mannerly.engine.workbench import Seat
from mannerly.fetch.contract import Channel
from mannerly.model import RobotsState
from mannerly.politeness.gate import Answer, GiveUp, KnownRobots, RobotsCache, Ruling, Wait, ask
from mannerly.politeness.pacing import (
    PacePolicy,
    delay_for,
    longest_rest,
    parse_retry_after,
    spread,
    why_delay,
)
from mannerly.politeness.robots import parse_robots


class Gatekeeper:
    def __init__(
        self,
        *,
        pace: PacePolicy,
        cache: RobotsCache,
        reader: RobotsReader,
        ledger: Ledger,
        book: RequestBook,
        clock: Clock,
    ) -> None:
        self._pace = pace
        self._cache = cache
        self._reader = reader
        self._ledger = ledger
        self._book = book
        self._clock = clock

    def welcome(self, seat: Seat) -> None:
        """Take over what the seat's lease brought."""
        self._cache.learn(seat.lease.robots, self._clock.now())

    def ask(self, origin: str) -> Answer:
        return ask(self._pace, self._cache.get(origin), self._clock.now())

    async def read(
        self, channel: Channel, origin: str, seat: Seat, deadline_at: float
    ) -> RobotsAnswer:
        """Ask for the origin's robots.txt, over the channel to it."""
        return await self._reader.read(channel, origin, seat, deadline_at, self.delay(origin))

    def learn(
        self, seat: Seat, origin: str, answer: RobotsAnswer, failures: int
    ) -> Ruling | Wait | GiveUp:
        """What an answer means for the origin's pages; the seat rests accordingly.

        `failures`: how often in a row it was unreachable before. Nobody is blamed for one that is,
        and the URL stays where it is: the count is the origin's, and after `max_tries` it means no.
        A reading that was postponed counts in the same way, or a site that is never free would keep
        another one waiting for ever.
        """
        record = robots_record(origin, answer.fetched, failures)
        known = self._cache.put(record, answer.read_at)
        self._ledger.learn(Learned(seat.lease, record, answer.read_at))
        if known.state is not RobotsState.UNREACHABLE:
            rest_s = delay_for(self._pace, known.rules.crawl_delay)
            why = why_delay(self._pace, rest_s)
        else:
            rest_s, why = self._rest_without(answer, known)
            if answer.postponed:
                # All who wait for one site were sent away together.
                rest_s = spread(self._pace, rest_s, f"{origin} {known.failures}")
        self._book.learnt(seat.visit, record, answer.read_at, rest_s, why)
        rested_at = answer.fetched.ended_at + rest_s
        seat.not_before_at = max(seat.not_before_at, rested_at)
        if known.state is not RobotsState.UNREACHABLE:
            return known.ruling()
        # At once, and not at the next visit: by then the record may be stale, and it would all
        # begin anew.
        return GiveUp() if known.failures >= self._pace.max_tries else Wait(rested_at)

    def is_news(self, seat: Seat, origin: str) -> bool:
        """Does robots.txt ask for a delay that the frontier does not know of yet? What came with
        the lease was committed, together with the delay that it asked for."""
        if self.delay(origin) <= delay_for(self._pace, None):
            return False
        committed = [
            delay_for(self._pace, parse_robots(record.body, self._cache.agent).crawl_delay)
            for record in seat.lease.robots
            if record.origin == origin
        ]
        return self.delay(origin) > max(committed, default=0.0)

    def delay(self, origin: str) -> float:
        known = self._cache.get(origin)
        return delay_for(self._pace, known.rules.crawl_delay if known else None)

    def delay_to_keep(self, seat: Seat) -> float:
        """What the frontier should know of the site's delay: only one that is longer than the
        crawl's own, so that a host that asks for nothing does not wipe out what another asked."""
        origins = {record.origin for record in seat.lease.robots} | {seat.channel_origin}
        delay_s = max(map(self.delay, origins))
        return delay_s if delay_s > delay_for(self._pace, None) else 0.0

    def _rest_without(self, answer: RobotsAnswer, known: KnownRobots) -> tuple[float, str]:
        """How long a site rests whose robots.txt could not be read."""
        retry_after = answer.fetched.header(b"retry-after")
        asked_s = parse_retry_after(retry_after, self._clock.wall()) or 0.0
        asked_s = min(asked_s, self._pace.retry_ceiling_s)
        return longest_rest(self._pace, delay_for(self._pace, None), asked_s, known.failures)
