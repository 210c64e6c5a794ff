"""How soon a crawl goes on when its server is back: the pauses of who asks and of who connects add
up."""

import asyncio
from types import SimpleNamespace

import pytest

from mannerly.clock import VirtualLoop
from mannerly.engine.patience import Patience
from mannerly.errors import FrontierError
from mannerly.frontier import reaching
from mannerly.frontier.reaching import Reaching
from mannerly.observe.tally import Tally

WITHIN_S = 10.0
WAITERS = 4
"""Leases, checkpoints, beats, a revival: each asks by itself, over the same connection."""


def test_everybody_goes_on_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    async def crawl(away_s: float) -> list[float]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(reaching, "time", SimpleNamespace(monotonic=loop.time))
        began_at = loop.time()
        server = Reaching()
        tally = Tally(0.0)

        async def ask() -> float:
            with server.attempt("the server"):
                if loop.time() < began_at + away_s:
                    raise FrontierError("connection refused")
            return loop.time() - began_at - away_s

        async def wait(number: int) -> float:
            await asyncio.sleep(0.23 * number)  # they do not ask at the same moments
            return await Patience(tally).until_done(ask)

        return await asyncio.gather(*(wait(number) for number in range(WAITERS)))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        late = {
            away_s: resumed_s
            for away_s in (0.83 * step for step in range(1, 150))
            if (resumed_s := max(runner.run(crawl(away_s)))) > WITHIN_S
        }
    assert late == {}
