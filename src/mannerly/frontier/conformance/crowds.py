"""Thousands of tasks that hold sites, in four processes with one handle each."""

import asyncio
from typing import Any

import pytest

from mannerly.frontier.conformance.engine import Engine, opener_named
from mannerly.frontier.conformance.shapes import url
from mannerly.frontier.conformance.visits import Process, hear_out, judge, reported, start, tell

PROCESSES = 4
CROWDS = [500, 5000]
REST_S = 0.05
CONNECTIONS_EACH = 3
"""What a process may have open to a server, however many tasks it has."""
SAMPLE_S = 0.05


@pytest.mark.parametrize("tasks", CROWDS)
async def test_a_crowd_in_each_of_four_processes(engine: Engine, opener: str, tasks: int) -> None:
    """No error, no site held twice, every URL once. A quarter of the sites has two."""
    sites = PROCESSES * tasks
    urls = [url(f"s{number % sites}.example", number) for number in range(sites + sites // 4)]
    async with opener_named(opener)(engine.address()) as frontier:
        await frontier.add(urls)
    crawlers = [
        start(opener, "crowd", engine.address(), str(tasks), str(REST_S)) for _ in range(PROCESSES)
    ]
    for crawler in crawlers:
        tell(crawler, "go")
    said, most_open = await _watch(engine, crawlers)
    assert [crawler.returncode for crawler in crawlers] == [0] * PROCESSES
    judge(reported(said), urls, REST_S)
    held = [what[0] for kind, *what in said if kind == "held"]
    assert max(held) == tasks
    assert most_open is None or 0 < most_open <= PROCESSES * CONNECTIONS_EACH
    async with opener_named(opener)(engine.address()) as frontier:
        stats = await frontier.stats()
    assert (stats.urls_pending, stats.fetched, stats.refused) == (0, len(urls), 0)


async def _watch(engine: Engine, crawlers: list[Process]) -> tuple[list[Any], int | None]:
    """What the crawlers said, and how many connections they had at most."""
    hearing = [asyncio.create_task(asyncio.to_thread(hear_out, it)) for it in crawlers]
    most_open: int | None = None
    pending = set(hearing)
    while pending:
        _, pending = await asyncio.wait(pending, timeout=SAMPLE_S)
        now_open = engine.connections()
        if now_open is not None:
            most_open = max(now_open, most_open or 0)
    return [line for it in hearing for line in it.result()], most_open
