"""A crawler without a web, as a process of its own: `python -m tests.conformance.frontier.crawler`.

    visit ADDRESS WORKERS REST_S   visit every site until nothing is left; print what was done
    churn ADDRESS NAME             add, lease and commit for ever, saying so before and after

Each line on standard output is one JSON list. They are written at once, so that whoever kills this
process has read all it said.
"""

import asyncio
import json
import os
import sys
from itertools import count

from mannerly.clock import SystemClock
from tests.conformance.frontier.engines import open_at
from tests.conformance.frontier.shapes import Worker, deferred, released, settled, url


def say(*what: object) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


async def visit(address: str, workers: int, rest_s: float) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(_visit_as_one(address, rest_s))


async def _visit_as_one(address: str, rest_s: float) -> None:
    clock = SystemClock()
    async with open_at(address) as frontier:
        worker = await Worker.enlist(frontier)
        while True:
            leased = await frontier.lease(worker.writer, 3, ttl_s=60, urls_per_site=1)
            begun_at = clock.now()
            if leased.leases:
                await asyncio.sleep(0)
                ended_at = clock.now()
                parts = [
                    part
                    for lease in leased.leases
                    for part in (settled(lease), released(lease, rest_s))
                ]
                refused = await worker.commit(*parts)
                for lease in leased.leases:
                    hash_ = lease.urls[0].hash
                    say(lease.site, hash_, begun_at, ended_at, lease.token in refused)
            elif leased.next_ready_in_s is None:
                return
            else:
                # Others may finish before that: nobody tells, so look again soon.
                await asyncio.sleep(min(leased.next_ready_in_s, 0.05))


async def churn(address: str, name: str) -> None:
    """URLs are numbered from a hash of the name on, so that no two runs add the same ones."""
    numbers = count(int(name) * 1_000_000 + 1)
    async with open_at(address) as frontier:
        worker = await Worker.enlist(frontier)
        say("writer", worker.writer)
        for turn in count():
            batch = [url(f"s{(turn + k) % 7}.example", next(numbers)) for k in range(6)]
            named = [(it.site, it.hash) for it in batch]
            say("adding", named)
            await frontier.add(batch)
            say("added", named)
            leases = await worker.lease(4, urls=2, ttl_s=600)
            say("leased", [lease.site for lease in leases])
            parts = [settled(lease, 0) for lease in leases]
            later = [deferred(lease, 1) for lease in leases if len(lease.urls) > 1]
            say("committing", worker.sequence + 1, [(it.site, it.urls[0].hash) for it in leases])
            await worker.commit(*parts, *later, *(released(lease, 0) for lease in leases))
            say("committed", worker.sequence)


def main() -> None:
    match sys.argv[1:]:
        case ["visit", address, workers, rest_s]:
            asyncio.run(visit(address, int(workers), float(rest_s)))
        case ["churn", address, name]:
            asyncio.run(churn(address, name))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
