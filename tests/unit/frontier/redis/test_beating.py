"""The server answers a beat as `mannerly.frontier.beats` does, whatever was told before."""

import random
from pathlib import Path

from mannerly.frontier.beats import FORGET_MS, LAPSE_MS, Row, answered
from mannerly.frontier.contract import Beat
from tests.conformance.frontier.redis_engine import RedisEngine

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
