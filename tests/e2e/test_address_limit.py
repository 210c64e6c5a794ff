"""Many sites on few addresses: the addresses are spared, and nobody else is slowed."""

import itertools
import json
import socket
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.external.playing import Asked, Asking, Host, Play, Players, listening, names, port_of
from tests.programs import QUICK, arguments, mannerly

pytestmark = pytest.mark.alone

CROWDED = {f"crowd-{number}.test": f"127.0.0.{21 + number % 2}" for number in range(40)}
"""Sites and their addresses: forty on two."""
QUIET = {f"quiet-{number}.test": f"127.0.1.{1 + number}" for number in range(10)}
"""With an address of its own each."""
PAGES = 3
ADDRESS_DELAY_S = 0.1
LINKS = "".join(f'<a href="/{number}">{number}</a>' for number in range(1, PAGES)).encode()


@dataclass
class Crawled:
    asked: list[Asked]
    status: dict[str, Any]
    printed: str

    def visits(self, site: str) -> list[Asked]:
        """The first request of each visit: robots.txt, but not the page after it."""
        requests = sorted(one for one in self.asked if one.host == site)
        return requests[:1] + requests[2:]

    def beginnings(self) -> dict[str, list[float]]:
        """When visits began at each address."""
        times = defaultdict(list)
        for site in (*CROWDED, *QUIET):
            for visit in self.visits(site):
                times[visit.address].append(visit.start)
        return {address: sorted(found) for address, found in times.items()}


@contextmanager
def web() -> Iterator[tuple[Players, str, int]]:
    """The server, its name server and its port, which is the same at all addresses."""
    records = [f"--host-record={name},{address}" for name, address in (CROWDED | QUIET).items()]
    with ExitStack() as opened:
        listeners: list[socket.socket] = []
        port = 0
        for address in sorted({*CROWDED.values(), *QUIET.values()}):
            listeners.append(opened.enter_context(listening(address, port)))
            port = port_of(listeners[0])
        paths = ["/", *(f"/{number}" for number in range(1, PAGES))]
        plays: dict[str, Play] = dict.fromkeys(paths, _page)
        players = Players(dict.fromkeys(CROWDED | QUIET, Host(plays)), listeners)
        yield players, opened.enter_context(names(*records)), port


def _page(asking: Asking) -> None:
    asking.answer(200, b"<html><body>" + LINKS, "Content-Type: text/html")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    directory = tmp_path_factory.mktemp("addresses")
    with web() as (players, resolver, port):
        seeds = directory / "seeds.txt"
        seeds.write_text("".join(f"http://{name}:{port}/\n" for name in CROWDED | QUIET))
        data = ["--data-dir", str(directory / "data")]
        options = {**QUICK, "--delay": "1s", "--address-delay": f"{ADDRESS_DELAY_S}s",
                   "--ports": str(port), "--resolver": resolver, "--progress": "lines"}  # fmt: skip
        done = mannerly(
            "crawl", "--seed-file", str(seeds), *data, *arguments(options),
            "--allow-private-addresses",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        status = json.loads(mannerly("status", "--json", *data).stdout)
        return Crawled(players.asked, status, done.stdout)


def test_everything_is_fetched_once(crawled: Crawled) -> None:
    pages = [one.url for one in crawled.asked if one.path != "/robots.txt"]
    assert len(pages) == len(set(pages)) == PAGES * len(CROWDED | QUIET)
    assert crawled.status["pages"] == len(pages)


def test_visits_to_an_address_begin_a_delay_apart(crawled: Crawled) -> None:
    times = crawled.beginnings()
    for address in set(CROWDED.values()):
        assert len(times[address]) == PAGES * len(CROWDED) / 2
        gaps = [later - earlier for earlier, later in itertools.pairwise(times[address])]
        # The limit is on connecting; until a request is read takes a moment, not always the same.
        assert min(gaps) > 0.5 * ADDRESS_DELAY_S
        assert sorted(gaps)[len(gaps) // 20] > 0.9 * ADDRESS_DELAY_S


def test_sites_elsewhere_are_not_slowed(crawled: Crawled) -> None:
    began_at = min(one.start for one in crawled.asked)
    took_s = {address: times[-1] - began_at for address, times in crawled.beginnings().items()}
    crowded_s = min(took_s[address] for address in CROWDED.values())
    quiet_s = sorted(took_s[address] for address in QUIET.values())
    assert crowded_s > (PAGES * len(CROWDED) / 2 - 1) * ADDRESS_DELAY_S
    assert quiet_s[len(quiet_s) // 2] < 0.7 * crowded_s, (quiet_s, crowded_s)


def test_who_was_turned_away_is_counted_and_nobody_blamed(crawled: Crawled) -> None:
    """Each crowded site is turned away at its first visit, when its address is not known yet; from
    then on it comes when its slot does."""
    (process,) = crawled.status["processes"]
    unused = process["strain"]["leases_unused"]
    assert 20 <= unused["address"] <= 1.2 * len(CROWDED)
    assert f"address {unused['address']}" in crawled.printed
    assert set(crawled.status["settled"]) == {"fetched"}
    assert crawled.status["sites_abandoned"] == 0
