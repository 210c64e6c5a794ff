"""Commit: what one checkpoint tells the frontier, grouped by lease, in one call."""

import struct
from dataclasses import dataclass, field

from mannerly.frontier.contract import Committed
from mannerly.frontier.leases import duration_ms, require_final
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import Session
from mannerly.model import Caps, Commit

# As in functions/70_commit.lua.
_SETTLED = struct.Struct(">dqB")
_DEFERRED = struct.Struct(">dhH")
_RELEASED = struct.Struct(">ddIB")

MOST_TRIES = 2**16 - 1


@dataclass(slots=True)
class _Said:
    """What is said under one lease."""

    settled: list[bytes] = field(default_factory=list)
    deferred: list[bytes] = field(default_factory=list)
    released: bytes = b""
    robots: list[Part] = field(default_factory=list)

    def arguments(self) -> list[Part]:
        settled, deferred = b"".join(self.settled), b"".join(self.deferred)
        return [settled, deferred, self.released, len(self.robots) // 2, *self.robots]


def commit(session: Session, caps: Caps, writer: int, commit: Commit) -> Committed:
    require_final(commit.settled)
    said = _by_lease(commit)
    arguments: list[Part] = [caps.pending, caps.spilt, caps.pages]
    arguments += (writer, commit.sequence, len(said))
    for (handle, token), parts in said.items():
        arguments += (handle, packing.number(token), *parts.arguments())
    (refused,) = session.call("commit", *arguments)[3:]
    return Committed(frozenset(packing.numbers(refused)))


def _by_lease(commit: Commit) -> dict[tuple[int, int], _Said]:
    said: dict[tuple[int, int], _Said] = {}
    for handle, token, priority, seq, hash_, outcome in commit.settled:
        packed = _SETTLED.pack(packing.place(priority, seq), hash_, outcome)
        said.setdefault((handle, token), _Said()).settled.append(packed)
    for handle, token, priority, seq, new_priority, tries in commit.deferred:
        place = packing.place(priority, seq)
        packed = _DEFERRED.pack(place, new_priority, min(tries, MOST_TRIES))
        said.setdefault((handle, token), _Said()).deferred.append(packed)
    for handle, token, record in commit.robots:
        age_ms = duration_ms(record.age_s)
        packed = packing.robots(record.state, age_ms, record.failures, record.body)
        said.setdefault((handle, token), _Said()).robots += (record.origin, packed)
    for handle, token, rest_s, failures, abandoned, delay_s in commit.released:
        said.setdefault((handle, token), _Said()).released = _RELEASED.pack(
            duration_ms(rest_s), duration_ms(delay_s), failures, abandoned
        )
    return said
