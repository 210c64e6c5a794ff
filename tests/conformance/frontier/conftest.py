from functools import partial

import pytest

from mannerly.frontier.conformance.engine import MakeEngine
from mannerly.frontier.conformance.fixtures import *  # noqa: F403
from tests.conformance.frontier import engines


@pytest.fixture(params=engines.NAMES)
def make_engine(request: pytest.FixtureRequest) -> MakeEngine:
    return partial(engines.make, request.param)


@pytest.fixture
def opener() -> str:
    return engines.OPENER
