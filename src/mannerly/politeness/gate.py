"""The robots gate: may this URL be requested now? A pure decision, and the cache behind it.

robots.txt belongs to an origin. What is known of it comes with the lease (the frontier keeps it) or
from this process's own cache, whichever is newer. The gate's answers:

- `Ruling`: rules are known and fresh; they decide.
- `MustFetch`: nothing fresh is known; robots.txt has to be read first, in the same visit.
- `Wait`: it was unreachable a moment ago; not before `until_at`.
- `GiveUp`: it was unreachable `max_tries` times in a row, which means no until the record is stale.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from mannerly.model import RobotsRecord, RobotsState
from mannerly.politeness.pacing import PacePolicy, back_off
from mannerly.politeness.robots import RobotsRules, parse_robots
from mannerly.quick import quick

ALLOW_ALL = parse_robots(b"", "*")


@dataclass(slots=True, frozen=True)
class KnownRobots:
    """One origin's robots.txt, parsed, on this process's clock."""

    state: RobotsState
    rules: RobotsRules
    fetched_at: float
    failures: int
    version: int
    """Of the body, as `version_of` gives it."""

    def ruling(self) -> "Ruling":
        return Ruling(self.rules, self.version, self.fetched_at)


@quick
class Ruling(NamedTuple):
    rules: RobotsRules
    version: int
    fetched_at: float


class MustFetch(NamedTuple):
    failures: int
    """How often in a row it has been unreachable so far."""


class Wait(NamedTuple):
    until_at: float


class GiveUp(NamedTuple):
    pass


Answer = Ruling | MustFetch | Wait | GiveUp


def ask(policy: PacePolicy, known: KnownRobots | None, now: float) -> Answer:
    """The decision. `known` is the newest record of the URL's origin."""
    if known is None:
        return MustFetch(0)
    stale = now - known.fetched_at >= policy.robots_ttl_s
    if known.state is not RobotsState.UNREACHABLE:
        return MustFetch(0) if stale else known.ruling()
    if known.failures >= policy.max_tries:
        return MustFetch(0) if stale else GiveUp()
    retry_at = known.fetched_at + back_off(policy, known.failures)
    return MustFetch(known.failures) if now >= retry_at else Wait(retry_at)


def version_of(body: bytes) -> int:
    """A hash that tells one robots.txt from another: signed, 64 bits. No file is an empty one."""
    digest = int(xxh3_64_intdigest(body))
    return digest - 2**64 if digest >= 2**63 else digest


class RobotsCache:
    """Parsed robots.txt of the origins visited last, bounded by the bytes they take."""

    def __init__(self, agent: str, limit_bytes: int = 64 * 1024 * 1024) -> None:
        self.agent = agent
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._known: OrderedDict[str, KnownRobots] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, records: Iterable[RobotsRecord], now: float) -> None:
        """Take over what a lease brought, where it is newer than what is known here."""
        for record in records:
            fetched_at = now - record.age_s
            known = self._known.get(record.origin)
            # Ages come from another clock, read a moment ago: a second is no news.
            if known is None or fetched_at > known.fetched_at + 1.0:
                self.put(record, fetched_at)

    def put(self, record: RobotsRecord, fetched_at: float) -> KnownRobots:
        rules = ALLOW_ALL
        if record.state is RobotsState.FOUND:
            rules = parse_robots(record.body, self.agent)
        version = version_of(record.body)
        known = KnownRobots(record.state, rules, fetched_at, record.failures, version)
        self._forget(record.origin)
        self._known[record.origin] = known
        self._bytes += _cost(record.origin, known)
        while self._bytes > self._limit_bytes and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        return known

    def get(self, origin: str) -> KnownRobots | None:
        known = self._known.get(origin)
        if known is not None:
            self._known.move_to_end(origin)
        return known

    def _forget(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        if known is not None:
            self._bytes -= _cost(origin, known)


def _cost(origin: str, known: KnownRobots) -> int:
    return 300 + len(origin) + known.rules.cost_bytes
