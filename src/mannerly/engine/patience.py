"""What to do when the disk or the database fails: pause, say so once, try again until it works."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mannerly.errors import FrontierError, StoreError
from mannerly.observe.tally import Tally

log = logging.getLogger(__name__)
T = TypeVar("T")

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 4.0
"""Who waits goes on within ten seconds of the end of the trouble, also where a server that was
tried a moment ago is not tried at once (`mannerly.frontier.reaching`)."""


class Patience:
    """Tries a step until it works, telling once why it does not and once when it does again.

    The tally is shared by all that wait in this process: what is wrong with a database is wrong for
    each of them, and told by the first and the last.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    async def until_done(self, step: Callable[[], Awaitable[T]]) -> T:
        try:
            return await step()
        except (FrontierError, StoreError) as exc:
            self._pause(exc)
        self._tally.waiting += 1
        try:
            return await self._again(step)
        finally:
            self._tally.waiting -= 1

    async def _again(self, step: Callable[[], Awaitable[T]]) -> T:
        pause_s = FIRST_PAUSE_S
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            try:
                done = await step()
            except (FrontierError, StoreError) as exc:
                self._tally.trouble = str(exc)
            else:
                if self._tally.waiting == 1:
                    self._tally.trouble = ""
                    log.info("the crawl goes on")
                return done

    def _pause(self, exc: Exception) -> None:
        if not self._tally.waiting:
            log.error("the crawl is paused: %s", exc)
        self._tally.trouble = str(exc)
