"""The whole crawler in a simulated world, judged from the world's own records."""

from pathlib import Path
from typing import Any

import pytest

from mannerly.engine.crawler import FINISHED
from mannerly.engine.page import PageReader, Reading
from mannerly.fetch.contract import Fetched
from mannerly.model import Outcome
from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import Exclusions, SiteKey
from tests.simulation.world import Lived, live

SMALL = {"pages_mean": 8.0, "pages_max": 60, "body_mean": 3000, "links_min": 8, "links_max": 16}

LONG_S = 60.0
"""Between checkpoints, where half a day is simulated: most of it is waiting."""


def impolite(web: Web, lived: Lived, delay_s: float) -> list[judge.Violation]:
    """Everything that a site owner could complain about."""
    visits = judge.visits(lived.records, SiteKey().site_of)
    return [
        *judge.too_soon(visits, delay_s - 1e-6),
        *judge.pages_before_robots(lived.records),
        *judge.disallowed_requests(web, lived.records),
    ]


def homes(web: Web) -> list[str]:
    return [web.home(index) for index in range(web.spec.sites)]


def test_every_reachable_page_once_and_politely(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=60, **SMALL))
    lived = live(web, tmp_path, delay=70.0)
    assert lived.because == FINISHED
    assert impolite(web, lived, 70.0) == []
    assert judge.fetched_twice(lived.records) == []
    asked = {record.url for record in lived.records if record.path != "/robots.txt"}
    assert asked == reachable(web, homes(web))
    assert lived.stats.urls_pending == 0
    with open_store(tmp_path) as store:
        pages = store.execute("SELECT url FROM pages").fetchall()
        fetches = store.execute("SELECT count(*), count(DISTINCT url) FROM fetches").fetchall()
    assert len(pages) == len(set(pages)) == lived.tally.pages_stored == len(pages_among(web, asked))
    assert fetches == [(lived.stats.urls_known, lived.stats.urls_known)]


def test_a_web_that_misbehaves_is_crawled_to_its_end(tmp_path: Path) -> None:
    web = Web(preset("hostile", seed=5, sites=80, traps=False, **SMALL))
    lived = live(web, tmp_path, delay=70.0, crawl_delay_ceiling=600.0, trap_guard=False,
                 checkpoint_interval=LONG_S)  # fmt: skip
    assert lived.because == FINISHED
    assert impolite(web, lived, 70.0) == []
    assert judge.fetched_twice(lived.records) == []
    settled = lived.stats.settled
    for outcome in (Outcome.FETCHED, Outcome.REDIRECTED, Outcome.HTTP_ERROR, Outcome.DISALLOWED,
                    Outcome.ROBOTS_UNREACHABLE, Outcome.TIMED_OUT, Outcome.BROKEN,
                    Outcome.NO_SUCH_NAME):  # fmt: skip
        assert settled.get(outcome, 0) > 0, outcome
    answered = {r.url for r in lived.records if r.status == 200 and r.path != "/robots.txt"}
    with open_store(tmp_path) as store:
        rows = store.execute(
            "SELECT url FROM fetches WHERE outcome = 'fetched' AND status = 200"
        ).fetchall()
    assert len(rows) == len({url for (url,) in rows})
    assert {url for (url,) in rows} == answered


def test_a_bare_domain_falls_back_to_http_and_after_the_delay(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=9, sites=40, https=0.5, **SMALL))
    lived = live(web, tmp_path, delay=70.0, bare=True, seeded_urls_only=True)
    assert lived.because == FINISHED
    assert impolite(web, lived, 70.0) == []
    plain = [home for home in homes(web) if home.startswith("http://")]
    assert 10 < len(plain) < 30
    asked = {record.url for record in lived.records if record.path != "/robots.txt"}
    assert asked == {home for home in homes(web) if web.allowed(home)}
    assert lived.stats.settled[Outcome.TLS_FAILED] == len(plain)


def test_exclusions_hold_for_seeds_that_are_queued_already(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=30, **SMALL))
    barred = [SiteKey().site_of(home.split("/")[2]) for home in homes(web)[:7]]
    lived = live(web, tmp_path, delay=5.0, exclusions=Exclusions(barred))
    assert lived.because == FINISHED
    visited = {SiteKey().site_of(record.host) for record in lived.records}
    assert not visited & set(barred)
    assert lived.stats.settled[Outcome.EXCLUDED] == 7


def test_a_page_that_trips_a_bug_is_given_up_and_the_crawl_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = Web(preset("plain", seed=3, sites=20, **SMALL))
    poison = homes(web)[4]
    read = PageReader.read

    def stumble(self: PageReader, fetched: Fetched, *rest: Any) -> Reading:
        if fetched.url == poison:
            raise RecursionError("deep")
        return read(self, fetched, *rest)

    monkeypatch.setattr(PageReader, "read", stumble)
    lived = live(web, tmp_path, delay=70.0)
    assert lived.because == FINISHED
    assert impolite(web, lived, 70.0) == []
    assert lived.stats.settled[Outcome.BROKEN] == 1
    assert lived.stats.urls_pending == 0
    with open_store(tmp_path) as store:
        (row,) = store.execute("SELECT url, detail FROM fetches WHERE outcome='broken'").fetchall()
    assert row == (poison, "internal error: RecursionError('deep')")


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    web = Web(preset("mixed", seed=7, sites=40, traps=False, **SMALL))
    first = live(web, tmp_path / "a", seed=11, delay=5.0, checkpoint_interval=LONG_S)
    second = live(Web(web.spec), tmp_path / "b", seed=11, delay=5.0, checkpoint_interval=LONG_S)
    assert first.records == second.records
    assert first.stats == second.stats
    assert first.elapsed_s == second.elapsed_s


def test_max_pages_is_exact(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=60, **SMALL))
    lived = live(web, tmp_path, delay=1.0, max_pages=100, max_workers=20)
    assert lived.because == "max-pages reached"
    assert lived.stats.fetched == 100


def test_depth_and_seeds_only(tmp_path: Path) -> None:
    web = Web(preset("plain", seed=3, sites=30, **SMALL))
    lived = live(web, tmp_path / "seeds", delay=1.0, seeded_urls_only=True)
    asked = {record.url for record in lived.records if record.path != "/robots.txt"}
    assert asked == {home for home in homes(web) if web.allowed(home)}
    lived = live(web, tmp_path / "depth", delay=1.0, max_depth=1, sitemaps="off")
    deep = {record.url for record in lived.records if record.path != "/robots.txt"}
    assert deep == {url for home in asked for url in [home, *web.links(home)] if web.allowed(url)}


def test_a_slow_site_does_not_slow_the_others(tmp_path: Path) -> None:
    spec = preset("plain", seed=3, sites=60, **SMALL)
    quick = live(Web(spec), tmp_path / "quick", delay=1.0, max_duration=60.0)
    slowed = live(
        Web(preset("plain", seed=3, sites=60, stalling_sites=0.3, **SMALL)),
        tmp_path / "slow",
        delay=1.0,
        max_duration=60.0,
    )
    stalled = sum(1 for r in slowed.records if r.status == 0)
    assert stalled > 10
    good_sites = {r.host for r in slowed.records if r.status == 200}
    before = sum(1 for r in quick.records if r.host in good_sites)
    after = sum(1 for r in slowed.records if r.host in good_sites)
    assert after >= 0.9 * before
