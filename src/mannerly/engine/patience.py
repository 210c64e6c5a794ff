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
LONGEST_PAUSE_S = 10.0


class Patience:
    """Tries a step until it works, telling once why it does not and once when it does again."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._told = False

    async def until_done(self, step: Callable[[], Awaitable[T]]) -> T:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                done = await step()
            except (FrontierError, StoreError) as exc:
                if not self._told:
                    self._told = True
                    log.error("the crawl is paused: %s", exc)  # noqa: TRY400 - one line, no trace
                self._tally.trouble = str(exc)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                if self._told:
                    self._told = False
                    self._tally.trouble = ""
                    log.info("the crawl goes on")
                return done
