"""Real processes on one crawl, in real time: side by side, and killed."""

import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mannerly.frontier.contract import Frontier
from tests.conformance.frontier.engines import Engine, open_at
from tests.conformance.frontier.shapes import Worker, released, settled, url

PROJECT = Path(__file__).parents[3]


def start(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.frontier.crawler", *arguments],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def lines(process: "subprocess.Popen[str]") -> list[Any]:
    """Everything the process says until it ends."""
    with process:
        assert process.stdout is not None
        return [json.loads(line) for line in process.stdout]


async def test_twenty_workers_in_four_processes_share_a_hundred_sites(engine: Engine) -> None:
    rest_s = 0.03
    urls = [url(f"s{number % 100}.example", number) for number in range(500)]
    async with open_at(engine.address()) as frontier:
        await frontier.add(urls)
        processes = [start("visit", engine.address(), "5", str(rest_s)) for _ in range(4)]
        visits = [line for process in processes for line in lines(process)]
        assert [process.returncode for process in processes] == [0] * 4
        stats = await frontier.stats()
    assert not any(refused for *_, refused in visits)
    assert Counter((site, hash_) for site, hash_, *_ in visits) == Counter(it[:2] for it in urls)
    by_site = defaultdict(list)
    for site, _, begun_at, ended_at, _ in visits:
        by_site[site].append((begun_at, ended_at))
    gaps = [
        begun_at - ended_at
        for visited in by_site.values()
        for (_, ended_at), (begun_at, _) in pairwise(sorted(visited))
    ]
    assert len(gaps) == 400
    assert min(gaps) >= rest_s, "a site was leased while leased, or before its rest was over"
    assert (stats.urls_pending, stats.sites_waiting, stats.leases) == (0, 0, 500)


@pytest.mark.parametrize("seed", [1, 2])
async def test_killed_in_the_middle_of_anything_nothing_is_lost_or_done_twice(
    engine: Engine, seed: int
) -> None:
    chance = random.Random(seed)
    accepted: set[tuple[str, int]] = set()
    offered: set[tuple[str, int]] = set()
    done: Counter[tuple[str, int]] = Counter()
    for run in range(4):
        process = start("churn", engine.address(), str(run))
        said = _kill_after(process, chance.randrange(2, 60))
        writer = said[0][1]
        async with open_at(engine.address()) as frontier:
            state = await frontier.writer_state(writer)
            assert state is not None
            assert state.refused == frozenset()
            for kind, *what in said:
                match kind, what:
                    case "adding", [named]:
                        offered |= {(site, hash_) for site, hash_ in named}
                    case "added", [named]:
                        accepted |= {(site, hash_) for site, hash_ in named}
                    case "committing", [sequence, named] if sequence <= state.sequence:
                        done.update((site, hash_) for site, hash_ in named)
                    case "committed", [sequence]:
                        assert sequence <= state.sequence, "a commit that returned was lost"
            await frontier.retire(writer, 0)
            stats = await frontier.stats()
            assert len(accepted) <= stats.urls_known <= len(offered)
            assert sum(stats.settled.values()) == done.total()
    async with open_at(engine.address()) as frontier:
        done.update(await _drain(frontier))
        stats = await frontier.stats()
    assert set(done.values()) == {1}, "settled twice"
    assert accepted <= done.keys() <= offered
    assert stats.urls_known == len(done)
    assert stats.urls_pending == 0


def _kill_after(process: "subprocess.Popen[str]", count: int) -> list[Any]:
    """Read so many lines, kill, and read what was said in the meantime."""
    with process:
        assert process.stdout is not None
        said = [json.loads(process.stdout.readline()) for _ in range(count)]
        process.kill()
        said += [json.loads(line) for line in process.stdout]
    assert process.returncode < 0
    return said


async def _drain(frontier: Frontier) -> list[tuple[str, int]]:
    worker = await Worker.enlist(frontier)
    drained = []
    while leases := await worker.lease(urls=1000):
        for lease in leases:
            parts = [settled(lease, index) for index in range(len(lease.urls))]
            drained += [(lease.site, queued.hash) for queued in lease.urls]
            assert await worker.commit(*parts, released(lease, 0)) == frozenset()
    return drained
