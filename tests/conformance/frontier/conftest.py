import os
from functools import partial

import pytest

from mannerly.frontier.conformance.engine import MakeEngine
from mannerly.frontier.conformance.fixtures import *  # noqa: F403
from tests.conformance.frontier import engines

SLOW = ("any_sequence", "caps_on_pages", "caps_on_pending", "crashes", "crowds", "processes",
        "shares")  # fmt: skip
"""What some engines are spared: their functions are those of a single Redis, and are tried hard
there. WHOLE_CLUSTER=1 lets a Cluster have them, too (some four minutes more), and
REDIS_SERVER=valkey-server puts a Valkey in the place of every Redis."""

SPARED = {"valkey"} if "WHOLE_CLUSTER" in os.environ else {"redis-cluster", "valkey"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "make_engine" not in metafunc.fixturenames:
        return
    topic = metafunc.module.__name__.rpartition("test_")[2]
    names = [name for name in engines.NAMES if topic not in SLOW or name not in SPARED]
    metafunc.parametrize("make_engine", names, indirect=True)


@pytest.fixture
def make_engine(request: pytest.FixtureRequest) -> MakeEngine:
    return partial(engines.make, request.param)


@pytest.fixture
def opener() -> str:
    return engines.OPENER
