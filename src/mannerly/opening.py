"""A crawl's frontier, for whoever looks at a crawl or changes it from outside."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import Config
from mannerly.errors import NoCrawlError
from mannerly.frontier.contract import Frontier
from mannerly.joining import place_text, require_here


@asynccontextmanager
async def existing_crawl(config: Config) -> AsyncIterator[tuple[Frontier, dict[str, str]]]:
    """The open frontier and its settings; `NoCrawlError` if there is none, `CrawlMovedError` if it
    went elsewhere. May be used while the crawl runs."""
    missing = NoCrawlError(
        f"there is no crawl in {place_text(config)}; name its directory with --data-dir, or its "
        "database with --db-url"
    )
    path = assemble.frontier_path(config)
    if path is not None and not path.exists():
        raise missing
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
    async with assemble.make_frontier(config, world) as frontier:
        settings = await frontier.settings()
        if settings is None:
            raise missing
        require_here(config, settings)
        yield frontier, settings
