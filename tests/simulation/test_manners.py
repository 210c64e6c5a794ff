"""Manners between sites, in the simulated world: whose robots.txt is elsewhere, and redirects."""

from itertools import pairwise
from pathlib import Path

import pytest

from mannerly.engine.crawler import FINISHED
from mannerly.model import Outcome
from mannerly.simweb import judge
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import SiteKey, origin_of
from tests.simulation.detours import Detours
from tests.simulation.test_whole_crawl import SMALL, homes
from tests.simulation.world import Lived, live

DELAY_S = 70.0


def robots_elsewhere(
    web: Web,
    data_dir: Path,
    *,
    seed: int = 0,
    robots_ttl: float = 86400.0,
    max_tries: int = 5,
    max_workers: int = 500,
) -> tuple[Lived, str, list[str]]:
    """All sites but one have the robots.txt of that one; the home pages of all are crawled."""
    hub, *others = homes(web)
    leads_to = {robots_of(home): robots_of(hub) for home in others}
    lived = live(
        web,
        data_dir,
        seed=seed,
        delay=DELAY_S,
        seeded_urls_only=True,
        around=lambda transport: Detours(transport, leads_to),
        robots_ttl=robots_ttl,
        max_tries=max_tries,
        max_workers=max_workers,
    )
    return lived, hub, others


def too_soon(lived: Lived) -> list[judge.Violation]:
    """By the judge; and between any two requests to a site lies the delay, or nothing at all."""
    visits = judge.visits(lived.records, SiteKey().site_of)
    wrong = judge.too_soon(visits, DELAY_S - 1e-6)
    for found in visits.values():
        requests = [record for visit in found for record in visit.requests]
        for before, after in pairwise(requests):
            gap_s = after.start - before.end
            if 1.0 < gap_s < DELAY_S - 1e-6 or (gap_s <= 1.0 and before.path != "/robots.txt"):
                wrong.append(judge.Violation(f"{gap_s} s after {before.url}", after))
    return wrong


def test_a_robots_txt_elsewhere_is_read_once_for_everybody(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=40, **SMALL))
    lived, hub, others = robots_elsewhere(web, tmp_path)
    assert lived.because == FINISHED
    assert too_soon(lived) == []
    assert judge.pages_before_robots(lived.records) == []
    assert lived.stats.fetched == len(others) + 1
    of_hub = [r for r in lived.records if r.url == robots_of(hub)]
    # Its own visit and one for somebody else, at most: then the copy serves.
    assert 1 <= len(of_hub) <= 2
    assert lived.stats.urls_pending == 0


@pytest.mark.parametrize("max_workers", [1, 3, 500])
@pytest.mark.parametrize("seed", range(3))
def test_a_site_that_all_want_is_not_visited_early_and_nobody_waits_for_ever(
    tmp_path: Path, seed: int, max_workers: int
) -> None:
    """Copies are worthless here: all have to claim the same site, one after the other or all at
    once."""
    web = Web(preset("plain", seed=seed, sites=30, **SMALL))
    lived, hub, others = robots_elsewhere(
        web, tmp_path, seed=seed, robots_ttl=0.0, max_tries=3, max_workers=max_workers
    )
    assert lived.because == FINISHED
    assert too_soon(lived) == []
    assert lived.stats.urls_pending == 0
    settled = lived.stats.settled
    assert settled[Outcome.ROBOTS_UNREACHABLE] > 0
    assert settled[Outcome.FETCHED] >= 3  # one each time that all of them try
    assert lived.tally.deferred["robots postponed"] > 0
    # Nobody is blamed for it: no site was given up.
    assert lived.stats.sites_abandoned == 0
    visits_of_hub = judge.visits(lived.records, SiteKey().site_of)[SiteKey().site_of(_host(hub))]
    assert len(visits_of_hub) >= 3
    asked = {r.url for r in lived.records if not r.path.startswith("/robots.txt")}
    with open_store(tmp_path) as store:
        rows = store.execute("SELECT url, outcome FROM fetches").fetchall()
    assert {url for url, outcome in rows if outcome == "fetched"} == asked
    assert len(rows) == len(others) + 1


def test_the_rules_found_elsewhere_are_obeyed(tmp_path: Path) -> None:
    """A site that bars everybody is where the others have their rules."""
    web = Web(preset("mixed", seed=2, sites=60, traps=False, **SMALL))
    barred = next(home for home in homes(web) if not web.allowed(home) and _answers(web, home))
    others = [home for home in homes(web) if home != barred]
    leads_to = {robots_of(home): robots_of(barred) for home in others}
    lived = live(web, tmp_path, delay=DELAY_S, seeded_urls_only=True,
                 around=lambda transport: Detours(transport, leads_to))  # fmt: skip
    assert lived.because == FINISHED
    assert [r for r in lived.records if r.path != "/robots.txt"] == []
    assert lived.stats.settled[Outcome.DISALLOWED] >= 0.9 * len(others)


def test_a_redirect_inside_a_site_is_its_next_url(tmp_path: Path) -> None:
    """A page of each site has moved to where no link leads."""
    web = Web(preset("plain", seed=6, sites=40, **SMALL))
    linked = sorted(reachable(web, homes(web), sitemaps=False) - set(homes(web)))
    moved = {origin_of(url): url for url in linked}
    leads_to = {url: f"{origin}/moved" for origin, url in moved.items()}
    lived = live(
        web, tmp_path, delay=DELAY_S, around=lambda transport: Detours(transport, leads_to)
    )
    assert lived.because == FINISHED
    assert too_soon(lived) == []
    followed = 0
    for visits in judge.visits(lived.records, SiteKey().site_of).values():
        pages = [r.url for visit in visits for r in visit.requests if r.path != "/robots.txt"]
        for url, after in pairwise([*pages, ""]):
            if url in leads_to:
                assert after == leads_to[url]
                followed += 1
    assert followed > 20


def robots_of(url: str) -> str:
    return origin_of(url) + "/robots.txt"


def _host(url: str) -> str:
    return url.split("/")[2]


def _answers(web: Web, home: str) -> bool:
    return web.answer(robots_of(home)).status == 200
