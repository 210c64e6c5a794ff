"""A crawl that is paused for an hour, and one whose workers change while it runs."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from mannerly.engine.crawler import Crawler
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from tests.simulation.world import live

SPEC = preset("plain", seed=5, sites=25, pages_mean=8.0, pages_max=40, body_mean=3000,
              links_min=8, links_max=16)  # fmt: skip
HOUR_S = 3600.0


@pytest.mark.timeout(60)
def test_while_it_is_paused_nobody_is_visited_and_then_it_ends_as_ever(tmp_path: Path) -> None:
    """With a delay so small that leases are kept, so that seats become ready meanwhile. Time would
    stand still here if the crawler did anything over and over, until the test's own time is up:
    which the loop takes for an error of a callback, and only tells."""
    told: list[object] = []

    def steer(crawler: Crawler) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context))
        loop.call_later(10.0, crawler.pause)
        loop.call_later(10.0 + HOUR_S, crawler.go_on)

    paused = live(Web(SPEC), tmp_path / "paused", delay=2.0, steer=steer)
    free = live(Web(SPEC), tmp_path / "free", delay=2.0)
    assert told == []
    assert paused.because == free.because
    assert paused.stats.settled == free.stats.settled
    assert {it.url for it in paused.records} == {it.url for it in free.records}
    starts = sorted(it.arrived for it in paused.records)
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert max(gaps) > HOUR_S - 60
    assert paused.elapsed_s > free.elapsed_s + HOUR_S - 60


def test_visits_at_once_go_down_and_up(tmp_path: Path) -> None:
    in_flight: list[int] = []

    def steer(crawler: Crawler) -> None:
        loop = asyncio.get_running_loop()
        crawler.set_workers(3)

        def look() -> None:
            in_flight.append(crawler._tally.in_flight)
            if len(in_flight) == 60:
                crawler.set_workers(20)
            loop.call_later(0.5, look)

        look()

    spec = preset("plain", seed=5, sites=60, pages_mean=8.0, pages_max=40, latency_s=1.0)
    lived = live(Web(spec), tmp_path, delay=0.0, max_workers=40, steer=steer)
    assert lived.because.startswith("finished")
    assert max(in_flight[:60]) == 3
    assert max(in_flight[62:]) == 20
    assert lived.tally.most_in_flight == 20
