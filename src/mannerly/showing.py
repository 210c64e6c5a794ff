"""Progress while a crawl runs: now and then a look at the counters and at the frontier."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mannerly.clock import Clock
from mannerly.errors import FrontierError
from mannerly.frontier.contract import Frontier
from mannerly.model import FrontierStats
from mannerly.observe.progress import Progress, RateMeter, View
from mannerly.observe.tally import Tally

STATS_EVERY_S = 2.0


@asynccontextmanager
async def shown(
    view: View, tally: Tally, frontier: Frontier, clock: Clock, workers: int
) -> AsyncIterator[None]:
    """Show progress while the body runs."""
    with view:
        task = asyncio.create_task(_show(view, tally, frontier, clock, workers), name="progress")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()


async def _show(view: View, tally: Tally, frontier: Frontier, clock: Clock, workers: int) -> None:
    meter = RateMeter(tally.started_at)
    stats = FrontierStats()
    asked_at = -STATS_EVERY_S
    while True:
        now = clock.now()
        if now - asked_at >= STATS_EVERY_S:
            asked_at = now
            # The engine notices trouble and says so; here the last known numbers will do.
            with suppress(FrontierError):
                stats = await frontier.stats()
        view.show(
            Progress(
                elapsed_s=now - tally.started_at,
                rate=meter.rate(now, tally.fetched),
                mean_rate=meter.mean(now, tally.fetched),
                tally=tally,
                stats=stats,
                workers=workers,
            )
        )
        await asyncio.sleep(view.interval_s)
