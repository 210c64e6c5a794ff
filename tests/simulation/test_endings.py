"""The end of a crawl on a disk that takes its time."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mannerly.clock import InlineExecutor
from mannerly.engine.crawler import ENOUGH_PAGES, FAREWELL_S, STOP_GRACE_S, Crawler
from mannerly.model import Outcome
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from tests.simulation.world import Lived, live

T = TypeVar("T")
SPEC = preset("plain", seed=5, sites=25, pages_mean=8.0, pages_max=40, body_mean=3000,
              links_min=8, links_max=16)  # fmt: skip
SLOW_S = 20.0
PAGES = 30


class Slow(InlineExecutor):
    """Everything takes `SLOW_S`."""

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        await asyncio.sleep(SLOW_S)
        return work()


def ended(tmp_path: Path, steer: Callable[[Crawler], None] = lambda _: None) -> Lived:
    return live(Web(SPEC), tmp_path, delay=2.0, max_pages=PAGES, steer=steer, storing=Slow())


def test_what_ends_by_itself_ends_with_everything_durable(tmp_path: Path) -> None:
    lived = ended(tmp_path)
    assert lived.because == ENOUGH_PAGES
    assert lived.stats.settled[Outcome.FETCHED] == PAGES


def test_who_asks_for_the_end_meanwhile_does_not_wait_for_it(tmp_path: Path) -> None:
    asked: list[float] = []

    def steer(crawler: Crawler) -> None:
        loop = asyncio.get_running_loop()

        def look() -> None:
            if crawler.ended_because:
                asked.append(loop.time())
                crawler.stop("stopped by Ctrl-C")
            else:
                loop.call_later(0.5, look)

        look()
        task = asyncio.current_task()
        assert task is not None
        task.add_done_callback(lambda _: asked.append(loop.time()))

    lived = ended(tmp_path, steer)
    assert lived.because == ENOUGH_PAGES
    assert asked[1] - asked[0] <= STOP_GRACE_S + FAREWELL_S + 1.0
    assert lived.stats.settled.get(Outcome.FETCHED, 0) < PAGES
