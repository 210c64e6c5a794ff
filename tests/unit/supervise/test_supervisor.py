"""When to replace a process and when to give up; with real processes that die."""

import random
import signal
import sys
from pathlib import Path

import pytest

from mannerly import assemble
from mannerly.assemble import World
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import load
from mannerly.errors import MannerlyError
from mannerly.supervise import restarts, supervisor
from mannerly.supervise.restarts import Restarts
from mannerly.supervise.supervisor import Supervisor


def test_pauses_grow_until_nothing_helps() -> None:
    deaths = Restarts()
    assert [deaths.pause_s(1.0) for _ in range(5)] == [0.5, 1.0, 2.0, 4.0, None]


def test_one_that_lived_for_a_while_begins_a_new_row() -> None:
    deaths = Restarts()
    for _ in range(20):
        assert deaths.pause_s(restarts.STEADY_S) == restarts.FIRST_PAUSE_S


async def test_processes_that_die_at_once_end_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(restarts, "FIRST_PAUSE_S", 0.01)
    config = load({"data_dir": str(tmp_path), "email": "me@example.org"}, environ={})
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
    dying = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    async with assemble.make_frontier(config, world) as frontier:
        supervising = Supervisor(config, world, frontier, command=dying)
        with pytest.raises(MannerlyError, match="died again and again, last of: signal 9"):
            await supervising.run([config, config], [1, 1])
    told = [record.message for record in caplog.records]
    assert sum("another one follows" in line for line in told) >= restarts.MOST_IN_A_ROW - 1


async def test_one_that_never_says_a_word_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(restarts, "MOST_IN_A_ROW", 1)
    monkeypatch.setattr(supervisor, "START_S", 0.1)
    monkeypatch.setattr(supervisor, "TICK_S", 0.1)
    config = load({"data_dir": str(tmp_path), "hang_timeout": "100ms"}, environ={})
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
    silent = (sys.executable, "-c", "import signal; signal.pause()")
    async with assemble.make_frontier(config, world) as frontier:
        supervising = Supervisor(config, world, frontier, command=silent)
        with pytest.raises(MannerlyError, match=f"signal {signal.SIGKILL:d}"):
            await supervising.run([config], [1])
    assert any("gave no sign of life" in record.message for record in caplog.records)
