"""What is seldom called: enlist, retire, exclude, forget."""

import random
from collections.abc import Sequence

from mannerly.frontier.contract import Excluded, Forgotten, WriterState
from mannerly.frontier.leases import duration_ms, moved_error
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import Session

LEAVES = 100
"""Leaves of `seen` that one call of forget removes: about 5,000 URLs."""


def enlist(session: Session, label: str, chance: random.Random) -> int:
    while True:
        # Drawn again if it is taken: a process that is started anew with the same seed (in
        # simulation) draws the ids of its former life.
        writer = chance.randrange(1, 2**63)
        is_new, moved_to = session.call("enlist", writer, label)[3:]
        if moved_to:
            raise moved_error(session.where, moved_to.decode())
        if is_new:
            return writer


def writer_state(session: Session, writer: int) -> WriterState | None:
    (row,) = session.call("writer_state", writer)[3:]
    if not row:
        return None
    sequence, refused = packing.writer_row(row)
    return WriterState(sequence, frozenset(refused))


def retire(session: Session, writer: int, rest_s: float) -> int:
    back: int = session.call("retire", writer, duration_ms(rest_s))[3]
    return back


def exclude(session: Session, names: Sequence[str]) -> Excluded:
    wanted = sorted(set(names))
    if not wanted:
        return Excluded(0, 0)
    pairs: list[Part] = []
    for name in wanted:
        pairs += (packing.bucket_of(name), name)
    return Excluded(*session.call("exclude", len(wanted), *pairs)[3:])


def forget(session: Session, name: str) -> Forgotten:
    site = (packing.bucket_of(name), name)
    waiting = settled = robots = 0
    left = 1
    while left:
        gone, done, left = session.call("forget", *site, LEAVES)[3:]
        waiting, settled = waiting + gone, settled + done
    cursor: Part = "0"
    while True:
        cursor, gone = session.call("forget_robots", *site, cursor)[3:]
        robots += gone
        if cursor == b"0":
            return Forgotten(waiting, settled, robots)
