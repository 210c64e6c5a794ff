"""The fixtures of the suite. A conftest imports them all, and gives two of its own:

make_engine   a `MakeEngine`
opener        the name of an `Opener`, "package.module:function"
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from mannerly.frontier.conformance import TOPICS
from mannerly.frontier.conformance.engine import Engine, MakeEngine
from mannerly.frontier.contract import Frontier

# Before any of them is imported, so that a failing assert shows its values.
pytest.register_assert_rewrite(
    *(f"mannerly.frontier.conformance.{name}" for name in (*TOPICS, "model", "shapes", "visits"))
)

from mannerly.frontier.conformance.shapes import Worker  # noqa: E402 - see above

__all__ = ["engine", "frontier", "other", "worker"]


@pytest.fixture
def engine(make_engine: MakeEngine, tmp_path: Path) -> Iterator[Engine]:
    made = make_engine(tmp_path)
    yield made
    made.close()


@pytest.fixture
async def frontier(engine: Engine) -> AsyncIterator[Frontier]:
    """One handle on the crawl."""
    async with engine.open() as frontier:
        yield frontier


@pytest.fixture
async def worker(frontier: Frontier) -> Worker:
    return await Worker.enlist(frontier)


@pytest.fixture
async def other(engine: Engine) -> AsyncIterator[Worker]:
    """A worker of another process."""
    async with engine.open() as frontier:
        yield await Worker.enlist(frontier, "another worker")
