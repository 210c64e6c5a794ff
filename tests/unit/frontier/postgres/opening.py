"""How these tests open a frontier."""

import random

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.postgres import PostgresFrontier, TimeOuts


def opened(url: str, schema: str, time_outs: TimeOuts | None = None) -> PostgresFrontier:
    """In real time, on the caller's thread."""
    return PostgresFrontier(
        url,
        schema=schema,
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.SystemRandom(),
        time_outs=time_outs or TimeOuts(),
    )
