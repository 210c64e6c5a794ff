from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mannerly.frontier.contract import Frontier
from tests.conformance.frontier import engines
from tests.conformance.frontier.engines import Engine
from tests.conformance.frontier.shapes import Worker


@pytest.fixture(params=engines.NAMES)
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def engine(engine_name: str, tmp_path: Path) -> Engine:
    return engines.make(engine_name, tmp_path)


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
