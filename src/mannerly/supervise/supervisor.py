"""The parent of several crawl processes.

It starts them, sums up what they tell, replaces one that dies or hangs, and ends them together. A
process that died is reaped, so its death is proved: what it left is finished as at `--resume`, and
its sites come back after a delay (`mannerly.reviving`).

The crawl is over when each of them has said so. One that finds nothing left to do has asked the
frontier, which counts what the others hold: so none ends while another one's work may bring more.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import replace

from mannerly.assemble import World
from mannerly.config import Config
from mannerly.engine.crawler import ENOUGH_PAGES, ENOUGH_TIME, FINISHED
from mannerly.engine.patience import Patience
from mannerly.errors import FrontierError, MannerlyError, StoreError
from mannerly.frontier.contract import Frontier
from mannerly.observe import process
from mannerly.observe.snapshot import Counts, Snapshot, summed
from mannerly.observe.summing import sum_into
from mannerly.observe.tally import Tally
from mannerly.reviving import bring_back_the_dead, release_what_the_dead_hold
from mannerly.supervise.child import Child
from mannerly.supervise.restarts import Restarts

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "mannerly", "crawl-process")
TICK_S = 1.0
START_S = 60.0
"""What a process gets to give its first sign of life, if that is more than --hang-timeout."""
STOP_S = 13.5
"""What processes get to end when they are told to. They need 13 s at most: see the crawler."""
LAST_REVIVAL_S = 1.0
OVER = frozenset({FINISHED, ENOUGH_PAGES, ENOUGH_TIME})
"""Ends after which nobody is needed at that place any more."""


class Supervisor:
    def __init__(
        self,
        config: Config,
        world: World,
        frontier: Frontier,
        *,
        keep: Sequence[int] = (),
        command: Sequence[str] = COMMAND,
    ) -> None:
        """`keep`: descriptors that the processes inherit, such as a lock on the data directory."""
        self._config = config
        self._world = world
        self._frontier = frontier
        self._keep_open = keep
        self._command = command
        self._living: dict[int, Child] = {}
        self._gone = Tally(0.0)
        self._own = Tally(0.0)
        """Of this process there is only what it waits for."""
        self._stopping = asyncio.Event()
        self._reviving = asyncio.Lock()
        self._unburied = False
        """Somebody died, and what it left is not finished yet."""
        self._failure: MannerlyError | None = None
        self.tally = Tally(world.clock.now())
        """All processes of this run together."""
        self._left: list[Snapshot] = []
        """What is left to show of those that are gone: what they did."""
        self._paused = False
        self.counts = Counts()
        """Of the frontier, kept up by whoever counts."""
        self.ended = False
        self._over = ""
        """Why those that ended by themselves did."""
        self.ended_because = ""
        """Why all of them were told to stop; '' while they were not."""

    async def run(self, shares: Sequence[Config], workers: Sequence[int]) -> str:
        """Crawl with a process for each share until the crawl is over; why it ended."""
        places = [
            asyncio.create_task(self._keep(number, share, each), name=f"process {number}")
            for number, (share, each) in enumerate(zip(shares, workers, strict=True), start=1)
        ]
        watching = asyncio.create_task(self._watch(), name="watch")
        try:
            await asyncio.gather(*places)
        finally:
            # All are gone, unless something is wrong with us: then nobody is left behind.
            self._stopping.set()
            self.kill()
            await asyncio.gather(*places, return_exceptions=True)
            watching.cancel()
        if self._unburied:
            with suppress(TimeoutError, FrontierError, StoreError):
                async with asyncio.timeout(LAST_REVIVAL_S):
                    await self._bury()
        if self._failure is not None:
            raise self._failure
        return self.ended_because or self._over

    def stop(self, why: str) -> None:
        """Tell all of them to end; who has not after a while is killed."""
        if not self._stopping.is_set():
            self.ended_because = self.tally.ending = why
            self._stopping.set()
            self._tell_all({"stop": why})
            asyncio.get_running_loop().call_later(STOP_S, self.kill)

    def kill(self) -> None:
        for child in self._living.values():
            child.kill()

    def pause(self) -> None:
        self._paused = True
        self._tell_all({"pause": True})

    def go_on(self) -> None:
        self._paused = False
        self._tell_all({"pause": False})

    def set_workers(self, workers: int) -> None:
        """So many visits at once in all processes together, one each at least."""
        count = max(1, len(self._living))
        for place, child in enumerate(self._living.values()):
            child.tell({"workers": max(1, workers // count + (place < workers % count))})

    def wake(self) -> None:
        """There is more to do than the frontier has told them."""
        self._tell_all({"look": True})

    def snapshot(self) -> Snapshot:
        """All processes of this run as one. For any thread."""
        living = [child.snapshot for child in list(self._living.values()) if child.snapshot]
        own = Snapshot(
            at=self._world.clock.wall(),
            elapsed_s=self._world.clock.now() - self.tally.started_at,
            processes=0,
            paused=self._paused,
            trouble=self._own.trouble,
            ending=self.tally.ending,
            max_pages=self._config.crawl.max_pages,
            max_duration_s=self._config.crawl.max_duration,
            memory_bytes=process.memory_bytes(),
            open_files=process.open_files(),
        )
        return replace(summed([own, *living, *self._left]), counts=self.counts, ended=self.ended)

    def reread(self) -> None:
        """The file of exclusions has changed."""
        self._tell_all({"reread": True})

    def _tell_all(self, message: dict[str, object]) -> None:
        for child in self._living.values():
            child.tell(message)

    # -- one place -----------------------------------------------------------------------------

    async def _keep(self, number: int, share: Config, workers: int) -> None:
        """A process, and another after its death, until the crawl is over."""
        restarts = Restarts()
        while not self._stopping.is_set():
            try:
                child = await Child.start(number, share, workers, self._command, self._keep_open)
            except OSError as exc:
                self._give_up(f"a process could not be started: {exc.strerror}")
                return
            started_at = self._world.clock.now()
            self._living[number] = child
            if self._stopping.is_set():
                child.tell({"stop": self.ended_because})
            if self._paused:
                child.tell({"pause": True})
            code = await child.listen()
            del self._living[number]
            sum_into(self._gone, [], [self._gone, child.tally])
            if child.snapshot is not None:
                self._left = [summed([*self._left, _left_of(child.snapshot)])]
            self._sum_up()
            if child.because in OVER:
                if child.because == FINISHED or not self._over:
                    self._over = child.because
                self._tell_all({"look": True})
                return
            if not child.because:
                self._unburied = True
                pause_s = restarts.pause_s(self._world.clock.now() - started_at)
                self._mourn(child, code, pause_s)
                await self._unless_stopped(asyncio.sleep(pause_s or 0.0))
            await self._unless_stopped(Patience(self._own).until_done(self._revive))

    def _mourn(self, child: Child, code: int, pause_s: float | None) -> None:
        how = child.failure or (f"signal {-code}" if code < 0 else f"exit code {code}")
        if self._stopping.is_set():
            log.warning("process %d ended early: %s", child.number, how)
        elif pause_s is not None:
            log.error(
                "process %d died (%s); another one follows in %.1f s", child.number, how, pause_s
            )
        else:
            self._give_up(f"process {child.number} died again and again, last of: {how}")

    def _give_up(self, why: str) -> None:
        self._failure = MannerlyError(f"{why}; the crawl was stopped, --resume goes on with it")
        self.stop(why)

    async def _bury(self) -> None:
        """Who was killed because it did not end in time was most likely rolling its journal. To do
        that here takes as long again, and nothing can break it off: the end took 21 s instead of
        15 on a busy machine."""
        if self.ended_because:
            await release_what_the_dead_hold(
                self._frontier, self._config.crawl.data_dir, self._config.politeness.delay
            )
        else:
            await self._revive()

    async def _revive(self) -> None:
        """Where the database does not answer, nobody is started either: it would only die."""
        async with self._reviving:
            await self._frontier.settings()
            self._unburied = False
            try:
                await bring_back_the_dead(
                    self._frontier,
                    self._config.crawl.data_dir,
                    self._config.politeness.delay,
                    self._world.store_executor,
                )
            except BaseException:
                self._unburied = True
                raise

    async def _unless_stopped(self, work: Awaitable[None]) -> None:
        """Do it, or as much of it as there is time for."""
        doing = asyncio.ensure_future(work)
        stopped = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({doing, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if doing.done():
            doing.result()
        doing.cancel()

    # -- all of them ---------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Sum up, and kill who hangs. Silence counts only while this process was there to hear:
        after a night asleep, or Ctrl-Z, everybody was silent."""
        seen_at = self._world.clock.now()
        hang_s = self._config.engine.hang_timeout
        while True:
            await asyncio.sleep(TICK_S)
            now = self._world.clock.now()
            passed_s = min(now - seen_at, 2 * TICK_S)
            seen_at = now
            self._sum_up()
            for child in self._living.values():
                child.silent_s += passed_s
                if child.silent_s > (hang_s if child.beats else max(hang_s, START_S)):
                    log.error(
                        "process %d (pid %d) gave no sign of life for %.0f s and is killed",
                        child.number, child.pid, child.silent_s)  # fmt: skip
                    child.kill()

    def _sum_up(self) -> None:
        told = [child.tally for child in self._living.values()]
        sum_into(self.tally, [self._own, *told], [self._gone])


def _left_of(snapshot: Snapshot) -> Snapshot:
    """What a process did, without what it was."""
    return replace(
        snapshot,
        processes=0,
        workers=0,
        visit_limit=0,
        in_flight=0,
        seats=0,
        unsettled=0,
        paused=False,
        trouble="",
        lag_s=0.0,
        memory_bytes=0,
        open_files=0,
    )
