"""Crawlers without a web, as processes of their own: `python -m tests.services.postgres_crawler`.

    visit URL SCHEMA REST_S         visit every site until nothing is left, whatever fails meanwhile
    storm URL SCHEMA SEED ROUNDS    all verbs on few popular sites; any error ends it
    open URL SCHEMA                 open the frontier, once the standard input is closed

Each line on standard output is one JSON list.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mannerly.clock import SystemClock, ThreadExecutor
from mannerly.errors import FrontierError
from mannerly.frontier.conformance.shapes import deferred, released, settled, url
from mannerly.frontier.contract import Frontier, Kind
from mannerly.frontier.postgres import PostgresFrontier, TimeOuts
from mannerly.model import Caps, Commit, Lease, Outcome, Released

T = TypeVar("T")

QUICK = TimeOuts(connect_s=2, lock_s=5, statement_s=20, idle_s=10, answer_s=30)
TTL_S = 3.0
"""Of leases whose answer may be lost: they lapse soon."""
SMALL = Caps(pending=20, spilt=40, pages=300)


def say(*what: object) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


def frontier_at(address: str, schema: str, caps: Caps = Caps()) -> PostgresFrontier:  # noqa: B008
    return PostgresFrontier(
        address,
        schema=schema,
        clock=SystemClock(),
        executor=ThreadExecutor("frontier"),
        random=random.SystemRandom(),
        caps=caps,
        time_outs=QUICK,
    )


async def until_done(step: Callable[[], Awaitable[T]]) -> T:
    """Send it again until it works, as the crawler does."""
    while True:
        try:
            return await step()
        except FrontierError as exc:
            say("trouble", str(exc))
            await asyncio.sleep(0.05)


async def visit(frontier: Frontier, rest_s: float) -> None:
    """On any engine."""
    clock = SystemClock()
    await until_done(frontier.__aenter__)
    writer = await until_done(lambda: frontier.enlist("a visitor"))
    sequence = 0
    while True:
        leased = await until_done(lambda: frontier.lease(writer, 5, ttl_s=TTL_S, urls_per_site=2))
        if not leased.leases:
            if leased.next_ready_in_s is None:
                break
            await asyncio.sleep(min(leased.next_ready_in_s, 0.05))
            continue
        begun_at = clock.now()
        sequence += 1
        commit = Commit(sequence)
        for lease in leased.leases:
            commit.settled += [settled(lease, index) for index in range(len(lease.urls))]
            commit.released.append(released(lease, rest_s))
        ended_at = clock.now()
        refused = (await until_done(lambda: frontier.commit(writer, commit))).refused  # noqa: B023
        for lease in leased.leases:
            if lease.token not in refused:
                say("visit", lease.site, [it.hash for it in lease.urls], begun_at, ended_at)
    await frontier.__aexit__(None, None, None)


class Storm:
    """One process that does everything, on sites that all the others use too."""

    def __init__(self, frontier: PostgresFrontier, seed: int) -> None:
        self._frontier = frontier
        self._chance = random.Random(seed)
        self._writer = 0
        self._sequence = 0

    async def blow(self, rounds: int) -> None:
        self._writer = await self._frontier.enlist("a storm")
        for turn in range(rounds):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._add())
                group.create_task(self._visit())
            if turn % 7 == 0:
                await self._look()
            if turn % 10 == 9:
                await self._frontier.retire(self._writer, 0)
                self._writer, self._sequence = await self._frontier.enlist("a storm"), 0

    async def _add(self) -> None:
        batch = [
            url(f"s{self._chance.randrange(40)}.example", self._chance.randrange(3000))
            for _ in range(400)
        ]
        # Some processes have their sites in one order, some in the other.
        batch.sort(key=lambda it: it.site, reverse=self._chance.random() < 0.5)
        await self._frontier.add(batch)
        if self._chance.random() < 0.05:
            await self._frontier.exclude([f"s{self._chance.randrange(40)}.example" for _ in "123"])

    async def _visit(self) -> None:
        leased = await self._frontier.lease(self._writer, 20, ttl_s=0.05, urls_per_site=3)
        self._chance.shuffle(leased.leases)
        self._sequence += 1
        commit = Commit(self._sequence)
        for lease in leased.leases:
            self._deal_with(lease, commit)
        claimed = await self._frontier.claim(
            self._writer, f"s{self._chance.randrange(45)}.example", ttl_s=0.05
        )
        if claimed is not None:
            commit.released.append(released(claimed, 0))
        await self._frontier.commit(self._writer, commit)

    def _deal_with(self, lease: Lease, commit: Commit) -> None:
        for index in range(len(lease.urls)):
            if self._chance.random() < 0.8:
                outcome = self._chance.choice([Outcome.FETCHED, Outcome.HTTP_ERROR])
                commit.settled.append(settled(lease, index, outcome))
            else:
                commit.deferred.append(deferred(lease, index))
        if self._chance.random() < 0.9:
            abandoned = self._chance.random() < 0.003
            commit.released.append(Released(lease.handle, lease.token, 0, 0, abandoned))

    async def _look(self) -> None:
        await self._frontier.stats()
        await self._frontier.iterate(Kind.PENDING, limit=100)
        await self._frontier.iterate_sites(limit=10)
        await self._frontier.explain("s1.example", 1)


async def storm(address: str, schema: str, seed: int, rounds: int) -> None:
    async with frontier_at(address, schema, SMALL) as frontier:
        await Storm(frontier, seed).blow(rounds)


async def open_once(address: str, schema: str) -> None:
    say("ready")
    sys.stdin.read()
    async with frontier_at(address, schema) as frontier:
        say("sites", (await frontier.stats()).sites)


def main() -> None:
    match sys.argv[1:]:
        case ["visit", address, schema, rest_s]:
            asyncio.run(visit(frontier_at(address, schema), float(rest_s)))
        case ["storm", address, schema, seed, rounds]:
            asyncio.run(storm(address, schema, int(seed), int(rounds)))
        case ["open", address, schema]:
            asyncio.run(open_once(address, schema))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
