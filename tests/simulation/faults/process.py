"""One life of a crawler: from its start to its end, whatever that is.

It is the real program but for clock, threads and network: what died before is brought back, a
journal is opened, the engine runs. At each step the plan may have something for it. A killed one
does nothing any more that others could see: every border refuses it, and its locks are free.
"""

import asyncio
import os
import random
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING

from mannerly import assemble
from mannerly.assemble import World as Surroundings
from mannerly.config import Config, build
from mannerly.engine.crawler import Crawler
from mannerly.errors import FrontierError, MannerlyError, StoreError
from mannerly.observe.tally import Tally
from mannerly.reviving import bring_back_the_dead
from mannerly.simweb.spacing import Break
from mannerly.store import JournalStore
from mannerly.url import Exclusions
from tests.simulation.faults.borders import BorderExecutor, BorderFrontier, BorderTransport
from tests.simulation.faults.disk import BorderDisk
from tests.simulation.faults.loop import OUTSIDE, WHOSE, Stoppable
from tests.simulation.faults.plan import Fault, Kind
from tests.simulation.faults.world import SITE_KEY, VISIT_TIMEOUT_S, World

if TYPE_CHECKING:
    from tests.simulation.faults.story import Machine

KILLED = "killed"
_TROUBLE = {Kind.SLOW, Kind.LOCKED, Kind.UNANSWERED, Kind.DISK_FULL, Kind.DISK_BROKEN}


class Killed(BaseException):
    """Raised in a process that is dead, wherever it tries to go on."""


class Process(Stoppable):
    def __init__(self, machine: "Machine", crawler: int, life: int) -> None:
        super().__init__()
        self.machine = machine
        self.world: World = machine.world
        self.crawler = crawler
        self.name = f"mannerly-{crawler}.{life}"
        self.chance = random.Random(f"{self.name} {self.world.plan.seed}")
        self.alive = True
        self.stopped_at: float | None = None
        """When it was told to end."""
        self._locked: dict[str, int] = {}
        self._main: asyncio.Task[str] | None = None
        self._engine: Crawler | None = None
        self._frontier: BorderFrontier | None = None
        self._store: JournalStore | None = None

    # -- its life ------------------------------------------------------------------------------

    async def live(self) -> str:
        """How it ended."""
        self.world.tell(f"{self.name} starts")
        whose = copy_context()
        whose.run(WHOSE.set, self)
        self._main = asyncio.create_task(self._run(), name=self.name, context=whose)
        await asyncio.wait({self._main})
        ended = self._how_it_ended()
        self._leave()
        self.world.tell(f"{self.name} ends: {ended}")
        return ended

    def _how_it_ended(self) -> str:
        assert self._main is not None
        if not self.alive:
            if not self._main.cancelled():
                self._main.exception()  # looked at, so that nobody complains
            return KILLED
        error = self._main.exception()
        if error is None:
            return self._main.result()
        if not isinstance(error, FrontierError | StoreError):
            self.world.failures.append(f"{self.name} failed: {_told(error)}")
        return f"failed: {_told(error)}"

    async def _run(self) -> str:
        world, terms = self.world, self.world.plan.terms
        data_dir = world.data_dir(self.crawler)
        config = config_of(world, data_dir)
        store_executor = BorderExecutor(self, "store")
        disk = BorderDisk(self, world.platter)
        self._frontier = frontier = BorderFrontier(self)
        surroundings = Surroundings(
            world.clock, BorderExecutor(self, "sql"), store_executor, self.chance
        )
        async with frontier:
            await bring_back_the_dead(frontier, data_dir, terms.delay_s, disk=disk)
            writer = await frontier.enlist(self.name)
            self._store = self._open_store(data_dir, writer, disk)
            self._engine = assemble.make_crawler(
                config,
                surroundings,
                frontier=frontier,
                transport=BorderTransport(self),
                store=self._store,
                writer=writer,
                site_key=SITE_KEY,
                exclusions=Exclusions(),
                workers=config.fetch.max_workers,
                tally=Tally(world.clock.now()),
            )
            try:
                return await self._engine.run()
            finally:
                if self.alive:
                    await store_executor.run(self._close_store)

    def _open_store(self, data_dir: Path, writer: int, disk: BorderDisk) -> JournalStore:
        before = _descriptors()
        try:
            return JournalStore(
                data_dir,
                writer,
                clock=self.world.clock,
                segment_bytes=self.world.plan.terms.segment_bytes,
                disk=disk,
            )
        except BaseException:
            # Its process would end now, and the kernel would free its lock.
            for descriptor in _descriptors() - before:
                os.close(descriptor)
            raise

    def _close_store(self) -> None:
        assert self._store is not None
        store, self._store = self._store, None  # it gives its lock back, however it ends
        store.close()

    def _leave(self) -> None:
        """What the kernel does when a process has ended."""
        if self._store is not None:
            self._store._finish()
            self._store._lock.release()
            self._store = None
        if self._frontier is not None:
            self._frontier.close_at_once()

    # -- its steps -----------------------------------------------------------------------------

    def due(self, step: str) -> Fault | None:
        """It has come to a step; what the plan has for it. A dead one comes nowhere."""
        if not self.alive:
            raise Killed
        return self.world.due(self.crawler, step)

    async def reach(self, step: str) -> Fault | None:
        """Come to a step at which it can wait, and live through what happens there."""
        await self._going_on()
        fault = self.due(step)
        if fault is not None:
            self.suffer(fault)
            if fault.kind is Kind.SLOW:
                await asyncio.sleep(fault.lasts_s)
            if fault.kind is Kind.LOCKED:
                self._locked[step] = fault.times
            if fault.kind is Kind.UNANSWERED:
                raise FrontierError("the connection was lost")
        if self._locked.get(step):
            self._locked[step] -= 1
            raise FrontierError("the database is locked")
        await self._going_on()
        return fault

    async def _going_on(self) -> None:
        if self.stopped:
            await asyncio.sleep(0)  # until it goes on
        if not self.alive:
            raise Killed

    def suffer(self, fault: Fault) -> None:
        """What happens to the process as a whole."""
        world = self.world
        world.tell(f"{self.name}: {fault.told()}")
        world.happened[fault.kind] += 1
        now = world.now()
        if fault.kind in _TROUBLE:
            world.troubled.add(self.name)
            world.breaks[self.name].append(Break(now, now + fault.lasts_s))
        if fault.kind in {Kind.CRASH, Kind.POWER_CUT}:
            world.killed_at[fault.step] += 1
        if fault.kind is Kind.CRASH:
            self.die()
            raise Killed
        if fault.kind is Kind.POWER_CUT:
            self.machine.lose_power(fault)
            raise Killed
        if fault.kind is Kind.PAUSE:
            world.breaks[self.name].append(Break(now, now + fault.lasts_s))
            self.stopped = True
            world.loop.call_later(fault.lasts_s, self.go_on, world.loop, context=OUTSIDE)
        if fault.kind is Kind.STOP and self._engine is not None:
            self.stopped_at = now
            self._engine.stop("stopped")

    def die(self) -> None:
        """At once: nothing that it does after this is seen by anybody."""
        if not self.alive or self._main is None or self._main.done():
            return
        self.alive = False
        now = self.world.now()
        self.world.breaks[self.name].append(Break(now, now))
        if self._engine is not None:
            self._engine.stop(KILLED)  # no timer of it shall start anything
        self.go_on(self.world.loop)
        self._main.cancel()


def config_of(world: World, data_dir: Path) -> Config:
    terms = world.plan.terms
    return build(
        {
            "email": "sim@example.org",
            "data_dir": data_dir,
            "delay": terms.delay_s,
            "checkpoint_interval": terms.checkpoint_s,
            "robots_ttl": terms.robots_ttl_s,
            "crawl_delay_ceiling": 30.0,
            "visit_timeout": VISIT_TIMEOUT_S,
            "retry_delay": 5.0,
            "retry_ceiling": 100.0,
            "max_tries": 9,
            "max_failures": 9,
            "max_workers": 20,
        }
    )


def _told(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_told(one) for one in error.exceptions)
    kind = "" if isinstance(error, MannerlyError) else f"{type(error).__name__}: "
    return f"{kind}{error}"


def _descriptors() -> set[int]:
    """Those that are open, without the one by which it was found out."""
    return {int(path.name) for path in list(Path("/proc/self/fd").iterdir()) if path.exists()}
