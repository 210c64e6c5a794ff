"""The server answers a beat as `mannerly.frontier.beats` does, whatever was told before."""

import random
from pathlib import Path

from mannerly.clock import SystemClock
from mannerly.frontier.beats import FORGET_MS, LAPSE_MS, Row, answered
from mannerly.frontier.contract import Beat
from mannerly.frontier.redis import TimeOuts
from mannerly.frontier.redis.library import library
from mannerly.frontier.redis.session import Session
from mannerly.timing import Timings
from tests.conformance.frontier.redis_engine import RedisEngine
from tests.services.redis import shared

BEATS = 300


async def test_any_beats_are_answered_as_decided(tmp_path: Path) -> None:
    chance = random.Random(11)
    engine = RedisEngine(tmp_path)
    rows: dict[int, Row] = {}
    now_at = 0
    async with engine.open() as frontier:
        writers: list[int] = []
        for number in range(BEATS):
            if number % 40 == 0:
                # Others may be silent for good from now on, and forgotten.
                writers = [await frontier.enlist(f"crawler {it}") for it in range(4)]
            pause_s = chance.choice([0, 1, 7.5, 30, LAPSE_MS / 1000, FORGET_MS / 1000])
            await engine.advance(pause_s)
            now_at += round(pause_s * 1000)
            writer = chance.choice(writers)
            told = Beat(
                pages=chance.randrange(100),
                rate=chance.random(),
                in_flight=chance.randrange(9),
                page_limit=chance.choice([0, 50, 100]),
                time_limit_s=chance.choice([0, 60.5, 900]),
                reserved=chance.randrange(20),
                more=chance.randrange(40),
            )
            row, pulse = answered(writer, told, rows.values(), 0, now_at)
            assert await frontier.beat(writer, told) == pulse
            if writer not in rows:
                rows = {it: at for it, at in rows.items() if at.seen_at >= now_at - FORGET_MS}
            rows[writer] = row
        assert [it[1:] for it in await frontier.crawlers()] == [
            (
                (now_at - row.began_at) / 1000,
                (now_at - row.seen_at) / 1000,
                *(row.pages, row.rate, row.in_flight),
            )
            for row in sorted(rows.values(), key=lambda it: it.began_at)
        ]


def test_no_page_is_granted_by_a_count_that_is_older_than_what_was_given_back() -> None:
    """In a Cluster pages are counted before it is decided. Here one process is slow in between."""
    session = Session(
        shared().url,
        "slow_beat",
        library=library(),
        clock=SystemClock(),
        timings=Timings(),
        time_outs=TimeOuts(),
    )
    for writer in (1, 2):
        session.call("enlist", writer, "a crawler")

    def granted(writer: int, reserved: int, more: int, fetched: int, given_back: bytes) -> int:
        told = (0, "0", 0, 10, 0, reserved, more)
        answer = session.call("beat", writer, LAPSE_MS, FORGET_MS, *told, fetched, given_back)
        found: int = answer[5]
        return found

    (before,) = session.call("times_given_back")[3:]
    assert granted(1, 0, 8, 0, before) == 8
    assert granted(1, 3, 0, 5, before) == 0  # five of them are fetched
    assert granted(2, 0, 9, 0, before) == 0, "counted before they were"
    (after,) = session.call("times_given_back")[3:]
    assert granted(2, 0, 9, 5, after) == 2
    session.close()
