"""The crawler: one process's loop over the frontier, from the first lease to the last checkpoint.

Three things go on at once: the lease loop keeps the workbench filled, fetch tasks serve its seats,
the checkpoint loop makes their results durable. Nothing here touches a database or a socket itself.
"""

import asyncio
import logging

from mannerly.clock import Clock
from mannerly.engine.checkpoint import Checkpointer
from mannerly.engine.ledger import Ledger
from mannerly.engine.limits import Limits
from mannerly.engine.overload import Overload
from mannerly.engine.patience import Patience
from mannerly.engine.plan import HOLD_S, EnginePlan
from mannerly.engine.visit import Visitor
from mannerly.engine.workbench import Seat, Workbench, by_origin
from mannerly.errors import ExtractError, MannerlyError
from mannerly.frontier.contract import Frontier, Leased
from mannerly.observe.tally import Tally

log = logging.getLogger(__name__)

LEASE_GAP_S = 0.1
"""Between two requests for leases while there are fewer ready sites than free slots."""
LEASE_PATIENCE_S = 5.0
"""The longest time between two looks at the frontier; others may have added to it."""
EARLY_CHECKPOINT_S = 0.1
"""How soon a checkpoint may follow another when slots starve for what it would bring."""
GENTLE_LEASES = 20
"""So many first leases are small and a `LEASE_GAP_S` apart where several processes begin together:
else the first of them takes all sites there are, and where the delay is short it keeps them."""
GENTLE_SHARE = 16
"""One of them fills this part of the workers."""
STOP_GRACE_S = 8.0
"""What visits in flight get to finish when the crawl is stopped."""
FAREWELL_S = 5.0
"""What the last checkpoint gets when somebody waits for the end. If the database does not answer,
leases lapse by themselves."""
UNHURRIED_S = 60.0
"""What it gets where the crawl has come to an end by itself: on a busy machine thousands of pages
may have to be made durable, and those that are not would be fetched again."""

EARLY_BEAT_S = 0.2
"""How soon a beat may follow another when slots starve for pages that it might grant."""
FINISHED = "finished: nothing is left to do"
ENOUGH_PAGES = "max-pages reached"
ENOUGH_TIME = "max-duration reached"
OWN_ENDS = frozenset({FINISHED, ENOUGH_PAGES, ENOUGH_TIME})


class Crawler:
    def __init__(
        self,
        *,
        plan: EnginePlan,
        frontier: Frontier,
        writer: int,
        visitor: Visitor,
        checkpointer: Checkpointer,
        overload: Overload,
        bench: Workbench,
        ledger: Ledger,
        tally: Tally,
        clock: Clock,
        limits: Limits,
    ) -> None:
        self._plan = plan
        self._frontier = frontier
        self._writer = writer
        self._visitor = visitor
        self._checkpointer = checkpointer
        self._overload = overload
        self._bench = bench
        self._ledger = ledger
        self._tally = tally
        self._clock = clock
        self._limits = limits
        self._patience = Patience(tally)
        self._visits: dict[asyncio.Task[None], Seat] = {}
        self._group: asyncio.TaskGroup | None = None
        self._wake_leaser = asyncio.Event()
        self._nudge_checkpoint = asyncio.Event()
        self._nudge_beat = asyncio.Event()
        self._checkpointed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._checkpointing = False
        # All slots may start and end at the same time; but what is kept back others cannot have.
        self._reserve = max(8, plan.workers // 8 if plan.shared else plan.workers)
        self._gentle_left = GENTLE_LEASES if plan.shared else 0
        self._bench_timer: asyncio.TimerHandle | None = None
        self._time_limit: asyncio.TimerHandle | None = None
        self.ended_because = ""
        self._grace_s = STOP_GRACE_S
        self._hurried = False
        """Somebody waits for the end."""
        self._farewell: asyncio.Timeout | None = None
        self._failure: ExtractError | None = None

    def wake(self) -> None:
        """The consumer is no longer behind: go on."""
        if self._group is not None:
            self._dispatch()

    def look(self) -> None:
        """Others have changed the frontier: ask it for sites without waiting any longer."""
        self._checkpointed.set()

    def pause(self) -> None:
        """Start no further visit until `go_on`. What is in flight ends as usual; leases that are
        not used meanwhile lapse."""
        self._tally.paused = True

    def go_on(self) -> None:
        self._tally.paused = False
        self.wake()

    def set_workers(self, workers: int) -> None:
        """So many visits at once from now on. Who raises it has seen to the descriptors."""
        self._overload.set_workers(workers)
        self.wake()

    def stop(self, why: str, grace_s: float = STOP_GRACE_S) -> None:
        """Start no further visit, finish what is in flight, leave everything durable. What is not
        finished after `grace_s` is broken off, and comes again. Said once more, while the crawl is
        ending by itself, it is to end soon."""
        if why not in OWN_ENDS and not self._hurried:
            self._hurried = True
            if self._farewell is not None and not self._farewell.expired():
                self._farewell.reschedule(asyncio.get_running_loop().time() + FAREWELL_S)
        if not self._stopping.is_set():
            self.ended_because = self._tally.ending = why
            self._grace_s = grace_s
            self._stopping.set()

    async def run(self) -> str:
        """Crawl until nothing is left, a limit is met or `stop` is called; say which."""
        async with asyncio.TaskGroup() as self._group:
            beating = self._group.create_task(self._beat_loop(), name="beat")
            leasing = self._group.create_task(self._lease_loop(), name="lease")
            checkpoints = self._group.create_task(self._checkpoint_loop(), name="checkpoint")
            watching = self._group.create_task(self._overload.run(self._dispatch), name="lag")
            self._end_in(self._plan.max_duration_s or None)
            await self._stopping.wait()
            self._end_in(None)
            beating.cancel()
            await self._wind_down(leasing, checkpoints)
            watching.cancel()
        if self._failure is not None:
            raise self._failure
        return self.ended_because

    # -- leasing -------------------------------------------------------------------------------

    async def _lease_loop(self) -> None:
        while not self._stopping.is_set():
            self._wake_leaser.clear()
            want = self._wanted()
            if want <= 0:
                await self._wake_leaser.wait()
                continue
            gentle = self._gentle_left > 0
            if gentle:
                self._gentle_left -= 1
                want = min(want, max(4, self._plan.workers // GENTLE_SHARE))
            was_idle = self._idle()
            self._checkpointed.clear()
            visits_before = self._tally.visits
            leased = await self._lease(want)
            self._keep_in_reserve(self._tally.visits - visits_before)
            now = self._clock.now()
            for lease in leased.leases:
                lease.urls = by_origin(lease.urls)
                self._bench.sit(Seat(lease, lease.leased_at + HOLD_S), now, now)
            self._tally.leased += len(leased.leases)
            self._dispatch()
            if leased.leases and len(leased.leases) >= want:
                if gentle:
                    await asyncio.sleep(LEASE_GAP_S)
                continue
            if leased.next_ready_in_s is None and was_idle and self._idle():
                self.stop(FINISHED)
                return
            # There are fewer ready sites than free slots. Only time or a checkpoint brings more.
            next_in_s = leased.next_ready_in_s
            pause_s = LEASE_PATIENCE_S if next_in_s is None else next_in_s
            await asyncio.sleep(LEASE_GAP_S)
            await _wait(self._checkpointed, min(pause_s, LEASE_PATIENCE_S) - LEASE_GAP_S)

    async def _lease(self, want: int) -> Leased:
        return await self._patience.until_done(
            lambda: self._frontier.lease(
                self._writer,
                want,
                ttl_s=self._plan.ttl_s,
                urls_per_site=self._plan.urls_per_site,
            )
        )

    def _wanted(self) -> int:
        """How many sites to lease now: the free slots and a little more, in useful batches."""
        # First of all, as it wakes who has rested: else a timer for them would be due for ever.
        ready = self._bench.ready(self._clock.now())
        if self._checkpointer.overfull or self._tally.paused:
            return 0
        limit = self._overload.limit
        if limit == 0:
            return 0
        reserve = min(self._reserve, max(8, limit))
        want = limit + reserve - self._tally.in_flight - ready
        # Half a reserve at least, so that a slot that frees up does not cost a lease of its own.
        if want < reserve // 2:
            return 0
        left = self._limits.pages_left
        if left is not None:
            want = min(want, left - ready)
        return min(want, self._overload.seats - len(self._bench))

    def _keep_in_reserve(self, visits: int) -> None:
        """Seats beyond the free slots: twice as many as were used up while a lease was on its way,
        which on a busy loop can be long. It shrinks slowly."""
        workers = self._overload.workers
        least = max(8, workers // 8)
        wanted = max(2 * visits, self._reserve // 2, least)
        self._reserve = min(wanted, max(least, workers))

    def _idle(self) -> bool:
        """Nothing is under way in this process, and nothing waits to be made durable."""
        return (
            not (self._tally.in_flight or len(self._bench) or self._checkpointing)
            and self._ledger.empty
        )

    # -- serving -------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Give ready seats to free slots."""
        now = self._clock.now()
        while self._may_start():
            seat = self._bench.take(now)
            if seat is None:
                break
            if not seat.revoked:
                self._start(seat)
        self._leave_room()
        if self._bench_timer is not None:
            self._bench_timer.cancel()
            self._bench_timer = None
        if self._stopping.is_set():
            return
        ready_at = self._bench.next_ready_at()
        if ready_at is not None:
            loop = asyncio.get_running_loop()
            self._bench_timer = loop.call_later(max(0.0, ready_at - now), self._dispatch)
        left = self._limits.pages_left
        if left is not None and left <= 0 and self._bench.ready(now):
            self._nudge_beat.set()
        if self._wanted() > 0:
            self._wake_leaser.set()
            if self._ledger.brings_work(now):
                self._nudge_checkpoint.set()

    def _leave_room(self) -> None:
        """Give back the sites that are too many at the workbench since memory is short, or since
        somebody set fewer workers. Those being visited come back to it, so there is room for them:
        else each of them would push another one out, which is then leased again."""
        for seat in self._bench.shed(self._overload.seats + self._tally.visit_limit):
            if not seat.revoked:
                self._visitor.release_unserved(seat, "surplus")
        self._tally.seats = len(self._bench)
        self._tally.unsettled = self._ledger.size

    def _may_start(self) -> bool:
        return (
            self._tally.in_flight < self._overload.limit
            and not self._must_rest()
            and (self._limits.pages_left is None or self._limits.pages_left > 0)
            and not self._limits.enough_pages
        )

    def _may_go_on(self) -> bool:
        """May a visit be followed by another one in the same slot, which counts as in flight?"""
        left = self._limits.pages_left
        return not self._must_rest() and (left is None or left >= 0)

    def _must_rest(self) -> bool:
        """No further visit may begin, also on a connection that is open."""
        return self._stopping.is_set() or self._tally.paused or self._checkpointer.overfull

    def _start(self, seat: Seat) -> None:
        assert self._group is not None
        self._tally.in_flight += 1
        self._tally.most_in_flight = max(self._tally.most_in_flight, self._tally.in_flight)
        task = self._group.create_task(self._serve(seat))
        self._visits[task] = seat
        task.add_done_callback(self._served)

    async def _serve(self, seat: Seat) -> None:
        """Serve a seat; again at once, on the same connection, where there is no delay."""
        try:
            while True:
                next_at = await self._visitor.serve(seat)
                now = self._clock.now()
                if next_at is None or seat.revoked:
                    seat.close_channel()
                    return
                self._check_limits()
                if next_at > now or not self._may_go_on():
                    seat.close_channel()
                    self._bench.sit(seat, next_at, now)
                    return
        except asyncio.CancelledError:
            self._visitor.release_interrupted(seat)
            raise
        except ExtractError as exc:
            # Not a task's failure, which would cut everybody off: what is under way is finished.
            self._failure = exc
            self._visitor.release_interrupted(seat)
            self.stop("extraction failed")
        except MannerlyError:
            raise
        except Exception as exc:
            # A page that trips a bug of ours must not end a crawl of millions, nor come again
            # at every --resume: it is settled, with the reason, and everybody else goes on.
            log.exception("internal error at %s; the page is given up", seat.lease.site)
            self._visitor.give_up(seat, exc)

    def _served(self, task: asyncio.Task[None]) -> None:
        del self._visits[task]
        self._tally.in_flight -= 1
        if task.cancelled() or task.exception() is not None:
            return
        self._check_limits()
        if self._checkpointer.full:
            self._nudge_checkpoint.set()
        self._dispatch()

    # -- limits --------------------------------------------------------------------------------

    def _check_limits(self) -> None:
        if self._limits.enough_pages:
            self.stop(ENOUGH_PAGES)

    async def _beat_loop(self) -> None:
        """Hold the crawl's limits together with whoever else is crawling."""
        while True:
            await self._limits.beat()
            self._end_in(self._limits.time_left_s)
            self._check_limits()
            self._dispatch()
            await asyncio.sleep(EARLY_BEAT_S)
            await _wait(self._nudge_beat, self._limits.interval_s - EARLY_BEAT_S)
            self._nudge_beat.clear()

    def _end_in(self, seconds: float | None) -> None:
        """Stop when the time is up, and not when it was thought to be before; None: never."""
        if self._time_limit is not None:
            self._time_limit.cancel()
            self._time_limit = None
        if seconds is not None and not self._stopping.is_set():
            loop = asyncio.get_running_loop()
            self._time_limit = loop.call_later(seconds, self.stop, ENOUGH_TIME)

    # -- checkpoints ---------------------------------------------------------------------------

    async def _checkpoint_loop(self) -> None:
        while not self._stopping.is_set():
            await self._checkpoint_due()
            if await self._checkpoint():
                self._checkpointed.set()
                self._wake_leaser.set()
                self._dispatch()

    async def _checkpoint_due(self) -> None:
        interval_s = self._plan.checkpoint_interval_s
        await _wait(self._nudge_checkpoint, self._since_checkpoint(interval_s))
        self._nudge_checkpoint.clear()
        if not self._checkpointer.full:
            early_s = self._since_checkpoint(min(EARLY_CHECKPOINT_S, interval_s))
            if early_s > 0:
                await _wait(self._stopping, early_s)

    def _since_checkpoint(self, interval_s: float) -> float:
        """What is left of an interval that began with the last checkpoint."""
        return self._checkpointer.last_at + interval_s - self._clock.now()

    async def _checkpoint(self) -> bool:
        """Whether there was anything to make durable."""
        self._checkpointing = True
        try:
            refused = await self._checkpointer.run()
        finally:
            self._checkpointing = False
        if refused:
            self._revoke(refused)
        return refused is not None

    def _revoke(self, tokens: frozenset[int]) -> None:
        """The frontier gave these sites to somebody else: make no further visit for them."""
        log.warning("%d leases had lapsed and were refused; their work is void", len(tokens))
        self._bench.revoke(tokens)
        for seat in self._visits.values():
            if seat.lease.token in tokens:
                seat.revoked = True

    # -- the end -------------------------------------------------------------------------------

    async def _wind_down(
        self, leasing: asyncio.Task[None], checkpoints: asyncio.Task[None]
    ) -> None:
        """Let visits finish for a while, give every lease back, make the last batch durable."""
        leasing.cancel()
        if self._visits:
            await asyncio.wait(set(self._visits), timeout=self._grace_s)
            for task in list(self._visits):
                task.cancel()
            if self._visits:
                await asyncio.wait(set(self._visits))
        for seat in self._bench.drain():
            if not seat.revoked:
                self._visitor.release_unserved(seat, "stopped")
        self._nudge_checkpoint.set()
        try:
            allowed_s = FAREWELL_S if self._hurried else UNHURRIED_S
            async with asyncio.timeout(allowed_s) as self._farewell:
                await asyncio.wait({checkpoints})
                await self._checkpoint()
                await self._patience.until_done(
                    lambda: self._frontier.retire(self._writer, self._plan.delay_s)
                )
        except TimeoutError:
            checkpoints.cancel()
            log.warning(
                "the last checkpoint did not come through; nothing is lost: leases lapse by "
                "themselves and the unsettled pages are fetched again with --resume"
            )
        finally:
            self._farewell = None


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    """Until the event is set or the time is up."""
    if timeout_s <= 0 or event.is_set():
        return
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        pass
