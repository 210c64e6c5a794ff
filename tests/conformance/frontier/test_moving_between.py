"""A crawl goes from every engine to every other, and at last back to the first."""

from contextlib import AsyncExitStack
from pathlib import Path

from mannerly.frontier.conformance.moving import carry, half_done
from mannerly.frontier.conformance.shapes import drained
from mannerly.frontier.moving import weighed
from mannerly.frontier.rows import Part
from tests.conformance.frontier import engines

ROUTE = ("sqlite", "postgres", "redis", "redis-cluster", "postgres", "sqlite", "redis-cluster",
         "redis", "sqlite")  # fmt: skip


async def test_every_engine_to_every_other(tmp_path: Path) -> None:
    digests: list[dict[str, str]] = []
    async with AsyncExitStack() as stack:
        made = []
        for number, name in enumerate(ROUTE):
            folder = tmp_path / str(number)
            folder.mkdir()
            made.append(engines.make(name, folder))
            stack.callback(made[-1].close)
        frontier = await stack.enter_async_context(half_done(made[0]))
        for engine in made[1:]:
            there = await stack.enter_async_context(engine.open())
            await carry(frontier, there)
            frontier = there
            digests.append((await weighed(there, lambda _: None)).digests())
        # Times are on clocks of their own; all else is the same wherever the crawl has been.
        for part in (Part.PENDING, Part.SPILT, Part.SETTLED, Part.WRITERS):
            assert len({it[part] for it in digests}) == 1, part
        stats = await frontier.stats()
        await made[-1].advance(10_000)
        left = stats.urls_pending - stats.urls_abandoned + stats.urls_spilt
        assert len(await drained(frontier)) == left > 0
