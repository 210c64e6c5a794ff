"""Processes take turns: nobody sees a lock error, nobody starves."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mannerly.errors import FrontierError
from mannerly.frontier.sqlite.turn import Turn

HAMMER = """
import asyncio, random, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.unit.frontier.sqlite_opening import url
from mannerly.clock import SystemClock, ThreadExecutor
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit

async def main(path, name):
    executor = ThreadExecutor("frontier")
    frontier = SqliteFrontier(
        path, clock=SystemClock(), executor=executor, random=random.SystemRandom()
    )
    async with frontier:
        # SQLite itself is not to wait: whoever has the turn never meets a lock.
        frontier._database._connection.execute("PRAGMA busy_timeout = 0")
        writer = await frontier.enlist(str(name))
        for turn in range(40):
            numbers = range(name * 10**6 + turn * 50, name * 10**6 + turn * 50 + 50)
            await frontier.add([url(f"s{n % 50}.example", n) for n in numbers])
            await frontier.lease(writer, 3, ttl_s=0.001, urls_per_site=1)
            await frontier.commit(writer, Commit(turn + 1))
            await frontier.stats()
        # Opening and closing is where SQLite locks the whole file.
        for _ in range(5):
            other = SqliteFrontier(
                path, clock=SystemClock(), executor=executor, random=random.SystemRandom()
            )
            async with other:
                await other.stats()
    executor.close()

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[3])))
"""


def test_four_processes_hammering_one_file_see_no_error(tmp_path: Path) -> None:
    """All of them also race to make the file."""
    path = tmp_path / "frontier.db"
    here = str(Path(__file__).parent)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HAMMER, str(path), here, str(number)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert errors == [""] * 4
    assert [process.returncode for process in processes] == [0] * 4


def test_a_greedy_writer_does_not_starve_others(tmp_path: Path) -> None:
    """One that takes turn after turn gives way to whoever is next."""
    greedy, patient = Turn(tmp_path / "x.db"), Turn(tmp_path / "x.db")
    turns = 0
    started, stop = threading.Event(), threading.Event()

    def grab() -> None:
        nonlocal turns
        while not stop.is_set():
            with greedy.taken():
                turns += 1
                started.set()
                stop.wait(0.003)  # the work of a short transaction

    thread = threading.Thread(target=grab)
    thread.start()
    waited = []
    try:
        assert started.wait(10)
        for _ in range(20):
            before = turns
            with patient.taken():
                waited.append(turns - before)
    finally:
        stop.set()
        thread.join()
    greedy.close()
    patient.close()
    assert sorted(waited)[10] <= 2, waited
    assert max(waited) <= 20, waited


def test_waiting_ends_with_a_message(tmp_path: Path) -> None:
    holder = Turn(tmp_path / "x.db")
    waiting = Turn(tmp_path / "x.db", patience_s=0.05)
    message = "look for one that was stopped"
    with holder.taken(), pytest.raises(FrontierError, match=message), waiting.taken():
        pass
    with waiting.taken():
        pass
    holder.close()
    waiting.close()
