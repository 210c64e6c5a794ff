"""The world that a story happens in: one machine, its web, and what it saw.

The machine has a clock that counts from its boot, a wall clock that anybody may set, and a disk.
What was seen is kept apart from what any crawler thinks: the web servers' log on true time, and at
the frontier's border who was given which lease and which commits were accepted.
"""

import asyncio
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mannerly.clock import VirtualClock
from mannerly.model import Commit
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.site import WITH_SITEMAP, RobotsKind
from mannerly.simweb.spacing import Break
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.url import SiteKey
from tests.simulation.faults.disk import Platter
from tests.simulation.faults.loop import OUTSIDE, StoryLoop
from tests.simulation.faults.plan import Fault, Kind, Plan

SITE_KEY = SiteKey()
CLOSED = {RobotsKind.BARRED, RobotsKind.FAILING}
PRIVATE = "http://10.0.0.7/"
"""A seed that nobody may connect to."""
VISIT_TIMEOUT_S = 25.0
AFTER_BOOT_S = 20.0
"""What the machine's clock shows when crawlers can run again."""


@cache
def web_of(number: int) -> Web:
    """A small web with something of everything; the same object every time: it is costly to make,
    and answers are functions of the URL."""
    return Web(
        preset("mixed", seed=1000 + number, sites=3 + number % 2, traps=False, pages_mean=2.5,
               pages_max=5, body_mean=500, links_min=5, links_max=8, latency_s=0.8,
               slow_sites=0.2, crawl_delay_s=25.0, busy_pages=0.1, files=0.0, stalling_sites=0.0,
               closing_sites=0.0, stalled_pages=0.0, stopped_pages=0.0, cut_pages=0.0,
               failing_pages=0.0, robots_rules=0.2, robots_delays=0.2, robots_moved=0.1,
               robots_failing=0.05, robots_huge=0.0)
    )  # fmt: skip


@cache
def moved_robots(number: int) -> dict[str, str]:
    """A robots.txt that redirects to another site's, where that is to be had: both allow all, so
    nothing else changes by it. It takes a claim to that site to read it."""
    web = web_of(number)
    sites = [web.site(index) for index in range(web.spec.sites)]
    open_ = [it for it in sites if it.robots[0] not in WITH_SITEMAP | CLOSED]
    urls = [f"{site.origin}/robots.txt" for site in open_]
    return {urls[0]: urls[1]} if len(urls) > 1 else {}


class LeaseGiven(NamedTuple):
    site: int
    token: int
    writer: int
    at: float
    lapses_at: float


class Accepted(NamedTuple):
    """The first time that a commit was applied."""

    writer: int
    at: float
    commit: Commit
    refused: frozenset[int]


class Retired(NamedTuple):
    writer: int
    at: float


class Booted(NamedTuple):
    at: float


Seen = LeaseGiven | Accepted | Retired | Booted


class MachineClock:
    """Boot time and wall time of the machine, as its processes read them."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def now(self) -> float:
        return self._world.now() - self._world.booted_at + AFTER_BOOT_S

    def wall(self) -> float:
        return VirtualClock.EPOCH + self._world.now() + self._world.wall_wrong_s


class ServerClock(MachineClock):
    """For the simulated servers: their deadlines are the asker's, their log is on true time."""

    def wall(self) -> float:
        return self._world.now()


@dataclass
class World:
    plan: Plan
    loop: StoryLoop
    root: Path
    began_at: float = field(init=False)
    booted_at: float = 0.0
    boots: int = 1
    wall_wrong_s: float = 0.0
    busy: Counter[str] = field(default_factory=Counter)
    """How often each page that is busy at first was asked for."""
    log: list[AccessRecord] = field(default_factory=list)
    """The servers'. The user agent is the life of a crawler that asked."""
    seen: list[Seen] = field(default_factory=list)
    breaks: dict[str, list[Break]] = field(default_factory=lambda: defaultdict(list))
    """When a life did not run, or could not do what it wanted."""
    troubled: set[str] = field(default_factory=set)
    """Lives whose database or disk failed them."""
    writers: dict[int, str] = field(default_factory=dict)
    """Which life wrote as which writer."""
    happened: Counter[Kind] = field(default_factory=Counter)
    """What of the plan came about."""
    killed_at: Counter[str] = field(default_factory=Counter)
    """The steps at which lives ended."""
    events: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Lives that ended as none should."""

    def __post_init__(self) -> None:
        self.began_at = self.loop.time()
        self.web = web_of(self.plan.terms.web)
        self.moved_robots = moved_robots(self.plan.terms.web)
        self.clock = MachineClock(self)
        self.chance = random.Random(f"world {self.plan.seed}")
        attic = self.root / "attic"
        attic.mkdir()
        self.platter = Platter(attic)
        self.has_power = asyncio.Event()
        self.has_power.set()
        self._steps: Counter[tuple[int, str]] = Counter()
        self._due = {(it.crawler, it.step, it.nth): it for it in self.plan.faults if it.step}

    def now(self) -> float:
        """True time, from the start of the story."""
        return self.loop.time() - self.began_at

    @property
    def boot_id(self) -> str:
        return f"boot {self.boots}"

    @property
    def homes(self) -> list[str]:
        return [self.web.home(number) for number in range(self.web.spec.sites)]

    def data_dir(self, crawler: int) -> Path:
        return self.root / ("data" if self.plan.terms.shared_dir else f"data-{crawler}")

    @property
    def data_dirs(self) -> list[Path]:
        return sorted({self.data_dir(crawler) for crawler in range(self.plan.terms.crawlers)})

    def tell(self, what: str) -> None:
        self.events.append(f"{self.now():10.3f}  {what}")

    def due(self, crawler: int, step: str) -> Fault | None:
        """A crawler has come to a step: what is to happen to it there."""
        self._steps[crawler, step] += 1
        return self._due.pop((crawler, step, self._steps[crawler, step]), None)

    def robots_out(self, host: str) -> bool:
        """Is the robots.txt of this host out of order now?"""
        site = self.web.site_at(host)
        is_out = site is not None and any(
            it.at_s <= self.now() < it.at_s + it.lasts_s
            for it in self.plan.faults
            if it.kind is Kind.ROBOTS_OUT and it.site % self.web.spec.sites == site.index
        )
        if is_out:
            self.happened[Kind.ROBOTS_OUT] += 1
            self.tell(f"robots.txt of {host} is out of order")
        return is_out

    async def set_clocks(self) -> None:
        """Do what the plan has for the wall clock."""
        jumps = [it for it in self.plan.faults if it.kind is Kind.WALL_JUMP]
        for jump in sorted(jumps, key=lambda it: it.at_s):
            await asyncio.sleep(max(0.0, jump.at_s - self.now()))
            self.wall_wrong_s += jump.amount_s
            self.happened[jump.kind] += 1
            self.tell(f"the wall clock is set by {jump.amount_s:+.0f} s")

    def reboot(self, fault: Fault) -> None:
        """The power is gone. Call it when all processes are dead."""
        self.platter.lose_power(self.chance)
        self.has_power.clear()
        self.loop.call_later(fault.lasts_s, self._boot, fault.amount_s, context=OUTSIDE)

    def _boot(self, wrong_s: float) -> None:
        self.boots += 1
        self.booted_at = self.now()
        self.wall_wrong_s += wrong_s
        self.seen.append(Booted(self.now()))
        self.tell(f"the machine is up again, its wall clock wrong by {self.wall_wrong_s:+.0f} s")
        self.has_power.set()
