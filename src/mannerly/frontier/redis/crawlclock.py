"""The frontier's clock as a process keeps it: read, vouched for, mended. How it is decided:
`mannerly.frontier.server_clock`.

Each function is told what this process's own clock says (`bounds`), judges by both clocks, and
answers with the server's, so one round trip does for a verb.
"""

from collections.abc import Callable
from typing import Any

from mannerly.clock import Clock
from mannerly.frontier.leases import duration_ms
from mannerly.frontier.server_clock import Lead, Reading, judged, lead_of, opened

VOUCH_EVERY_S = 1.0

Ask = Callable[..., Any]
"""Call a function of the library; what it answered, with the clock's three numbers in front."""


def reading_of(asked_at: float, answered_at: float, answer: list[Any]) -> Reading:
    return Reading(asked_at, answered_at, float(answer[0]), int(answer[1]))


class CrawlClock:
    """Lives as long as its process has the crawl open, over any number of connections."""

    def __init__(self, clock: Clock) -> None:
        self._own = clock
        self._lead: Lead | None = None
        self._jumped = False
        self._vouched_at: float | None = None
        self._rests_until = 0.0
        """On our own clock: this process leases nothing before."""
        self._last_at: int | None = None

    @property
    def is_open(self) -> bool:
        """The crawl's clock is known."""
        return self._lead is not None

    def now(self) -> float:
        """Our own clock."""
        return self._own.now()

    def rest_ms(self) -> int:
        """For how long this process leases nothing yet."""
        return duration_ms(self._rests_until - self._own.now())

    def bounds(self, asked_at: float) -> tuple[str, str]:
        """The frontier's clock by our own, in milliseconds: at least, at most."""
        if self._lead is None:
            return "0", "0"
        low_ms, high_ms = self._lead.low_ms, self._lead.high_ms
        return f"{low_ms + asked_at * 1000:.3f}", f"{high_ms + asked_at * 1000:.3f}"

    def open(self, ask: Ask) -> None:
        """Go on with the crawl's clock. With a lead of our own there is nothing to find out."""
        if self._lead is not None:
            return
        while True:
            asked_at = self._own.now()
            answer = ask("moment")
            reading = reading_of(asked_at, self._own.now(), answer)
            opening = opened(reading, int(answer[3]))
            if opening.offset_ms == reading.offset_ms or self._set_offset(
                ask, reading.offset_ms, opening.offset_ms
            ):
                break
        if opening.rests and answer[4]:
            # A millisecond more for what rounding may have taken.
            self._rests_until = reading.answered_at + float(answer[4]) + 0.001
        self._lead = lead_of(reading._replace(offset_ms=opening.offset_ms))

    def read(self, asked_at: float, answer: list[Any]) -> None:
        """Learn from what a function answered."""
        self._judge(asked_at, answer)
        self._last_at = int(answer[2])

    def _judge(self, asked_at: float, answer: list[Any]) -> None:
        assert self._lead is not None
        reading = reading_of(asked_at, self._own.now(), answer)
        self._lead, jump_ms = judged(self._lead, reading)
        self._jumped = jump_ms != 0

    def has_parted(self, asked_at: float, answer: list[Any]) -> bool:
        """Whether a node that has only buckets tells another time than the crawl's clock, which is
        that of the node with the crawl as a whole. Then that one is looked at, too."""
        assert self._lead is not None
        reading = reading_of(asked_at, self._own.now(), answer)
        _, jump_ms = judged(self._lead._replace(offset_ms=reading.offset_ms), reading)
        self._jumped = self._jumped or jump_ms != 0
        self._last_at = int(answer[2])
        return jump_ms != 0

    def look_after(self, ask: Ask) -> None:
        """Between two verbs: mend a clock that jumped, else vouch for it now and then."""
        if self._jumped:
            self._mend(ask)
        now_at = self._own.now()
        due = self._vouched_at is None or now_at - self._vouched_at >= VOUCH_EVERY_S
        if self._last_at is not None and due and now_at >= self._rests_until:
            self._vouched_at = now_at
            at, self._last_at = self._last_at, None
            self._judge(now_at, ask("vouch", at))

    def _mend(self, ask: Ask) -> None:
        """Undo the jump, unless another process was quicker; then it is looked at again."""
        assert self._lead is not None
        asked_at = self._own.now()
        answer = ask("moment")
        reading = reading_of(asked_at, self._own.now(), answer)
        self._lead, jump_ms = judged(self._lead, reading)
        mended = reading._replace(offset_ms=reading.offset_ms - jump_ms)
        if jump_ms and not self._set_offset(ask, reading.offset_ms, mended.offset_ms):
            return
        self._lead, _ = judged(self._lead, mended)
        self._jumped = False

    def _set_offset(self, ask: Ask, before_ms: int, offset_ms: int) -> bool:
        return bool(ask("set_offset", before_ms, offset_ms)[3])
