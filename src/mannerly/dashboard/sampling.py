"""A look at the run every second: the history behind the charts, and the latest state for all who
look, however many they are."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Any

from mannerly.observe.durations import Durations
from mannerly.observe.history import History
from mannerly.observe.pace import Pace
from mannerly.observe.snapshot import Snapshot, Source

EVERY_S = 1.0


class Sampler:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.history = History()
        self.latest = Snapshot()
        self._pace = Pace()
        self._reading = self._pace.read(self.latest)
        self._line = b""
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
        self._reading = self._pace.read(self.take())
        self.history.note(self.latest)
        self._line = b""
        async with self._taken:
            self._taken.notify_all()

    async def lines(self) -> AsyncIterator[bytes]:
        """The state now as a line of JSON, and then each time it is looked at, to the end."""
        while True:
            # Before the wait: what comes while a slow reader is written to is not missed.
            over = self._over
            # Made once for all who look, and not at all if nobody does.
            self._line = self._line or json.dumps(self.document()).encode() + b"\n"
            yield self._line
            if over:
                return
            async with self._taken:
                await self._taken.wait()

    def document(self) -> dict[str, Any]:
        """The snapshot with what follows from it, for the page."""
        reading, now = self._reading, self._reading.snapshot
        document = replace(now, latest=[], examples={}, durations=Durations()).document()
        for apart in ("latest", "examples", "durations"):
            del document[apart]  # they have addresses of their own, or are in the points
        points = self.history.points()
        return document | {
            "pages": now.pages,
            "verdict": asdict(reading.verdict),
            "rates": {"now": reading.now, "minute": reading.minute, "mean": reading.mean},
            "cores": reading.cores,
            "left_s": reading.left_s,
            "point": points[-1] if points else None,
        }
