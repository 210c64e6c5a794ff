"""Limits of the crawl as a whole, held together with whoever else is crawling.

Every few seconds this process tells the frontier how it does (`beat`), and hears how far the crawl
is and which limits it has. Where pages are limited it fetches only those that it was granted: the
frontier grants no page twice, so the limit holds whatever number of processes and machines there
is. What a process cannot use it gives back. A limit that any of them has is everybody's, and stays
so for this process when that one has left.
"""

from mannerly.clock import Clock
from mannerly.engine.patience import Patience
from mannerly.engine.plan import EnginePlan
from mannerly.frontier.contract import Beat, Frontier
from mannerly.observe.tally import Tally

BEAT_S = 5.0
LIMITED_BEAT_S = 1.0
"""Where pages are limited, and others may wait for what we give back."""
FEW = 8
"""Pages to begin with."""


class Limits:
    def __init__(
        self, plan: EnginePlan, frontier: Frontier, writer: int, tally: Tally, clock: Clock
    ) -> None:
        self._workers = plan.workers
        self._frontier = frontier
        self._writer = writer
        self._tally = tally
        self._clock = clock
        self._patience = Patience(tally)
        self._page_limit = plan.max_pages
        self._time_limit_s = plan.max_duration_s
        self._heard = False
        self._granted = 0
        """Pages that were granted so far, fetched ones included."""
        self._known = 0
        """Pages of the crawl, and how many of them were ours, when we last heard of it."""
        self._known_ours = 0
        self._beat_at = clock.now()
        self._pages_then = 0
        self._lately = 0
        self._offers = False
        self.time_left_s: float | None = None
        """Of the run, as of the last beat; None: no limit."""

    @property
    def interval_s(self) -> float:
        return LIMITED_BEAT_S if self._page_limit else BEAT_S

    @property
    def pages_left(self) -> int | None:
        """Pages that may still be asked for; those in flight count as if they will succeed. None:
        no limit. Nothing is asked for before the limits of the others are known."""
        if not self._heard:
            return 0
        if not self._page_limit:
            return None
        return self._granted - self._tally.fetched - self._tally.in_flight

    @property
    def enough_pages(self) -> bool:
        """As far as we know. What others fetched since is not known, and holds no page back that
        we were granted."""
        ours = self._tally.fetched - self._known_ours
        return self._heard and 0 < self._page_limit <= self._known + ours

    async def beat(self) -> None:
        """Tell, ask and hear. Waits for a database that does not answer."""
        told = self._told()
        pulse = await self._patience.until_done(lambda: self._frontier.beat(self._writer, told))
        tally = self._tally
        if pulse.page_limit and not self._page_limit:
            # Somebody has come with a limit: what we have done and begun cannot be undone.
            self._granted = tally.fetched + tally.in_flight
        self._page_limit = pulse.page_limit
        self._time_limit_s = pulse.time_limit_s
        self._granted += pulse.granted
        self._known, self._known_ours = pulse.fetched, tally.committed
        limit_s = self._time_limit_s
        self.time_left_s = max(0.0, limit_s - pulse.running_s) if limit_s else None
        self._heard = True

    def _told(self) -> Beat:
        tally = self._tally
        now = self._clock.now()
        passed_s = now - self._beat_at
        if passed_s > 0:
            self._lately = tally.fetched - self._pages_then
            self._beat_at, self._pages_then = now, tally.fetched
        reserved = more = 0
        if self._page_limit:
            wanted = tally.fetched + tally.in_flight + self._spare()
            more = max(0, wanted - self._granted)
            self._granted = min(self._granted, wanted)
            reserved = max(0, self._granted - tally.committed)
        return Beat(
            pages=tally.fetched,
            rate=self._lately / passed_s if passed_s > 0 else 0.0,
            in_flight=tally.in_flight,
            page_limit=self._page_limit,
            time_limit_s=self._time_limit_s,
            reserved=reserved,
            more=more,
        )

    def _spare(self) -> int:
        """Pages to have besides those in flight: as many as may start until the next beat.

        Who has none to spend can lease no site, and who has no site should not sit on pages that
        another has sites for. So who is idle has a few, and none, in turns.
        """
        if not self._heard:
            return self._workers
        if self._tally.in_flight or self._lately:
            return max(FEW, self._tally.in_flight + 2 * self._lately)
        self._offers = not self._offers
        return 0 if self._offers else FEW
