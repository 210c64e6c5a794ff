"""The frontier's clock as a process keeps it: read, vouched for, mended. See
`mannerly.frontier.server_clock`."""

from typing import Any, NamedTuple

import psycopg

from mannerly.clock import Clock
from mannerly.frontier.leases import duration_ms
from mannerly.frontier.postgres import statements
from mannerly.frontier.server_clock import (
    Instant,
    Lead,
    Reading,
    instant,
    judged,
    lead_of,
    opened,
)

Connection = psycopg.Connection[Any]

VOUCH_EVERY_S = 1.0


class Asked(NamedTuple):
    """A question for the time that was sent and not answered yet."""

    asked_at: float
    answer: "psycopg.Cursor[Any]"


class CrawlClock:
    """Lives as long as its process has the crawl open, over any number of connections."""

    def __init__(self, clock: Clock) -> None:
        self._own = clock
        self._lead: Lead | None = None
        self._jumped = False
        self._vouched_at: float | None = None
        self._rests_until = 0.0
        """On our own clock: this process leases nothing before."""
        self._last: Instant | None = None

    def open(self, connection: Connection) -> None:
        """Go on with the crawl's clock. With a lead of our own there is nothing to find out."""
        if self._lead is not None:
            return
        with connection.transaction():
            asked_at = self._own.now()
            row = connection.execute(statements.OPENING).fetchone()
            assert row is not None
            server_ms, offset_ms, last_at, delay_s = row
            reading = Reading(asked_at, self._own.now(), server_ms, offset_ms)
            opening = opened(reading, last_at)
            if opening.offset_ms != offset_ms:
                connection.execute(statements.SET_OFFSET, (opening.offset_ms,))
        if opening.rests and delay_s is not None:
            # A millisecond more for what rounding may have taken.
            self._rests_until = reading.answered_at + float(delay_s) + 0.001
        self._lead = lead_of(reading._replace(offset_ms=opening.offset_ms))

    def now(self) -> float:
        """Our own clock."""
        return self._own.now()

    def rest_ms(self) -> int:
        """For how long this process leases nothing yet."""
        return duration_ms(self._rests_until - self._own.now())

    def read(self, asked: Asked) -> Instant:
        """Now, from the answer to `MOMENT`. Call it as soon as the answer is there."""
        row = asked.answer.fetchone()
        assert row is not None
        assert self._lead is not None
        reading = Reading(asked.asked_at, self._own.now(), *row)
        self._lead, jump_ms = judged(self._lead, reading)
        self._jumped = jump_ms != 0
        self._last = instant(self._lead, reading, jump_ms)
        return self._last

    def look_after(self, connection: Connection) -> None:
        """Between two transactions: mend a clock that jumped, else vouch for it now and then."""
        if self._jumped:
            self._mend(connection)
        now_at = self._own.now()
        due = self._vouched_at is None or now_at - self._vouched_at >= VOUCH_EVERY_S
        if self._last is not None and due and now_at >= self._rests_until:
            self._vouched_at = now_at
            at, self._last = self._last.at, None
            connection.execute(statements.VOUCH, (at, at - 500), prepare=True)

    def _mend(self, connection: Connection) -> None:
        """Undo the jump, unless another process was quicker."""
        assert self._lead is not None
        with connection.transaction():
            asked_at = self._own.now()
            row = connection.execute(statements.LOCKED_MOMENT).fetchone()
            assert row is not None
            reading = Reading(asked_at, self._own.now(), *row)
            self._lead, jump_ms = judged(self._lead, reading)
            mended = reading._replace(offset_ms=reading.offset_ms - jump_ms)
            if jump_ms:
                connection.execute(statements.SET_OFFSET, (mended.offset_ms,))
        self._lead, _ = judged(self._lead, mended)
        self._jumped = False
