"""`mannerly crawl` over a real simulated web, judged from the server's own log."""

import json
import signal
from pathlib import Path

import pytest

from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import QUICK, Served, arguments, mannerly, served, start

pytestmark = pytest.mark.alone

SMALL = {"pages_mean": 8.0, "pages_max": 40, "body_mean": 6000, "links_min": 10, "links_max": 20}
DELAY_S = 0.05


def crawl_words(web: Served, directory: Path, *more: str) -> list[str]:
    seeds = web.write_seeds(directory / "seeds.txt")
    return ["crawl", "--seed-file", str(seeds), "--data-dir", str(directory / "data"),
            "--connect-to", web.address, *arguments(QUICK), *more]  # fmt: skip


def impolite(web: Served) -> list[judge.Violation]:
    records = web.records()
    visits = judge.visits(records, SiteKey().site_of)
    return [
        *judge.too_soon(visits, DELAY_S),
        *judge.pages_before_robots(records),
        *judge.disallowed_requests(web.web, records),
    ]


def test_a_plain_web_is_crawled_whole_once_and_politely(tmp_path: Path) -> None:
    with served(tmp_path, preset("plain", seed=1, sites=150, **SMALL)) as web:
        done = mannerly(*crawl_words(web, tmp_path))
        assert done.returncode == 0, done.stderr
        assert "finished: nothing is left to do" in done.stdout
        assert impolite(web) == []
        records = web.records()
    assert judge.fetched_twice(records) == []
    expected = reachable(web.web, web.homes())
    assert {r.url for r in records if r.path != "/robots.txt"} == expected
    with open_store(tmp_path / "data") as store:
        rows = store.execute("SELECT url, title, text, links FROM pages").fetchall()
    assert sorted(url for url, *_ in rows) == sorted(pages_among(web.web, expected))
    assert all(title and text and links for _, title, text, links in rows)
    agents = {record.user_agent for record in records}
    assert len(agents) == 1
    assert "mannerly/" in (agent := agents.pop())
    assert "test@example.org" in agent


def test_a_hostile_web_is_crawled_to_its_end(tmp_path: Path) -> None:
    spec = preset("hostile", seed=2, sites=25, traps=False, slow_latency_s=0.5, **SMALL)
    with served(tmp_path, spec) as web:
        done = mannerly(
            *crawl_words(
                web, tmp_path, "--visit-timeout", "1s", "--max-tries", "4", "--no-trap-guard"
            )
        )
        assert done.returncode == 0, done.stderr
        assert "finished" in done.stdout
        assert impolite(web) == []
        assert judge.fetched_twice(web.records()) == []
    status = json.loads(mannerly("status", "--data-dir", str(tmp_path / "data"), "--json").stdout)
    assert status["running"] is False
    assert status["urls_pending"] == status["urls_abandoned"]
    assert status["settled"]["fetched"] == status["pages"] > 50


@pytest.mark.timeout(400)
def test_two_thousand_sites_every_page_once(tmp_path: Path) -> None:
    """Everything but what never answers: redirects, busy pages, all kinds of robots.txt."""
    spec = preset("mixed", seed=42, sites=2000, traps=False, pages_mean=6.0, pages_max=30,
                  body_mean=6000, links_min=20, links_max=40, stalling_sites=0.0,
                  closing_sites=0.0, stalled_pages=0.0, stopped_pages=0.0, cut_pages=0.0,
                  slow_latency_s=0.5, crawl_delay_s=0.5, latency_s=0.05, https=0.2)  # fmt: skip
    with served(tmp_path, spec) as web:
        more = ("--delay", "100ms", "--no-trap-guard", "--crawl-delay-ceiling", "1s")
        done = mannerly(*crawl_words(web, tmp_path, *more), timeout_s=380)
        assert done.returncode == 0, done.stderr
        assert "finished" in done.stdout
        records = web.records()
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.too_soon(visits, 0.1) == []
    assert judge.pages_before_robots(records) == []
    assert judge.disallowed_requests(web.web, records) == []
    assert judge.fetched_twice(records) == []
    expected = reachable(web.web, web.homes())
    asked = {r.url for r in records if r.path != "/robots.txt"}
    assert len(expected) > 10_000
    assert expected - asked == set()
    assert asked - expected == set()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_resume_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    with served(tmp_path, preset("plain", seed=4, sites=80, latency_s=0.05, **SMALL)) as web:
        words = crawl_words(web, tmp_path)
        running = start(*words)
        wait_for_pages(tmp_path / "data", 30)
        running.send_signal(how)
        out, err = running.communicate(timeout=15)
        assert running.returncode == 0, err
        assert "stopped by" in out
        assert "--resume" in out
        resumed = mannerly("crawl", "--resume", "--data-dir", str(tmp_path / "data"),
                           "--connect-to", web.address, "--progress", "off")  # fmt: skip
        assert resumed.returncode == 0, resumed.stderr
        assert impolite(web) == []
        records = web.records()
    assert judge.fetched_twice(records) == []
    assert {r.url for r in records if r.path != "/robots.txt"} == reachable(web.web, web.homes())


def test_exclusions_are_obeyed_for_seeds_links_and_redirects(tmp_path: Path) -> None:
    spec = preset("plain", seed=5, sites=40, outside_redirects=0.1, **SMALL)
    with served(tmp_path, spec) as web:
        site_of = SiteKey().site_of
        barred = {site_of(home.split("/")[2]) for home in web.homes()[:10]}
        (tmp_path / "exclude.txt").write_text("# not these\n" + "\n".join(barred) + "\n")
        done = mannerly(
            *crawl_words(web, tmp_path, "--exclude-file", str(tmp_path / "exclude.txt"))
        )
        assert done.returncode == 0, done.stderr
        visited = {site_of(record.host) for record in web.records()}
    assert not visited & barred
    assert len(visited) >= 25


def test_limits(tmp_path: Path) -> None:
    with served(tmp_path, preset("plain", seed=6, sites=60, **SMALL)) as web:
        done = mannerly(*crawl_words(web, tmp_path, "--max-pages", "50", "--max-workers", "8"))
        assert done.returncode == 0, done.stderr
        assert "max-pages reached" in done.stdout
        pages = [r for r in web.records() if r.status == 200 and r.path != "/robots.txt"]
    assert len(pages) == 50


def test_resuming_at_the_limit_ends_at_once(tmp_path: Path) -> None:
    with served(tmp_path, preset("plain", seed=6, sites=30, **SMALL)) as web:
        words = crawl_words(web, tmp_path, "--max-pages", "20")
        assert mannerly(*words).returncode == 0
        again = mannerly(*words, "--resume", timeout_s=20)
        assert again.returncode == 0, again.stderr
        assert "max-pages reached" in again.stdout
        pages = [r for r in web.records() if r.status == 200 and r.path != "/robots.txt"]
    assert len(pages) == 20


def test_a_resumed_crawl_keeps_its_exclusions_and_its_name(tmp_path: Path) -> None:
    with served(tmp_path, preset("plain", seed=5, sites=40, **SMALL)) as web:
        site_of = SiteKey().site_of
        barred = {site_of(home.split("/")[2]) for home in web.homes()[:10]}
        (tmp_path / "exclude.txt").write_text("\n".join(barred))
        more = ("--exclude-file", str(tmp_path / "exclude.txt"), "--user-agent", "Somebot/9",
                "--max-pages", "20")  # fmt: skip
        assert mannerly(*crawl_words(web, tmp_path, *more)).returncode == 0
        resumed = mannerly("crawl", "--resume", "--data-dir", str(tmp_path / "data"),
                           "--connect-to", web.address, "--progress", "off")  # fmt: skip
        assert resumed.returncode == 0, resumed.stderr
        records = web.records()
    assert not {site_of(record.host) for record in records} & barred
    assert {record.user_agent for record in records} == {"Somebot/9"}
    assert len({record.host for record in records}) > 25


def test_scope_of_the_seeded_sites(tmp_path: Path) -> None:
    with served(tmp_path, preset("plain", seed=7, sites=60, **SMALL)) as web:
        words = crawl_words(web, tmp_path, "--scope", "seeded-sites")
        seeds = web.homes()[:5]
        (tmp_path / "seeds.txt").write_text("\n".join(seeds))
        done = mannerly(*words)
        assert done.returncode == 0, done.stderr
        site_of = SiteKey().site_of
        visited = {site_of(record.host) for record in web.records()}
    assert visited == {site_of(seed.split("/")[2]) for seed in seeds}


def wait_for_pages(data_dir: Path, count: int) -> None:
    """Until the crawl's own status tells of so many pages."""
    for _ in range(600):
        told = mannerly("status", "--data-dir", str(data_dir), "--json")
        if told.returncode == 0 and json.loads(told.stdout)["pages"] >= count:
            return
    raise AssertionError("the crawl made no progress")
