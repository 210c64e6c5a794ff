"""Commit: what one checkpoint tells the frontier, grouped by lease, in one call. In a Cluster: in
one that says what it is about, and then one to each node, all at the same time."""

import struct
from dataclasses import dataclass, field

from mannerly.frontier.contract import Committed
from mannerly.frontier.leases import duration_ms, require_final
from mannerly.frontier.redis import concluding, packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import Session
from mannerly.model import Caps, Commit

# As in functions/70_commit.lua.
_SETTLED = struct.Struct(">dqB")
_DEFERRED = struct.Struct(">dhH")
_RELEASED = struct.Struct(">ddIB")

MOST_TRIES = 2**16 - 1

BEGUN, CONCLUDED = 1, 2
"""Answers of `intend` to a number that it knows; functions/72_commit_in_parts.lua."""


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


Leases = dict[tuple[int, int], _Said]
"""By handle and token."""


def commit(session: Session, caps: Caps, writer: int, commit: Commit) -> Committed:
    require_final(commit.settled)
    said = _by_lease(commit)
    head = (caps.pending, caps.spilt, caps.pages, writer, commit.sequence)
    if session.is_spread:
        return _by_bucket(session, head, said)
    (refused,) = session.call("commit", *head, *_arguments(said))[3:]
    return Committed(frozenset(packing.numbers(refused)))


def _by_bucket(session: Session, head: tuple[int, ...], said: Leases) -> Committed:
    *_, writer, sequence = head
    buckets: dict[int, Leases] = {}
    for (handle, token), parts in said.items():
        buckets.setdefault(handle % packing.BUCKETS, {})[handle, token] = parts
    tokens = {
        bucket: b"".join([packing.number(token) for _, token in leases])
        for bucket, leases in buckets.items()
    }
    state, found = session.call("intend", writer, sequence, concluding.intent(tokens))[3:]
    if state == CONCLUDED:
        return Committed(frozenset(packing.numbers(found)))
    if state == BEGUN:
        # What it is about was said before, and counts: a repeat is known by its number alone.
        meant = dict(concluding.meant(found))
        buckets = {bucket: leases for bucket, leases in buckets.items() if bucket in meant}
        if meant.keys() != buckets.keys():
            return Committed(frozenset(concluding.concluded(session, writer, sequence, found)))
    batch = [
        (group, [*head, *(it for bucket in group for it in _arguments(buckets[bucket]))])
        for group in session.groups(list(buckets))
    ]
    refused = b"".join([answer[3] for answer in session.calls("commit_parts", batch)])
    return Committed(frozenset(packing.numbers(refused)))


def _arguments(said: Leases) -> list[Part]:
    arguments: list[Part] = [len(said)]
    for (handle, token), parts in said.items():
        arguments += (handle, packing.number(token), *parts.arguments())
    return arguments


def _by_lease(commit: Commit) -> Leases:
    said: Leases = {}
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
