"""What is seldom called: enlist, retire, exclude, forget."""

import random
from collections.abc import Sequence

from mannerly.frontier.contract import Excluded, Forgotten, WriterState
from mannerly.frontier.leases import duration_ms, moved_error
from mannerly.frontier.redis import concluding, packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.session import Covered, Session

LEAVES = 100
"""Leaves of `seen` that one call of forget removes: about 5,000 URLs."""


def enlist(session: Session, label: str, chance: random.Random) -> int:
    while True:
        # Drawn again if it is taken: a process that is started anew with the same seed (in
        # simulation) draws the ids of its former life.
        writer = chance.randrange(1, 2**63)
        if session.is_spread:
            # First where it will lease: a crawl that is handed over meanwhile takes nobody.
            session.each("enlist", writer, label)
        is_new, moved_to = session.call("enlist", writer, label)[3:]
        if moved_to:
            raise moved_error(session.where, moved_to.decode())
        if is_new:
            return writer


def writer_state(session: Session, writer: int) -> WriterState | None:
    row, intent = session.call("writer_state", writer)[3:]
    if not row:
        return None
    sequence, refused = packing.writer_row(row)
    if intent:
        refused = concluding.concluded(session, writer, sequence, intent)
    if session.is_spread:
        last, found = concluding.last_in_buckets(session, writer)
        sequence, refused = (last, found) if last > sequence else (sequence, refused)
    return WriterState(sequence, frozenset(refused))


def retire(session: Session, writer: int, rest_s: float) -> int:
    back = 0
    for answer in session.crawl_first("retire", writer, duration_ms(rest_s)):
        is_known, sites = answer[3:]
        if not is_known:
            return 0
        back += sites
    return back


def exclude(session: Session, names: Sequence[str]) -> Excluded:
    wanted: dict[int, list[str]] = {}
    for name in sorted(set(names)):
        wanted.setdefault(packing.bucket_of(name), []).append(name)
    batch: list[tuple[Covered, list[Part]]] = []
    for group in session.groups(list(wanted)) if wanted else ():
        pairs: list[Part] = []
        for bucket in group:
            for name in wanted[bucket]:
                pairs += (bucket, name)
        batch.append((group, [len(pairs) // 2, *pairs]))
    excluded = [answer[3:] for answer in session.calls("exclude", batch)]
    return Excluded(*map(sum, zip((0, 0), *excluded, strict=True)))


def forget(session: Session, name: str) -> Forgotten:
    site = (packing.bucket_of(name), name)
    waiting = settled = robots = 0
    left = 1
    while left:
        gone, done, left = session.at(site[0], "forget", *site, LEAVES)[3:]
        waiting, settled = waiting + gone, settled + done
    cursor: Part = "0"
    while True:
        cursor, gone = session.at(site[0], "forget_robots", *site, cursor)[3:]
        robots += gone
        if cursor == b"0":
            return Forgotten(waiting, settled, robots)
