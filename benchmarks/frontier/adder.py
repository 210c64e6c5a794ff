"""The other process: adds batches without pause until it is told to stop, or has no more.

    python -m benchmarks.frontier.adder ENGINE ADDRESS SITES BATCH STREAM BATCHES

Prints `ready` when its batches are made, begins at a line on standard input, and prints at the end
one JSON line: how many URLs, in how long. It stops after the batch in which its standard input is
closed.
"""

import asyncio
import json
import select
import sys
import time

from benchmarks.frontier.engines import engine_at
from benchmarks.frontier.workload import Discovery


async def run(arguments: list[str]) -> dict[str, float]:
    name, address, *numbers = arguments
    sites, batch, stream, batches = map(int, numbers)
    links = Discovery(sites, batch, stream).links()
    prepared = [next(links) for _ in range(batches)]
    async with engine_at(name, address).open() as frontier:
        print("ready", flush=True)
        sys.stdin.readline()
        added = 0
        start = time.perf_counter()
        while prepared and not _closed():
            added += (await frontier.add(prepared.pop())).new
        took_s = time.perf_counter() - start
    return {"urls": added, "batches": batches - len(prepared), "wall_s": round(took_s, 2)}


def _closed() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1:]))), flush=True)
