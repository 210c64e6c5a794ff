"""Trouble with the database is told once, however many wait for it."""

import asyncio
import logging

import pytest

from mannerly.clock import VirtualLoop
from mannerly.engine.patience import Patience
from mannerly.errors import FrontierError, FrontierMisuseError
from mannerly.observe.tally import Tally


class Service:
    """Fails until it is mended."""

    def __init__(self) -> None:
        self.broken = True
        self.calls = 0

    async def step(self) -> int:
        self.calls += 1
        if self.broken:
            raise FrontierError("the server is away")
        return 7


def test_one_line_when_it_fails_and_one_when_all_go_on(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    tally, service = Tally(0.0), Service()

    async def main() -> list[int]:
        tasks = [asyncio.create_task(Patience(tally).until_done(service.step)) for _ in range(3)]
        await asyncio.sleep(30)
        assert tally.waiting == 3
        assert tally.trouble == "the server is away"
        service.broken = False
        return await asyncio.gather(*tasks)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == [7, 7, 7]
    assert (tally.waiting, tally.trouble) == (0, "")
    assert [record.message for record in caplog.records] == [
        "the crawl is paused: the server is away",
        "the crawl goes on",
    ]
    # It is asked less and less often: after 0.5, 1, 2 and then every 4 s.
    assert service.calls == 3 * 11


async def test_a_mistake_is_not_repeated() -> None:
    async def mistaken() -> None:
        raise FrontierMisuseError("never so")

    with pytest.raises(FrontierMisuseError):
        await Patience(Tally(0.0)).until_done(mistaken)
