"""A robots.txt on another site: claimed, read, released; with a real frontier and virtual time."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mannerly.clock import InlineExecutor, VirtualClock, VirtualRunner
from mannerly.config import build
from mannerly.engine.admission import Admission
from mannerly.engine.claims import FrontierClaims
from mannerly.engine.ledger import Ledger
from mannerly.engine.plan import EnginePlan
from mannerly.engine.requests import RequestBook
from mannerly.engine.robots_reader import RobotsAnswer, RobotsReader
from mannerly.engine.workbench import Seat
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit, Lease, Outcome, Released
from mannerly.observe.tally import Tally
from mannerly.politeness.addresses import AddressSlots
from mannerly.politeness.pacing import MOMENT_S
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.spec import preset
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import Web
from mannerly.url import SiteKey, host_of, origin_of
from tests.simulation.detours import LATENCY_S, Detours
from tests.unit.engine.runs import run_of
from tests.unit.engine.urls import sieve
from tests.unit.politeness.test_pacing import POLICY

WEB = Web(preset("plain", seed=1, sites=4, latency_s=1.0))
FIRST, HUB = (origin_of(WEB.home(n)) for n in (0, 1))
HUB_SITE = SiteKey().site_of(host_of(HUB + "/"))


class Scene:
    """One site whose robots.txt is at another one."""

    def __init__(self, directory: Path, clock: VirtualClock) -> None:
        self.clock = clock
        self.ledger = Ledger()
        self.records: list[AccessRecord] = []
        self.frontier = SqliteFrontier(
            directory / "frontier.db",
            clock=clock,
            executor=InlineExecutor(),
            random=random.Random(1),
        )
        lease = Lease("first.example", 1, 2, [], [], 0, clock.now())
        self.seat = Seat(lease, start_by_at=clock.now() + 60)
        web = SimTransport(WEB, clock, self.records)
        self.transport = Detours(web, {f"{FIRST}/robots.txt": f"{HUB}/robots.txt"})

    async def read(self, writer: int) -> RobotsAnswer:
        tally = Tally(0.0)
        plan = EnginePlan.of(build({"email": "a@example.org"}), 10)
        reader = RobotsReader(
            pace=POLICY,
            transport=self.transport,
            admission=Admission(plan, AddressSlots(0.0), self.clock),
            sieve=sieve(),
            claims=FrontierClaims(plan, self.frontier, writer, tally),
            ledger=self.ledger,
            book=RequestBook(run_of(writer), self.ledger, self.clock),
            tally=tally,
            clock=self.clock,
        )
        channel = self.transport.open(FIRST)
        return await reader.read(channel, FIRST, self.seat, self.clock.now() + 30, 0.0)


def play(directory: Path, act: Callable[[Scene, int], Awaitable[None]]) -> Scene:
    async def main(clock: VirtualClock) -> Scene:
        scene = Scene(directory, clock)
        async with scene.frontier:
            await scene.frontier.create({"delay_s": "0"})
            await act(scene, await scene.frontier.enlist("test"))
        return scene

    with VirtualRunner() as runner:
        return runner.run(main(runner.clock))


@pytest.mark.parametrize("known_s", [0.0, 30.0, 600.0])
def test_the_other_site_rests_as_long_as_it_is_known_to_want(
    tmp_path: Path, known_s: float
) -> None:
    async def act(scene: Scene, writer: int) -> None:
        earlier = await scene.frontier.claim(writer, HUB_SITE, ttl_s=10)
        assert earlier is not None
        part = Released(earlier.handle, earlier.token, 0.0, 3, abandoned=False, delay_s=known_s)
        await scene.frontier.commit(writer, Commit(1, released=[part]))
        answer = await scene.read(writer)
        assert answer.fetched.failure is None
        assert answer.fetched.url == f"{HUB}/robots.txt"
        (release,) = scene.ledger.take().releases
        assert release.lease.site == HUB_SITE
        rest_s = release.not_before_at - answer.fetched.ended_at
        assert rest_s == pytest.approx(max(POLICY.delay_s + MOMENT_S, known_s))
        assert (release.failures, release.abandoned, release.delay_s) == (3, False, 0.0)

    scene = play(tmp_path, act)
    assert [record.url for record in scene.records] == [f"{FIRST}/robots.txt", f"{HUB}/robots.txt"]


def test_a_site_that_is_busy_is_not_asked(tmp_path: Path) -> None:
    async def act(scene: Scene, writer: int) -> None:
        assert await scene.frontier.claim(writer, HUB_SITE, ttl_s=1000) is not None
        answer = await scene.read(writer)
        assert answer.postponed
        assert answer.fetched.failure is Outcome.ROBOTS_UNREACHABLE
        assert HUB_SITE in answer.fetched.detail
        assert scene.ledger.empty

    scene = play(tmp_path, act)
    assert [record.url for record in scene.records] == [f"{FIRST}/robots.txt"]


def test_a_claim_is_given_back_when_the_visit_is_cut_off(tmp_path: Path) -> None:
    async def act(scene: Scene, writer: int) -> None:
        reading = asyncio.ensure_future(scene.read(writer))
        await asyncio.sleep(LATENCY_S + 0.001)  # virtual: the second request is on its way
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        (release,) = scene.ledger.take().releases
        assert release.lease.site == HUB_SITE
        assert release.not_before_at >= scene.clock.now() + POLICY.delay_s

    scene = play(tmp_path, act)
    assert scene.records[-1].url == f"{HUB}/robots.txt"
