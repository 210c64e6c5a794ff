"""Lease and claim: the server picks, stamps and answers in one call.

In a Cluster each node picks from its own buckets. So that sites come longest ready first over all
of them, the nodes are asked first for the times of the sites that they would give (`ready_times`),
where few are wanted. Where many are, each node is asked for its share by the number of its buckets:
sites are spread evenly, so the order is nearly the same, and nobody looks at each of them twice. A
node that is away is left out, and what it has is not waited for.
"""

import random
from collections import Counter
from dataclasses import dataclass, field
from heapq import nsmallest

from mannerly.errors import FrontierError
from mannerly.frontier.contract import Leased
from mannerly.frontier.leases import duration_ms, tokens
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import NOW, Answer, Batch, Covered, Session
from mannerly.model import Caps, Lease, RobotsRecord

FEW = 32
"""So many sites are leased strictly in order."""
ROUNDS = 5
"""How often nodes are asked for more before what they gave is enough."""
AWAY_MS = 1000
"""When a node that is away is asked again."""

Shares = list[tuple[Covered, int]]
"""How many sites of which buckets."""


def lease(
    session: Session,
    caps: Caps,
    chance: random.Random,
    writer: int,
    want: int,
    *,
    ttl_s: float,
    urls_per_site: int,
    leased_at: float,
) -> Leased:
    rest_ms = session.clock.rest_ms()
    wanted = 0 if rest_ms else max(0, want)
    terms = (max(1, duration_ms(ttl_s)), urls_per_site)
    asking = _Asking(session, caps, chance, writer, wanted, terms, leased_at)
    if session.is_spread:
        asking.ask_nodes()
    else:
        asking.ask([((), wanted)])
    return asking.leased(rest_ms)


@dataclass(slots=True)
class _Asking:
    """One lease, from any number of servers."""

    session: Session
    caps: Caps
    chance: random.Random
    writer: int
    left: int
    """So many sites are still wanted."""
    terms: tuple[int, int]
    """For how many milliseconds, and how many URLs of each."""
    leased_at: float
    leases: list[Lease] = field(default_factory=list)
    nodes: list[Covered] = field(default_factory=list)
    """Those that may have more."""
    waits_ms: dict[int, int] = field(default_factory=dict)
    """When the next site with work is ready; by the first of a node's buckets."""
    away: FrontierError | None = None

    def ask_nodes(self) -> None:
        self.nodes = [*self.session.groups()]
        for _ in range(ROUNDS):
            shares = self._in_order() if self.left <= FEW else self._even()
            if shares:
                self.ask(shares)
            if not self.left or not shares:
                return

    def _in_order(self) -> Shares:
        """The sites that have been ready longest: how many of them each node has."""
        nodes = self.nodes
        ready: list[tuple[int, int]] = []
        asked = [(covers, (self.writer, self.left)) for covers in nodes]
        for number, answer in enumerate(self._answers("ready_times", asked)):
            if answer is not None:
                ready += [(int(ready_at), number) for ready_at in answer[4]]
        first = Counter(number for _, number in nsmallest(self.left, ready))
        return [(nodes[number], share) for number, share in first.items()]

    def _even(self) -> Shares:
        shares, left = [], self.left
        buckets = sum(map(len, self.nodes))
        for covers in self.nodes:
            share = left * len(covers) // buckets
            left, buckets = left - share, buckets - len(covers)
            shares.append((covers, share))
        return [(covers, share) for covers, share in shares if share]

    def ask(self, shares: Shares) -> None:
        """Lease."""
        caps = self.caps
        head = (caps.pending, caps.spilt, caps.pages, self.writer)
        drawn = [tokens(self.chance, share) for _, share in shares]
        asked: list[tuple[Covered, list[Part]]] = [
            (covers, [*head, share, *self.terms, b"".join(map(packing.number, mine))])
            for (covers, share), mine in zip(shares, drawn, strict=True)
        ]
        answers = self._answers("lease", asked)
        for (covers, share), mine, answer in zip(shares, drawn, answers, strict=True):
            found = self._leases(mine, answer) if answer is not None else []
            self.leases += found
            self.left -= len(found)
            if len(found) < share and covers in self.nodes:
                self.nodes.remove(covers)

    def _answers(self, function: str, asked: Batch) -> list[Answer | None]:
        """None of a server that is away."""
        answers: list[Answer | None] = []
        for (covers, _), answer in zip(asked, self.session.tried(function, asked), strict=True):
            if isinstance(answer, FrontierError):
                self.away = answer
                self.nodes = [it for it in self.nodes if it != covers]
                answers.append(None)
                continue
            answers.append(answer)
            node = covers[0] if covers else 0
            self.waits_ms.pop(node, None)
            if answer[3]:
                self.waits_ms[node] = max(0, int(answer[3]) - int(answer[NOW]))
        return answers

    def _leases(self, drawn: list[int], answer: Answer) -> list[Lease]:
        now_at = int(answer[NOW])
        return [
            Lease(
                name.decode(),
                int(handle),
                token,
                packing.queued_urls(rows),
                _records(robots, now_at),
                failures,
                self.leased_at,
            )
            for token, (handle, name, failures, rows, robots) in zip(drawn, answer[4], strict=False)
        ]

    def leased(self, rest_ms: int) -> Leased:
        """Nobody may take a node that is away for one that has no work."""
        if self.away is not None and not self.leases:
            raise self.away
        waits = [*self.waits_ms.values(), *([AWAY_MS] if self.away else [])]
        return Leased(self.leases, max(min(waits), rest_ms) / 1000 if waits else None)


def _records(rows: list[bytes], now_at: int) -> list[RobotsRecord]:
    return [
        packing.robots_record(origin.decode(), packed, now_at)
        for origin, packed in zip(rows[::2], rows[1::2], strict=True)
    ]


def claim(
    session: Session,
    chance: random.Random,
    writer: int,
    name: str,
    *,
    ttl_s: float,
    leased_at: float,
) -> Lease | None:
    (token,) = tokens(chance, 1)
    may = int(session.clock.rest_ms() == 0)
    bucket = packing.bucket_of(name)
    handle, failures = session.at(
        bucket,
        "claim",
        *(bucket, name, writer, max(1, duration_ms(ttl_s))),
        packing.number(token),
        may,
    )[3:]
    return Lease(name, int(handle), token, [], [], failures, leased_at) if handle else None
