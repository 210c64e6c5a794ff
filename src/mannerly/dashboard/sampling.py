"""A look at the run every second: the history behind the charts, and the latest state for all who
look, however many they are."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from mannerly.observe.history import History
from mannerly.observe.limits import verdict
from mannerly.observe.snapshot import Snapshot, Source

EVERY_S = 1.0
MINUTE_S = 60.0
_APART = ("latest", "examples", "durations")
"""Parts of a snapshot that have addresses of their own."""


class Sampler:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.history = History()
        self.latest = Snapshot()
        self._minute: list[tuple[float, int]] = []
        self._taken = asyncio.Condition()
        self._over = False

    def take(self) -> Snapshot:
        """As it is right now."""
        self.latest = self._source()
        return self.latest

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._sample()
            await asyncio.sleep(EVERY_S)

    async def finish(self) -> None:
        """The last state goes to all who look, and then the streams end."""
        self._over = True
        await self._sample()

    async def _sample(self) -> None:
        now = self.take()
        self.history.note(now)
        self._minute.append((now.elapsed_s, now.pages))
        while len(self._minute) > 2 and self._minute[1][0] <= now.elapsed_s - MINUTE_S:
            self._minute.pop(0)
        async with self._taken:
            self._taken.notify_all()

    async def documents(self) -> AsyncIterator[dict[str, Any]]:
        """The state now, and then each time it is looked at, to the end."""
        while True:
            # Before the wait: what comes while a slow reader is written to is not missed.
            over = self._over
            yield self.document()
            if over:
                return
            async with self._taken:
                await self._taken.wait()

    def document(self) -> dict[str, Any]:
        """The snapshot with what follows from it, for the page."""
        now = self.latest
        document = {key: value for key, value in now.document().items() if key not in _APART}
        points = self.history.points()
        document |= {
            "pages": now.pages,
            "verdict": asdict(verdict(self.history.before or now, now)),
            "rates": {
                "now": points[-1]["pages"] if points else 0.0,
                "minute": self._minute_rate(),
                "mean": now.pages / now.elapsed_s if now.elapsed_s > 0 else 0.0,
            },
            "left_s": self._left_s(),
            "point": points[-1] if points else None,
        }
        return document

    def _minute_rate(self) -> float:
        if len(self._minute) < 2:
            return 0.0
        (then, before), (now, pages) = self._minute[0], self._minute[-1]
        return (pages - before) / (now - then) if now > then else 0.0

    def _left_s(self) -> float | None:
        """Until a limit of the run is met, by the last minute's rate; None if there is none."""
        now = self.latest
        found = []
        if now.max_duration_s:
            found.append(max(0.0, now.max_duration_s - now.elapsed_s))
        rate = self._minute_rate()
        if now.max_pages and rate > 0:
            found.append(max(0.0, (now.max_pages - max(now.pages, now.counts.pages)) / rate))
        return min(found) if found else None
