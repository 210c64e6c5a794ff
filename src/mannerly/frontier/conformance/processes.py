"""Real processes on one crawl, in real time: side by side, and killed."""

import asyncio
import random
from collections import Counter

import pytest

from mannerly.frontier.conformance.engine import Engine, opener_named
from mannerly.frontier.conformance.shapes import drained, url
from mannerly.frontier.conformance.visits import (
    hear_out,
    judge,
    judge_gaps,
    kill_after,
    reported,
    start,
    tell,
)

REST_S = 0.03
SITES = 100


async def test_twenty_workers_in_four_processes_share_a_hundred_sites(
    engine: Engine, opener: str
) -> None:
    urls = [url(f"s{number % SITES}.example", number) for number in range(5 * SITES)]
    async with opener_named(opener)(engine.address()) as frontier:
        await frontier.add(urls)
        crawlers = [start(opener, "visit", engine.address(), "5", str(REST_S)) for _ in range(4)]
        said = [line for crawler in crawlers for line in hear_out(crawler)]
        assert [crawler.returncode for crawler in crawlers] == [0] * 4
        stats = await frontier.stats()
    judge(reported(said), urls, REST_S)
    assert (stats.urls_pending, stats.sites_waiting, stats.leases) == (0, 0, 5 * SITES)


async def test_one_of_four_is_killed_and_the_others_finish_its_work(
    engine: Engine, opener: str
) -> None:
    urls = [url(f"s{number % SITES}.example", number) for number in range(5 * SITES)]
    async with opener_named(opener)(engine.address()) as frontier:
        await frontier.add(urls)
        crawlers = [start(opener, "crowd", engine.address(), "20", str(REST_S)) for _ in range(4)]
        for crawler in crawlers:
            tell(crawler, "go")
        victim, *others = crawlers
        # It has enlisted and finished some: now it holds others.
        said = await asyncio.to_thread(kill_after, victim, 2)
        await frontier.retire(said[0][1], REST_S)
        survived = [line for crawler in others for line in hear_out(crawler)]
        assert [crawler.returncode for crawler in others] == [0] * 3
        stats = await frontier.stats()
    visits = reported(said + survived)
    assert not any(visit.refused for visit in visits)
    assert set(Counter((visit.site, visit.hash) for visit in visits).values()) == {1}
    judge_gaps(visits, REST_S)
    # The victim may have committed once without coming to say so.
    assert len(visits) <= stats.fetched == len(urls)
    assert len(urls) - len(visits) <= 20
    assert (stats.urls_pending, stats.refused, stats.writers) == (0, 0, 3)


@pytest.mark.parametrize("seed", [1, 2])
async def test_killed_in_the_middle_of_anything_nothing_is_lost_or_done_twice(
    engine: Engine, opener: str, seed: int
) -> None:
    open_at = opener_named(opener)
    chance = random.Random(seed)
    accepted: set[tuple[str, int]] = set()
    offered: set[tuple[str, int]] = set()
    done: Counter[tuple[str, int]] = Counter()
    for run in range(4):
        process = start(opener, "churn", engine.address(), str(run))
        said = kill_after(process, chance.randrange(2, 60))
        writer = said[0][1]
        async with open_at(engine.address()) as frontier:
            state = await frontier.writer_state(writer)
            assert state is not None
            tokens: set[int] = set()
            for kind, *what in said:
                match kind, what:
                    case "adding", [named]:
                        offered |= {(site, hash_) for site, hash_ in named}
                    case "added", [named]:
                        accepted |= {(site, hash_) for site, hash_ in named}
                    case "committing", [sequence, named] if sequence <= state.sequence:
                        tokens = {token for *_, token in named}
                        # A commit that was cut off may be refused where it did not arrive.
                        done.update(
                            (site, hash_)
                            for site, hash_, token in named
                            if sequence < state.sequence or token not in state.refused
                        )
                    case "committed", [sequence]:
                        assert sequence <= state.sequence, "a commit that returned was lost"
            assert state.refused <= tokens, "of the last commit"
            await frontier.retire(writer, 0)
            stats = await frontier.stats()
            assert len(accepted) <= stats.urls_known <= len(offered)
            assert sum(stats.settled.values()) == done.total()
    async with open_at(engine.address()) as frontier:
        done.update(await drained(frontier))
        stats = await frontier.stats()
    assert set(done.values()) == {1}, "settled twice"
    assert accepted <= done.keys() <= offered
    assert stats.urls_known == len(done)
    assert stats.urls_pending == 0
