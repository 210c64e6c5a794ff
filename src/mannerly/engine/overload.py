"""When we are the slow ones: nobody else is blamed, and less is done at once.

**Blame.** A failure that a late process can cause (a time-out, a connection that a server gave up)
in a visit that lost a tenth of its time to lags of ours (for the latter, two seconds at least) is
excused: the URL stays where it is with
its tries, the site keeps its count of failures and rests its ordinary delay. A site is excused at
most `EXCUSES` times in a row; from then on its failures count, until it answers. So one that never
answers costs a crawler that always lags `EXCUSES` visits more a run, and not for ever.

**Load.** Visits in flight are limited between a floor and the number of workers: cut to three
quarters when a lag is long against the time-out, raised a little every second while lags are
short. A cut gets the time to work: there is no second one before the visits in flight are down to
the first. Half of the work does not make the machine faster, but every answer is then read soon
after it has come, and not after the deadline of the one who asked.

Memory that gets short (`--memory-limit`) cuts in the same way, below the floor if need be, and
before the next lease brings more; the workbench shrinks with it. Where large pages for all workers
would not fit into it, visits in flight at most double from one look to the next: nobody knows how
large the pages are of hundreds of sites that are ready at once. While a disk is nearly full
(`--min-free-disk`) nothing is started at all.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from mannerly.clock import Clock
from mannerly.engine.lag import NOTICED_S, LagWatch
from mannerly.engine.plan import EnginePlan
from mannerly.engine.resources import FULL, ROOMY, Resources
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome
from mannerly.observe.strain import CPU, MEMORY
from mannerly.observe.tally import Tally

log = logging.getLogger(__name__)

SEATS_PER_WORKER = 4
LARGE_PAGE = 256 * 1024
"""Four times a usual one. If all were as large as they may be, eight times that, every crawl with
thousands of workers would begin slowly for nothing."""
EXCUSES = 5
SITES_KEPT = 100_000
ADJUST_S = 1.0
CUT = 0.75
RAISES_TO_FULL = 20
"""From nothing to all workers in so many steps, if no lag comes between."""
CAREFUL = 8
"""After memory was short, the limit rises by this part of itself. With steps of all workers' size,
100 visits to large pages of 200 that fit, memory went half as far again over its limit."""
LEAST_SHARE = 0.1
LEAST = 8
LONG_SHARE = 0.05
"""A lag of this part of a visit's time-out is long: a visit waits for the loop more than once."""

GIVEN_UP = frozenset({Outcome.DNS_TROUBLE, Outcome.TLS_FAILED, Outcome.BROKEN})
"""What servers do to a process that is late, besides its own time-outs: they give it up."""
PATIENCE_S = 2.0
"""What every server has. One that breaks off although we were not later than this means it, however
short the visit: it may have lasted no longer than a hiccup of ours."""


def floor_of(workers: int) -> int:
    """What the limit never falls below."""
    return min(workers, max(LEAST, int(LEAST_SHARE * workers)))


def adjusted(
    limit: int,
    *,
    workers: int,
    in_flight: int,
    lag_s: float,
    long_s: float,
    memory_share: float = 0.0,
    careful: bool = False,
) -> int:
    """The limit of visits in flight for the next second, from the longest lag in the last one and
    the share of its memory that the process uses. `careful`: it was memory that cut it."""
    if memory_share >= FULL:
        return max(1, int(CUT * min(limit, in_flight)))
    if lag_s >= long_s:
        if in_flight > limit:
            return limit
        return max(floor_of(workers), int(CUT * min(limit, in_flight)))
    if lag_s >= long_s / 2 or memory_share >= ROOMY:
        return limit
    step = limit // CAREFUL if careful else workers // RAISES_TO_FULL
    return min(workers, limit + max(1, step))


class Excuses:
    """How often in a row each site was excused. The longest untouched are forgotten first."""

    def __init__(self, most_sites: int = SITES_KEPT) -> None:
        self._most_sites = most_sites
        self._given: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._given)

    def give(self, site: str) -> bool:
        """Whether there is one more for the site."""
        given = self._given.pop(site, 0)
        self._given[site] = min(given + 1, EXCUSES)
        if len(self._given) > self._most_sites:
            self._given.popitem(last=False)
        return given < EXCUSES

    def forget(self, site: str) -> None:
        """The site has answered."""
        self._given.pop(site, None)


class Overload:
    def __init__(
        self,
        plan: EnginePlan,
        watch: LagWatch,
        tally: Tally,
        clock: Clock,
        resources: Resources | None = None,
    ) -> None:
        self._resources = resources or Resources()
        self._shortage = ""
        self._workers = plan.workers
        self._long_s = LONG_SHARE * plan.visit_timeout_s
        self._watch = watch
        self._tally = tally
        self._clock = clock
        self._excuses = Excuses()
        self._adjusted_at = clock.now()
        self._page_bytes = min(plan.body_limit, LARGE_PAGE)
        tally.workers = tally.visit_limit = plan.workers
        self._ramp = 0
        self._ramp = self._next_ramp()

    @property
    def workers(self) -> int:
        """Visits that can be in flight when nothing is late."""
        return self._workers

    def set_workers(self, workers: int) -> None:
        """From now on. Fewer take effect as visits end, more as the limit rises."""
        was_full = self._tally.visit_limit >= self._workers
        self._workers = self._tally.workers = workers
        self._tally.visit_limit = workers if was_full else min(workers, self._tally.visit_limit)
        self._ramp = self._next_ramp()

    @property
    def limit(self) -> int:
        """Visits that may be in flight."""
        return 0 if self._shortage else min(self._tally.visit_limit, self._ramp)

    @property
    def seats(self) -> int:
        """Sites that may wait at the workbench. A lease with its URLs and its robots.txt takes
        memory, too: where that is short, as few wait as may be visited."""
        short = self._tally.limited_by == MEMORY
        return SEATS_PER_WORKER * (self._tally.visit_limit if short else self._workers)

    async def run(self, changed: Callable[[], None]) -> None:
        """Adjust the limits until cancelled; `changed` is called when more may be started, or fewer
        may wait."""
        await self._watch.run(partial(self._adjust, changed))

    def excuses(self, site: str, fetched: Fetched, began_at: float) -> bool:
        """Is what the visit that began then came to our own fault? Counted, if so."""
        if fetched.failure is None:
            return False
        timed_out = fetched.timed_out or fetched.failure is Outcome.TIMED_OUT
        if not (timed_out or fetched.failure in GIVEN_UP):
            return False
        least_s = NOTICED_S if timed_out else PATIENCE_S
        if not self._watch.was_late(began_at, fetched.ended_at, least_s=least_s):
            return False
        if not self._excuses.give(site):
            return False
        self._tally.excused[fetched.failure.name.lower()] += 1
        return True

    def answered(self, site: str) -> None:
        """A page was answered; robots.txt is not enough, or a site whose pages never come would
        be excused anew each time."""
        self._excuses.forget(site)

    def _adjust(self, changed: Callable[[], None]) -> None:
        now = self._clock.now()
        if now - self._adjusted_at < ADJUST_S:
            return
        self._tally.lag_s = self._watch.worst_s(self._adjusted_at)
        self._adjusted_at = now
        before, seats_before = self.limit, self.seats
        memory_share = self._resources.memory_share()
        limit = adjusted(
            self._tally.visit_limit,
            workers=self._workers,
            in_flight=self._tally.in_flight,
            lag_s=self._tally.lag_s,
            long_s=self._long_s,
            memory_share=memory_share,
            careful=self._tally.limited_by == MEMORY,
        )
        if limit < self._tally.visit_limit:
            self._tally.limited_by = MEMORY if memory_share >= FULL else CPU
        self._tally.visit_limit = limit
        self._ramp = self._next_ramp()
        self._look_at_disks()
        if self.limit > before or self.seats < seats_before:
            changed()

    def _next_ramp(self) -> int:
        """Visits that may be in flight before memory is looked at again. It falls slowly: that few
        are in flight just now may only mean that a loop that is late has ended many at once."""
        most = self._resources.memory_limit
        if not most or self._workers * self._page_bytes <= most:
            return self._workers
        least = max(LEAST, self._workers // RAISES_TO_FULL)
        return min(self._workers, max(least, 2 * self._tally.in_flight, int(CUT * self._ramp)))

    def _look_at_disks(self) -> None:
        shortage = self._resources.shortage()
        if shortage and not self._shortage:
            log.error("the crawl is paused: %s", shortage)
        if self._shortage and not shortage:
            log.info("the crawl goes on")
        # What else is in trouble has a message of its own, which stands as long as it waits.
        if not self._tally.waiting and shortage != self._shortage:
            self._tally.trouble = shortage
        self._shortage = shortage
