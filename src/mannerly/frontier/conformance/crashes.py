"""A crawl's loop is killed after each of its steps; what follows finds exactly what was done."""

from collections import Counter

import pytest

from mannerly.frontier.conformance.crawler import LINKS, SEEDS, STEPS
from mannerly.frontier.conformance.engine import Engine, opener_named
from mannerly.frontier.conformance.shapes import drained
from mannerly.frontier.conformance.visits import hear_out, start
from mannerly.frontier.contract import WriterState


@pytest.mark.parametrize("last", STEPS)
async def test_killed_after_a_step(engine: Engine, opener: str, last: str) -> None:
    process = start(opener, "steps", engine.address(), last)
    ((_, writer),) = hear_out(process)
    assert process.returncode < 0
    came = STEPS.index(last)
    urls = {it[:2] for it in (SEEDS if came >= 1 else []) + (LINKS if came >= 3 else [])}
    settled = 2 if came >= 4 else 0
    async with opener_named(opener)(engine.address()) as frontier:
        stats = await frontier.stats()
        assert (stats.urls_known, stats.urls_pending) == (len(urls), len(urls) - settled)
        assert (stats.leases, stats.fetched, stats.writers) == (2 * (came >= 2), settled, 1)
        assert await frontier.writer_state(writer) == WriterState(max(0, came - 3), frozenset())
        await frontier.retire(writer, 0)
        done = Counter(await drained(frontier))
        stats = await frontier.stats()
    assert set(done.values()) <= {1}
    assert len(done) == len(urls) - settled, "nothing was lost, nothing comes again"
    assert set(done) <= urls
    assert (stats.urls_pending, stats.fetched) == (0, len(urls))
