"""A crawler without a web, as a process of its own.

    OPENER visit ADDRESS WORKERS REST_S   some workers, each with a handle, visit until all is done
    OPENER crowd ADDRESS TASKS REST_S     one handle; so many tasks each hold a site for a while
    OPENER churn ADDRESS NAME             add, lease and commit for ever, saying so before and after
    OPENER steps ADDRESS LAST             one turn of a crawl's loop; killed by itself after a step

Each line on standard output is one JSON list. They are written at once, so that whoever kills this
process has read all it said. `crowd` starts when it is told a line, so that several start together.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from mannerly.clock import SystemClock
from mannerly.frontier.conformance.engine import Opener, opener_named
from mannerly.frontier.conformance.shapes import Worker, deferred, released, settled, url
from mannerly.frontier.contract import Frontier
from mannerly.model import Lease

TTL_S = 600.0
LOOK_AGAIN_S = 0.05
"""Others may finish before a site is ready: nobody tells, so look again soon."""
HELD_S = 0.2
"""How long a task of a crowd holds its site."""

CLOCK = SystemClock()


def say(*what: object) -> None:
    line = json.dumps(what).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


async def visit(open_at: Opener, address: str, workers: str, rest_s: str) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(int(workers)):
            group.create_task(_visit_as_one(open_at, address, float(rest_s)))


async def _visit_as_one(open_at: Opener, address: str, rest_s: float) -> None:
    async with open_at(address) as frontier:
        worker = await Worker.enlist(frontier)
        while True:
            leases, wait_s = await frontier.lease(worker.writer, 3, ttl_s=TTL_S, urls_per_site=1)
            begun_at = CLOCK.now()
            if leases:
                await asyncio.sleep(0)
                ended_at = CLOCK.now()
                await _finish(worker, [(it, begun_at, ended_at) for it in leases], rest_s)
            elif wait_s is None:
                return
            else:
                await asyncio.sleep(min(wait_s, LOOK_AGAIN_S))


async def _finish(worker: Worker, visited: list[tuple[Lease, float, float]], rest_s: float) -> None:
    """Settle and release what was visited, then say so."""
    parts = [part for it, _, _ in visited for part in (settled(it), released(it, rest_s))]
    refused = await worker.commit(*parts)
    say("visits", [(it.site, it.urls[0].hash, *at, it.token in refused) for it, *at in visited])


class Crowd:
    """Many holders of sites in one process; its one handle serves them all."""

    def __init__(self, frontier: Frontier, worker: Worker, tasks: int, rest_s: float) -> None:
        self._frontier = frontier
        self._worker = worker
        self._tasks = tasks
        self._rest_s = rest_s
        self._held = 0
        self._finished: list[tuple[Lease, float, float]] = []
        self._some_finished = asyncio.Event()
        self.most_held = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                leases, wait_s = await self._frontier.lease(
                    self._worker.writer, self._tasks - self._held, ttl_s=TTL_S, urls_per_site=1
                )
                self._held += len(leases)
                self.most_held = max(self.most_held, self._held)
                for lease in leases:
                    group.create_task(self._hold(lease))
                if wait_s is None and not self._held:
                    return
                await self._wait()
                await self._commit()

    async def _hold(self, lease: Lease) -> None:
        begun_at = CLOCK.now()
        await asyncio.sleep(HELD_S)
        self._finished.append((lease, begun_at, CLOCK.now()))
        self._some_finished.set()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(LOOK_AGAIN_S):
                await self._some_finished.wait()
        except TimeoutError:
            return

    async def _commit(self) -> None:
        finished, self._finished = self._finished, []
        self._some_finished.clear()
        if finished:
            await _finish(self._worker, finished, self._rest_s)
            self._held -= len(finished)


async def crowd(open_at: Opener, address: str, tasks: str, rest_s: str) -> None:
    async with open_at(address) as frontier:
        worker = await Worker.enlist(frontier)
        say("writer", worker.writer)
        await asyncio.to_thread(sys.stdin.readline)
        holders = Crowd(frontier, worker, int(tasks), float(rest_s))
        await holders.run()
        say("held", holders.most_held)


async def churn(open_at: Opener, address: str, name: str) -> None:
    """URLs are numbered from the name on, so that no two runs add the same ones."""
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
            leases = await worker.lease(4, urls=2, ttl_s=TTL_S)
            say("leased", [lease.site for lease in leases])
            parts = [settled(lease, 0) for lease in leases]
            later = [deferred(lease, 1) for lease in leases if len(lease.urls) > 1]
            said = [(it.site, it.urls[0].hash, it.token) for it in leases]
            say("committing", worker.sequence + 1, said)
            await worker.commit(*parts, *later, *(released(lease, 0) for lease in leases))
            say("committed", worker.sequence)


STEPS = ("enlisted", "added", "leased", "linked", "settled", "released")
SEEDS = [url("a.example", 1), url("a.example", 2), url("b.example", 1)]
LINKS = [url("a.example", 3), url("c.example", 1), url("a.example", 1)]


async def steps(open_at: Opener, address: str, last: str) -> None:
    def done(step: str) -> None:
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_at(address) as frontier:
        worker = await Worker.enlist(frontier)
        say("writer", worker.writer)
        done("enlisted")
        await frontier.add(SEEDS)
        done("added")
        leases = await worker.lease(2, ttl_s=TTL_S)
        done("leased")
        await frontier.add(LINKS)
        done("linked")
        await worker.commit(*(settled(lease) for lease in leases))
        done("settled")
        await worker.commit(*(released(lease, 0) for lease in leases))
        done("released")


DEEDS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "visit": visit,
    "crowd": crowd,
    "churn": churn,
    "steps": steps,
}


def main() -> None:
    opener, deed, *arguments = sys.argv[1:]
    asyncio.run(DEEDS[deed](opener_named(opener), *arguments))


if __name__ == "__main__":
    main()
