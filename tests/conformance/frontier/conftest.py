import os
from functools import partial

import pytest

from mannerly.frontier.conformance.engine import MakeEngine
from mannerly.frontier.conformance.fixtures import *  # noqa: F403
from tests.conformance.frontier import engines

SLOW = ("any_sequence", "caps_on_pages", "caps_on_pending", "crashes", "crowds", "processes",
        "shares")  # fmt: skip
"""What a Cluster is spared unless WHOLE_CLUSTER is set (some four minutes): the functions are those
of a single server, and they are tried hard there."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "make_engine" not in metafunc.fixturenames:
        return
    topic = metafunc.module.__name__.rpartition("test_")[2]
    all_ = topic not in SLOW or "WHOLE_CLUSTER" in os.environ
    names = [name for name in engines.NAMES if all_ or name != "redis-cluster"]
    metafunc.parametrize("make_engine", names, indirect=True)


@pytest.fixture
def make_engine(request: pytest.FixtureRequest) -> MakeEngine:
    return partial(engines.make, request.param)


@pytest.fixture
def opener() -> str:
    return engines.OPENER
