"""A plan lived through: its events in order, and what was wrong."""

import asyncio
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mannerly.clock import InlineExecutor
from mannerly.engine.crawler import FINISHED
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import NewUrl, Priority, Source
from mannerly.url import host_of, url_hash
from tests.simulation.faults import verdict
from tests.simulation.faults.loop import WHOSE, StoryLoop
from tests.simulation.faults.plan import Fault, Kind, Plan
from tests.simulation.faults.process import Process
from tests.simulation.faults.world import PRIVATE, SITE_KEY, World

MOST_LIVES = 40
LONGEST_S = 8 * 3600.0
"""By then every story is over: nothing in a plan lasts for hours."""


class Story(NamedTuple):
    plan: Plan
    violations: list[str]
    events: list[str]
    """Byte for byte the same for the same plan."""
    requests: list[str]
    """What the servers saw, in order."""
    elapsed_s: float
    lives: int
    pages: int
    faults: Counter[Kind]
    """Those of the plan that came about."""
    killed_at: Counter[str]
    """At which steps."""


class Machine:
    """Who runs on it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lives = 0
        self._running: list[Process] = []

    def lose_power(self, fault: Fault) -> None:
        for process in self._running:
            process.die()
        self.world.reboot(fault)

    async def run(self, crawler: int) -> None:
        """One crawler after the other in the same place, until one comes to the crawl's end."""
        terms = self.world.plan.terms
        await asyncio.sleep(terms.starts_s[crawler])
        ended = ""
        for life in range(1, MOST_LIVES):
            await self.world.has_power.wait()
            process = Process(self, crawler, life)
            self._running.append(process)
            self.lives += 1
            ended = await process.live()
            self._running.remove(process)
            self._check_farewell(process, ended)
            if ended == FINISHED:
                return
            await asyncio.sleep(0.5 + terms.restarts_s[life % len(terms.restarts_s)])
        self.world.failures.append(f"crawler {crawler} never came to its end: {ended}")

    def _check_farewell(self, process: Process, ended: str) -> None:
        quiet = process.name not in self.world.troubled
        if process.stopped_at is not None and ended == "stopped" and quiet:
            took_s = self.world.now() - process.stopped_at
            paused_s = sum(it.to_at - it.from_at for it in self.world.breaks[process.name])
            if took_s > 15 + paused_s:
                self.world.failures.append(f"{process.name} took {took_s:.1f} s to end")


def live(plan: Plan) -> Story:
    """Live through a plan and judge what came of it."""
    with tempfile.TemporaryDirectory(prefix="mannerly-faults-") as folder, _silence():
        loop = StoryLoop()
        loop.set_exception_handler(_hear)
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(_live(plan, loop, Path(folder)))


def _hear(_: asyncio.AbstractEventLoop, complaint: dict[str, Any]) -> None:
    """A callback failed: a failure of a process that lives. A dead one complains to nobody."""
    handle = complaint.get("handle")
    whose = handle._context.get(WHOSE) if handle is not None else None
    if isinstance(whose, Process) and whose.alive:
        whose.world.failures.append(f"{whose.name} failed: {complaint.get('exception')!r}")


@contextmanager
def _silence() -> Iterator[None]:
    """Trouble is what a story is made of: nobody need be told."""
    log = logging.getLogger("mannerly")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


async def _live(plan: Plan, loop: StoryLoop, folder: Path) -> Story:
    world = World(plan, loop, folder)
    await _begin(world)
    machine = Machine(world)
    crawlers = [asyncio.create_task(machine.run(n)) for n in range(plan.terms.crawlers)]
    clocks = asyncio.create_task(world.set_clocks())
    done, late = await asyncio.wait(crawlers, timeout=LONGEST_S)
    for task in done:
        task.result()
    elapsed_s = world.now()
    for task in (*late, clocks):
        task.cancel()
    await asyncio.wait({*late, clocks})
    if late:
        world.failures.append(f"after {LONGEST_S:.0f} s it was not over")
    judged = verdict.judge(world)
    log = sorted(world.log, key=lambda record: (record.start, record.url, record.user_agent))
    requests = [
        f"{it.start:10.3f} to {it.end:10.3f}  {it.user_agent}  {it.url}  {it.status}"
        f"{'' if it.sent_whole else ', cut off'}"
        for it in log
    ]
    return Story(
        plan, judged.violations, world.events, requests, elapsed_s, machine.lives, judged.pages,
        world.happened, world.killed_at,
    )  # fmt: skip


async def _begin(world: World) -> None:
    """A crawl is made, with the home pages of all sites for seeds, and one that nobody may ask."""
    frontier = SqliteFrontier(
        world.root / "frontier.db",
        clock=world.clock,
        executor=InlineExecutor(),
        random=world.chance,
        synchronous="NORMAL",
        boot_id=world.boot_id,
    )
    async with frontier:
        await frontier.add([_seed(url) for url in (*world.homes, PRIVATE)])
        await frontier.create({"delay_s": str(world.plan.terms.delay_s)})


def _seed(url: str) -> NewUrl:
    site = SITE_KEY.site_of(host_of(url))
    return NewUrl(site, url_hash(url), url, 0, Priority.SEED, Source.SEED, 0)
