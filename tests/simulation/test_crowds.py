"""Many sites on few addresses, on virtual time: the limit to the letter, and no slot wasted."""

import itertools
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from mannerly.engine.crawler import FINISHED
from mannerly.fetch.contract import Admit, Channel, anywhere
from mannerly.politeness.pacing import MOMENT_S
from mannerly.simweb import judge
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import Web
from mannerly.url import SiteKey
from tests.simulation.test_whole_crawl import SMALL, homes, impolite
from tests.simulation.world import Lived, live

SITES = 40


class Crowded:
    """A transport to the simulated web that has a few addresses only."""

    def __init__(self, web: SimTransport, addresses: int) -> None:
        self.web = web
        self.addresses = addresses

    def open(self, origin: str, admit: Admit = anywhere) -> Channel:
        return self.web.open(origin, lambda own: admit(crowded(own, self.addresses)))

    async def aclose(self) -> None:
        await self.web.aclose()


def crowded(own: str, addresses: int) -> str:
    return f"192.0.2.{zlib.crc32(own.encode()) % addresses}"


def on(addresses: int) -> Callable[[SimTransport], Crowded]:
    return lambda transport: Crowded(transport, addresses)


def beginnings(web: Web, lived: Lived, addresses: int) -> dict[str, list[float]]:
    """When visits began at each address."""
    times = defaultdict(list)
    for visits in judge.visits(lived.records, SiteKey().site_of).values():
        for visit in visits:
            site = web.site_at(visit.requests[0].host)
            assert site is not None
            times[crowded(site.address, addresses)].append(visit.start)
    return {address: sorted(found) for address, found in times.items()}


@pytest.mark.parametrize(("delay_s", "address_delay_s"), [(30.0, 3.0), (5.0, 0.5), (0.0, 0.5)])
def test_an_address_is_visited_as_often_as_it_may_be(
    tmp_path: Path, delay_s: float, address_delay_s: float
) -> None:
    web = Web(preset("plain", seed=3, sites=SITES, **SMALL))
    lived = live(
        web, tmp_path, delay=delay_s, address_delay=address_delay_s, around=on(2), max_workers=200
    )
    assert lived.because == FINISHED
    assert impolite(web, lived, delay_s) == []
    asked = {record.url for record in lived.records if record.path != "/robots.txt"}
    assert asked == reachable(web, homes(web))
    visits = 0
    for times in beginnings(web, lived, 2).values():
        visits += len(times)
        for earlier_at, later_at in itertools.pairwise(times):
            assert later_at - earlier_at >= address_delay_s - 1e-6
        # While all its sites have something left, hardly a slot is empty.
        busy = times[: len(times) // 2]
        assert (busy[-1] - busy[0]) / len(busy) < 1.3 * (address_delay_s + MOMENT_S)
    unused = lived.tally.leases_unused["address"]
    assert unused <= SITES + 0.05 * visits, (unused, visits)


def test_sites_with_an_address_of_their_own_do_not_notice(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=SITES, **SMALL))
    limited = live(web, tmp_path / "limited", delay=5.0, address_delay=0.5)
    unlimited = live(Web(web.spec), tmp_path / "unlimited", delay=5.0, address_delay=0.0)
    assert limited.tally.leases_unused["address"] == 0
    assert limited.elapsed_s < 1.2 * unlimited.elapsed_s


def test_the_same_seed_gives_the_same_crowd(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=7, sites=20, **SMALL))
    runs = [live(Web(web.spec), tmp_path / name, seed=11, delay=5.0, around=on(3)) for name in "ab"]
    assert runs[0].records == runs[1].records
    assert runs[0].tally.leases_unused == runs[1].tally.leases_unused
