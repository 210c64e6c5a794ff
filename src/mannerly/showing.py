"""Progress while a crawl runs: now and then a look at it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mannerly.observe.pace import Pace
from mannerly.observe.progress import View
from mannerly.observe.snapshot import Source


@asynccontextmanager
async def shown(view: View, source: Source) -> AsyncIterator[None]:
    """Show progress while the body runs."""
    with view:
        task = asyncio.create_task(_show(view, source), name="progress")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()


async def _show(view: View, source: Source) -> None:
    pace = Pace()
    while view.interval_s:
        view.show(pace.read(source()))
        await asyncio.sleep(view.interval_s)
