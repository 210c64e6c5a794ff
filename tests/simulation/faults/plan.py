"""What is to go wrong, drawn from a seed.

A fault happens at a *step*: a named border that a crawler comes to, before or after something that
others can see. A crawler's steps are counted over all its lives, so "crawler 1, `after commit`, the
third time" is one moment of a story, and the same one whenever it is told. Some faults are of the
world and happen at a time instead.
"""

import random
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

VERBS = ("lease", "add", "commit", "claim", "retire", "writer state", "enlist")
"""What is asked of the frontier."""
WAITED = (
    *(f"{when} {verb}" for verb in VERBS for when in ("before", "after")),
    "before sql", "after sql", "before request", "after answer", "before store", "after store",
)  # fmt: skip
"""Steps at which a crawler can wait."""
DISK = ("create", "append", "append half", "sync", "synced", "sync dir", "sync file", "rename",
        "remove")  # fmt: skip
"""Steps at which it is at the disk: only to be killed at, or to fail."""
STEPS = (*WAITED, *DISK)

_MEAN_NTH = {"retire": 1, "enlist": 1, "writer state": 1, "claim": 1, "sync file": 4, "rename": 4,
             "remove": 1, "create": 1, "sync dir": 5}  # fmt: skip
"""How often a step comes about, where that is not dozens of times."""


class Kind(StrEnum):
    """What goes wrong. The values are the words in which it is told."""

    CRASH = "is killed"
    PAUSE = "is stopped (SIGSTOP)"
    STOP = "is told to end (SIGTERM)"
    SLOW = "has to wait for the database"
    LOCKED = "finds the database locked"
    UNANSWERED = "gets no answer though it was done"
    DISK_FULL = "finds the disk full"
    DISK_BROKEN = "gets an input/output error from the disk"
    CUT = "loses the connection in mid-answer"
    POWER_CUT = "and all others lose power"
    ROBOTS_OUT = "cannot be asked for robots.txt"
    WALL_JUMP = "the wall clock is set"


class Fault(NamedTuple):
    kind: Kind
    crawler: int = 0
    step: str = ""
    """Where it happens; '' for what is of the world."""
    nth: int = 0
    """At which time that the crawler comes there, from 1."""
    at_s: float = 0.0
    """For what is of the world: when, from the start."""
    lasts_s: float = 0.0
    times: int = 1
    """How often in a row it fails."""
    amount_s: float = 0.0
    """By how much the wall clock is set."""
    site: int = 0
    """Whose robots.txt."""

    def told(self) -> str:
        lasts = f" for {self.lasts_s:.0f} s" if self.lasts_s else ""
        if self.kind is Kind.WALL_JUMP:
            return f"at {self.at_s:.0f} s {self.kind} by {self.amount_s:+.0f} s"
        if self.kind is Kind.ROBOTS_OUT:
            return f"at {self.at_s:.0f} s site {self.site} {self.kind}{lasts}"
        wrong = f", and the clock is wrong by {self.amount_s:+.0f} s after" if self.amount_s else ""
        often = f", {self.times} times" if self.times > 1 else ""
        return (
            f"crawler {self.crawler} {self.kind}{lasts}{often} at '{self.step}' no. {self.nth}"
            f"{wrong}"
        )


class Terms(NamedTuple):
    """What the crawl is like."""

    crawlers: int
    shared_dir: bool
    """All of them keep their pages in one data directory; else each has its own."""
    web: int
    delay_s: float
    checkpoint_s: float
    segment_bytes: int
    robots_ttl_s: float
    starts_s: tuple[float, ...]
    """When each crawler is started."""
    restarts_s: tuple[float, ...]
    """How long after its end each life is followed by the next; taken in turns."""


class Plan(NamedTuple):
    seed: int
    terms: Terms
    faults: tuple[Fault, ...]

    def without(self, place: int) -> "Plan":
        return self._replace(faults=self.faults[:place] + self.faults[place + 1 :])


WEBS = 16
"""So many webs there are: making one takes longer than crawling it."""


def draw(seed: int) -> Plan:
    """The plan of a seed."""
    chance = random.Random(f"faults {seed}")
    crawlers = chance.choice((1, 2, 2, 3, 4))
    terms = Terms(
        crawlers=crawlers,
        shared_dir=chance.random() < 0.5,
        web=chance.randrange(WEBS),
        delay_s=chance.choice((4.0, 15.0)),
        checkpoint_s=chance.choice((1.0, 3.0, 8.0)),
        segment_bytes=chance.choice((1 << 26, 1 << 26, 1 << 26, 30_000)),
        robots_ttl_s=chance.choice((86_400.0, 100.0)),
        starts_s=tuple(round(chance.uniform(0, 30), 3) if n else 0.0 for n in range(crawlers)),
        restarts_s=tuple(round(chance.choice((1, 15, 150)) * chance.random(), 3) for _ in range(5)),
    )
    kinds = chance.choices(list(_DRAWN), weights=[share for share, _ in _DRAWN.values()],
                           k=chance.randint(1, 8))  # fmt: skip
    return Plan(seed, terms, tuple(_DRAWN[kind][1](kind, chance, crawlers) for kind in kinds))


def _at_step(kind: Kind, chance: random.Random, crawlers: int, steps: tuple[str, ...]) -> Fault:
    step = chance.choice(steps)
    often = 1.0 + chance.expovariate(1 / _MEAN_NTH.get(step.removeprefix("before ").removeprefix(
        "after "), 8))  # fmt: skip
    return Fault(kind, chance.randrange(crawlers), step, int(often))


def _crash(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    return _at_step(kind, chance, crawlers, STEPS)


def _pause(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    # Of those that matter most: shorter than a lease lasts, just longer, and for hours.
    lasts_s = round(chance.choice((20, 130, 300, 4000)) * chance.uniform(0.5, 1.5), 3)
    # Between a lease and its request, above all: there it must find out that it is too late.
    steps = ("before request",) if chance.random() < 0.4 else WAITED
    return _at_step(kind, chance, crawlers, steps)._replace(lasts_s=lasts_s)


def _stop(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    return _at_step(kind, chance, crawlers, WAITED)


def _slow(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    lasts_s = round(chance.choice((2, 20, 200)) * chance.uniform(0.5, 1.5), 3)
    return _at_step(kind, chance, crawlers, WAITED[:-4])._replace(lasts_s=lasts_s)


def _locked(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    steps = WAITED[: 2 * len(VERBS) : 2]
    return _at_step(kind, chance, crawlers, steps)._replace(times=chance.choice((1, 3, 30)))


def _unanswered(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    steps = (*WAITED[1 : 2 * len(VERBS) : 2], "after sql")
    return _at_step(kind, chance, crawlers, steps)


def _disk(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    steps = tuple(step for step in DISK if step not in {"append half", "synced"})
    return _at_step(kind, chance, crawlers, steps)._replace(times=chance.choice((1, 2, 12)))


def _cut(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    return _at_step(kind, chance, crawlers, ("before request",))


def _power_cut(kind: Kind, chance: random.Random, crawlers: int) -> Fault:
    fault = _crash(kind, chance, crawlers)
    wrong_s = round(chance.choice((0, 0, 3600, -3600)) * chance.random(), 3)
    return fault._replace(lasts_s=round(chance.uniform(1, 100), 3), amount_s=wrong_s)


def _robots_out(kind: Kind, chance: random.Random, _: int) -> Fault:
    at_s = round(chance.choice((0.0, chance.uniform(0, 150))), 3)
    lasts_s = round(chance.uniform(5, 120), 3)
    return Fault(kind, at_s=at_s, lasts_s=lasts_s, site=chance.randrange(100))


def _wall_jump(kind: Kind, chance: random.Random, _: int) -> Fault:
    amount_s = round(chance.choice((-1, 1)) * chance.choice((10, 1000, 100_000)) * chance.random())
    return Fault(kind, at_s=round(chance.uniform(0, 200), 3), amount_s=amount_s)


_DRAWN: dict[Kind, tuple[float, Callable[[Kind, random.Random, int], Fault]]] = {
    Kind.CRASH: (6, _crash),
    Kind.PAUSE: (4, _pause),
    Kind.STOP: (1, _stop),
    Kind.SLOW: (2, _slow),
    Kind.LOCKED: (2, _locked),
    Kind.UNANSWERED: (3, _unanswered),
    Kind.DISK_FULL: (2, _disk),
    Kind.DISK_BROKEN: (2, _disk),
    Kind.CUT: (2, _cut),
    Kind.POWER_CUT: (2, _power_cut),
    Kind.ROBOTS_OUT: (2, _robots_out),
    Kind.WALL_JUMP: (1, _wall_jump),
}
"""How likely each kind is, and how it is drawn."""
