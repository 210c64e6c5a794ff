"""A crawler without a web, as a process of its own, whose frontier is in Redis:

    python -m tests.services.redis_crawler URL NAME REST_S

Visits every site until nothing is left, whatever fails meanwhile. Each line on standard output is
one JSON list.
"""

import asyncio
import random
import sys

from mannerly.clock import SystemClock, ThreadExecutor
from mannerly.frontier.redis import RedisFrontier, TimeOuts
from tests.services.postgres_crawler import visit

QUICK = TimeOuts(connect_s=2, answer_s=10)


def main(url: str, name: str, rest_s: str) -> None:
    frontier = RedisFrontier(
        url,
        schema=name,
        clock=SystemClock(),
        executor=ThreadExecutor("frontier"),
        random=random.SystemRandom(),
        time_outs=QUICK,
    )
    asyncio.run(visit(frontier, float(rest_s)))


if __name__ == "__main__":
    main(*sys.argv[1:])
