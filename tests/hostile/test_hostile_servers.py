"""The whole crawler among hostile servers: the real program, a real server in its own process.

Two crawls are compared: one of ordinary sites alone, one of the same among all the hostile ones.
"""

import json
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from tests.hostile import catalogue, ordinary
from tests.hostile.run import BODY_LIMIT, TIMEOUT_S, TRIES, Crawled, Row, crawl, serving
from tests.hostile.site import Expected, Site
from tests.hostile.suite import fits

pytestmark = pytest.mark.alone

MIB = 1024 * 1024
SLACK_S = 2.0
"""For a server to notice that its client is gone: some look only every second."""
IN_BUFFERS = 24 * MIB
"""What the kernel takes off a server's hands that nobody reads, on both sides of a relay."""
GROWTH = 64 * MIB
RATE = 0.9


@dataclass(frozen=True)
class Crawls:
    quiet: Crawled
    disturbed: list[Crawled]
    """Of the same sites. What else the machine does can only make one slower, so the better counts;
    a second is made only where the first was slow."""
    hostile: list[Site]


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    folder = tmp_path_factory.mktemp("hostile")
    hostile = catalogue.sites()
    mixed = zip_longest(hostile, ordinary.sites())
    everything = [site for site in chain.from_iterable(mixed) if site is not None]
    with serving(folder / "access.jsonl") as served:
        quiet = crawl(folder / "quiet", served, ordinary.sites())
        disturbed = [crawl(folder / "disturbed", served, everything)]
        if _rate(disturbed[0]) < RATE * _rate(quiet):
            disturbed.append(crawl(folder / "again", served, everything))
    return Crawls(quiet, disturbed, hostile)


def test_the_crawl_ends_by_itself_and_without_an_error_of_ours(crawls: Crawls) -> None:
    for crawled in [crawls.quiet, *crawls.disturbed]:
        assert crawled.returncode == 0, crawled.errors
        assert "internal error" not in crawled.errors
        assert "Traceback" not in crawled.errors
        left = {key: crawled.status[key] for key in ("urls_pending", "urls_spilt")}
        assert left == {"urls_pending": 0, "urls_spilt": 0}


def test_every_url_ends_as_it_should(crawls: Crawls) -> None:
    crawled = crawls.disturbed[-1]
    wrong = {}
    for site in [*ordinary.sites(), *crawls.hostile]:
        for path, expected in site.expected.items():
            url = site.home.removesuffix("/") + path
            why = _difference(expected, crawled.fetches.get(url), crawled.pages.get(url))
            if why:
                wrong[url] = why
    assert wrong == {}


def _difference(expected: Expected, fetch: Row | None, page: Row | None) -> str:
    if fetch is None:
        return "never settled"
    if fetch["outcome"] not in expected.outcome.split("|"):
        return f"{fetch['outcome']} ({fetch['detail']}), not {expected.outcome}"
    if "|" in expected.outcome:
        return ""
    if (page is not None) is not expected.stored:
        return "stored" if page else "not stored"
    if page is not None and page["truncated"] is not expected.truncated:
        return "marked as cut" if page["truncated"] else "not marked as cut"
    if page is not None and expected.text is not None and page["text"] != expected.text:
        return f"its text is {page['text'][:80]!r}"
    return ""


def test_outcomes_are_what_the_suite_asks_for(crawls: Crawls, suites: Path) -> None:
    played = {site.suite_id: site for site in crawls.hostile if site.suite_id}
    cases = json.loads((suites / "http" / "hostile_cases.json").read_text())["cases"]
    crawled = crawls.disturbed[-1]
    wrong = {}
    for case in cases:
        url = played[case["id"]].home
        fetch = crawled.fetches[url]
        if not fits(case["expect"], fetch, crawled.pages.get(url)):
            wrong[case["id"]] = f"{fetch['outcome']}, not {case['expect']}"
        if "retry, bounded" in case["expect"]:
            assert fetch["tries"] == TRIES
    assert wrong == {}
    assert len(cases) == 49


def test_time_and_bytes_are_bounded(crawls: Crawls) -> None:
    crawled = crawls.disturbed[-1]
    for fetch in crawled.fetches.values():
        assert fetch["duration_s"] < TIMEOUT_S + SLACK_S, fetch["url"]
        assert fetch["wire_bytes"] <= BODY_LIMIT, fetch["url"]
    for connection in crawled.connections:
        assert connection["open_s"] < TIMEOUT_S + SLACK_S, connection["host"]
        assert connection["sent"] < IN_BUFFERS, connection["host"]


def test_no_site_is_asked_more_often_than_it_may(crawls: Crawls) -> None:
    """Traps end, chains of redirects end, failures end; and who said no in robots.txt, or did not
    answer for it, is not asked for a page at all. Failures for which the crawler blamed itself,
    because the machine had other things to do, may be tried again: just as many as it says."""
    asked: dict[str, int] = {}
    for request in crawls.disturbed[-1].requests:
        if request["path"] != "/robots.txt":
            asked[request["host"]] = asked.get(request["host"], 0) + 1
    too_many = {}
    for site in crawls.hostile:
        times = sum(n for host, n in asked.items() if f".{host}".endswith(f".{site.host}"))
        # One more than tries: a kept connection that turns out to be closed is opened anew.
        most = (
            (TRIES + 1) * len(site.expected) if site.most_requests is None else site.most_requests
        )
        if times > most:
            too_many[site.host] = (times, most)
    processes = crawls.disturbed[-1].status["processes"]
    excused = sum(sum(process["strain"]["excused"].values()) for process in processes)
    assert sum(times - most for times, most in too_many.values()) <= excused, too_many


def test_nothing_is_sent_back_and_nothing_is_smuggled(crawls: Crawls) -> None:
    crawled = crawls.disturbed[-1]
    assert not [request for request in crawled.requests if request["cookie"]]
    smuggled = [url for url, page in crawled.pages.items() if "SMUGGLED" in page["text"]]
    assert [url for url in smuggled if "tls-before-the-request" not in url] == []
    for url in crawled.fetches:
        assert url.startswith(("http://", "https://"))


def test_memory_stays_bounded(crawls: Crawls) -> None:
    grown = min(crawled.peak_bytes for crawled in crawls.disturbed) - crawls.quiet.peak_bytes
    assert grown < GROWTH, f"{grown / MIB:.0f} MiB more than {crawls.quiet.peak_bytes / MIB:.0f}"


def test_ordinary_sites_are_crawled_as_fast_as_ever(crawls: Crawls) -> None:
    quiet = _rate(crawls.quiet)
    rates = [_rate(crawled) for crawled in crawls.disturbed]
    # Their pace is set by the delay: anything slower is time in which nobody was served.
    assert quiet > 0
    assert max(rates) >= RATE * quiet, f"{max(rates):.1f} pages/s, without hostile ones {quiet:.1f}"


def _rate(crawled: Crawled) -> float:
    """Pages of ordinary sites per second, from the first request of the crawl to the last page."""
    hosts = {site.host for site in ordinary.sites()}
    at: list[float] = [
        request["at"]
        for request in crawled.requests
        if request["host"] in hosts and request["path"] != "/robots.txt"
    ]
    assert len(at) == ordinary.SITES * ordinary.PAGES
    began_at: float = min(request["at"] for request in crawled.requests)
    return len(at) / (max(at) - began_at)
