"""What a beat is answered: limits of a crawl that several processes hold together. Pure decisions.

The engines keep a row for each crawler and lock them while one is answered, so that no two are
given the same pages.
"""

from collections.abc import Iterable
from typing import NamedTuple

from mannerly.frontier.contract import Beat, Pulse
from mannerly.frontier.leases import duration_ms

LAPSE_MS = 60_000
"""Who was not heard of for so long does not count any more: neither what it may still fetch, nor
as somebody who is crawling."""
FORGET_MS = 24 * 3600 * 1000
"""After this its row goes, when somebody new begins."""


class Row(NamedTuple):
    """A crawler as the engines keep it. Instants and durations in milliseconds."""

    writer: int
    began_at: int
    run_at: int
    seen_at: int
    pages: int
    rate: float
    in_flight: int
    page_limit: int
    time_limit: int
    reserved: int


def answered(
    writer: int, beat: Beat, rows: Iterable[Row], fetched: int, now_at: int
) -> tuple[Row, Pulse]:
    """The crawler's new row and the answer. `rows` are all there are, `fetched` the pages of the
    crawl. The shortest limit that any of them has holds for all."""
    mine = None
    others = []
    for row in rows:
        if row.writer == writer:
            mine = row
        elif row.seen_at > now_at - LAPSE_MS:
            others.append(row)
    run_at = mine.run_at if mine else min((row.run_at for row in others), default=now_at)
    page_limit = _least(beat.page_limit, *(row.page_limit for row in others))
    time_limit = _least(duration_ms(beat.time_limit_s), *(row.time_limit for row in others))
    granted = 0
    if page_limit:
        spoken_for = fetched + beat.reserved + sum(row.reserved for row in others)
        granted = max(0, min(beat.more, page_limit - spoken_for))
    row = Row(
        writer=writer,
        began_at=mine.began_at if mine else now_at,
        run_at=run_at,
        seen_at=now_at,
        pages=beat.pages,
        rate=beat.rate,
        in_flight=beat.in_flight,
        page_limit=page_limit,
        time_limit=time_limit,
        reserved=beat.reserved + granted,
    )
    running_s = max(0, now_at - run_at) / 1000
    return row, Pulse(running_s, fetched, granted, page_limit, time_limit / 1000)


def _least(*limits: int) -> int:
    """The smallest that is one."""
    return min((limit for limit in limits if limit), default=0)
