"""The web is a function: repeatable, canonical, reachable, and it does what the spec says."""

import gzip
import html
import math
import time
from collections import Counter, deque
from email.utils import parsedate_to_datetime

import can_ada
import pytest
from selectolax.lexbor import LexborHTMLParser

from mannerly.errors import UsageError
from mannerly.simweb import Answer, Behaviour, Kind, Web, WebSpec, pages_among, preset, reachable
from mannerly.simweb.encodings import encoding_of
from mannerly.simweb.graph import odd_spelling
from mannerly.simweb.site import Site, Trap

HOSTILE = Web(preset("hostile", seed=7, sites=60, pages_mean=30, pages_max=400, traps=False))


def all_pages(web: Web) -> list[str]:
    return [
        url
        for index in range(web.spec.sites)
        for url in web.pages.urls(web.site(index), range(web.site(index).pages))
    ]


PAGES = all_pages(HOSTILE)


def canonical(href: str, base: str = "http://elsewhere.test/") -> str:
    return str((can_ada.parse(base) + href).href).partition("#")[0]


def test_equal_specs_are_equal_webs_whatever_was_asked_before() -> None:
    other = Web(HOSTILE.spec)
    for url in reversed(PAGES[:300]):
        ours, theirs = HOSTILE.answer(url), other.answer(url)
        assert (ours.kind, ours.status, ours.headers(0)) == (
            theirs.kind,
            theirs.status,
            theirs.headers(0),
        )
        assert ours.body == theirs.body
        assert ours.latency_s == theirs.latency_s


def test_another_seed_is_another_web() -> None:
    other = Web(preset("hostile", seed=8, sites=60))
    assert {other.home(index) for index in range(60)}.isdisjoint(
        HOSTILE.home(index) for index in range(60)
    )
    assert other.answer(HOSTILE.home(0)).kind is Kind.UNKNOWN_HOST


def test_page_urls_are_canonical_distinct_and_find_their_page() -> None:
    assert len(set(PAGES)) == len(PAGES)
    for url in PAGES:
        assert canonical(url) == url
        site = HOSTILE.site_at(url.split("/")[2])
        assert site is not None
        scheme_and_host, path = url.split("/", 3)[:3], url.split("/", 3)[3]
        page = HOSTILE.pages.find(site, scheme_and_host[2], "/" + path)
        assert page is not None
        assert page.url == url


def test_every_link_resolves_to_the_url_it_claims() -> None:
    seen_odd = 0
    for url in PAGES[::3]:
        answer = HOSTILE.answer(url, 9)
        for link in answer.content.links():
            assert canonical(html.unescape(link.href), url) == link.url
            assert canonical(link.url) == link.url
            seen_odd += link.href != link.url
    assert seen_odd > 1000


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize(
    "url", ["https://a-b-1.test/x/caf%C3%A9-1.html", "http://www.c-d-2.test/", "https://q.test/?a"]
)
@pytest.mark.parametrize("base", ["https://a-b-1.test/x/y/z.html?k=1", "http://www.c-d-2.test/"])
def test_odd_spellings(url: str, base: str, number: int) -> None:
    assert canonical(html.unescape(odd_spelling(url, base, number)), base) == url


def test_the_body_has_the_links_and_marks_that_the_answer_tells() -> None:
    kinds = Counter[Kind]()
    unfollowed = 0
    for url in PAGES:
        answer = HOSTILE.answer(url, 9)
        if answer.status != 200 or answer.kind is Kind.FILE or kinds[answer.kind] >= 40:
            continue
        kinds[answer.kind] += 1
        body = answer.body
        if answer.kind is Kind.ENCODED:
            site = HOSTILE.site_at(url.split("/")[2])
            assert site is not None
            page = HOSTILE.pages.find(site, url.split("/")[2], "/" + url.split("/", 3)[3])
            assert page is not None
            body = body.decode(encoding_of(page.key).codec).encode()
        tree = LexborHTMLParser(body)
        anchors = [
            (node.attributes["href"], "nofollow" in (node.attributes.get("rel") or ""))
            for node in tree.css("a")
        ]
        links = answer.content.links()
        assert anchors == [(html.unescape(link.href), link.nofollow) for link in links]
        robots = tree.css_first("meta[name=robots]")
        said = (robots.attributes["content"] if robots else "") or dict(answer.headers(0)).get(
            "X-Robots-Tag", ""
        )
        assert said is not None
        assert answer.nofollow == ("nofollow" in said or said == "none")
        assert answer.noindex == ("noindex" in said or said == "none")
        assert [node.text() for node in tree.css("title")] != [""]
        followed = [] if answer.nofollow else [link.url for link in links if not link.nofollow]
        assert answer.links == list(dict.fromkeys(followed))
        unfollowed += sum(link.nofollow for link in links)
    assert unfollowed > 100
    assert set(kinds) == {Kind.PAGE, Kind.ENCODED, Kind.BUSY, Kind.STOPPED, Kind.CUT}


def test_gzip_is_the_same_body() -> None:
    compared = 0
    for url in PAGES[:400]:
        content = HOSTILE.answer(url, 9).content
        packed = content.gzipped()
        if packed is not None:
            compared += 1
            assert gzip.decompress(packed) == content.plain()
            assert len(packed) < len(content.plain()) / 2
    assert compared > 100


def test_every_kind_of_misbehaviour_is_there_and_answers_as_it_should() -> None:
    by_kind: dict[Kind, list[Answer]] = {}
    for url in PAGES:
        answer = HOSTILE.answer(url)
        by_kind.setdefault(answer.kind, []).append(answer)
    statuses = {kind: {answer.status for answer in found} for kind, found in by_kind.items()}
    redirects = {301, 302, 303, 307, 308}
    for kind in (Kind.INSIDE, Kind.OUTSIDE, Kind.CHAIN, Kind.LOOP):
        assert statuses[kind] <= redirects
        assert all(answer.location for answer in by_kind[kind])
    assert statuses[Kind.INSIDE] == redirects
    assert statuses[Kind.MISSING] == {404}
    assert statuses[Kind.GONE] == {410}
    assert statuses[Kind.FAILING] == {500}
    assert statuses[Kind.BUSY] == {429, 503}
    assert {answer.behaviour for answer in by_kind[Kind.STALLED]} == {Behaviour.STALL}
    assert {answer.behaviour for answer in by_kind[Kind.STOPPED]} == {Behaviour.STOP}
    assert {answer.behaviour for answer in by_kind[Kind.CUT]} == {Behaviour.CUT}
    assert {answer.behaviour for answer in by_kind[Kind.CLOSED]} == {Behaviour.CLOSE}
    types = {answer.content_type.partition(";")[0]: answer.body for answer in by_kind[Kind.FILE]}
    assert types["application/pdf"].startswith(b"%PDF-")
    assert types["image/png"].startswith(b"\x89PNG")
    assert set(types) >= {"application/json", "text/plain", "application/xml"}
    assert len({answer.content_type for answer in by_kind[Kind.ENCODED]}) >= 5


def test_a_location_may_be_relative_and_resolves_to_the_target() -> None:
    relative = 0
    for url in PAGES:
        answer = HOSTILE.answer(url)
        if answer.location:
            written = dict(answer.headers(0))["Location"]
            assert canonical(written, url) == answer.location
            relative += written.startswith("/")
    assert relative > 5


def follow(web: Web, url: str) -> list[str]:
    path = [url]
    while (target := web.answer(path[-1]).location) and target not in path:
        path.append(target)
    return [*path, target] if target else path


def test_chains_end_and_loops_do_not() -> None:
    chains = [url for url in PAGES if HOSTILE.answer(url).kind is Kind.CHAIN]
    loops = [url for url in PAGES if HOSTILE.answer(url).kind is Kind.LOOP]
    assert chains
    assert loops
    for url in chains:
        path = follow(HOSTILE, url)
        assert len(path) == 4
        assert HOSTILE.answer(path[-1]).status == 200
    for url in loops:
        assert follow(HOSTILE, url) == [url, f"{url};hop=1", url]


def test_busy_pages_answer_in_the_end_and_say_when() -> None:
    dates = seconds = 0
    for url in PAGES:
        if HOSTILE.answer(url).kind is not Kind.BUSY:
            continue
        tries = [HOSTILE.answer(url, attempt).status for attempt in range(5)]
        refused = tries.index(200)
        assert 1 <= refused <= 3
        assert set(tries[refused:]) == {200}
        after = dict(HOSTILE.answer(url).headers(1_800_000_000.0))["Retry-After"]
        if after.isdigit():
            seconds += 1
        else:
            dates += 1
            assert 1 <= parsedate_to_datetime(after).timestamp() - 1_800_000_000 <= 3
    assert dates > 0
    assert seconds > 0


def test_a_plain_web_answers_200_everywhere_and_is_reachable_in_few_clicks() -> None:
    web = Web(preset("plain", seed=1, sites=25, pages_mean=120, pages_max=3000, robots_rules=0))
    for index in range(web.spec.sites):
        site = web.site(index)
        depth = {site.home: 0}
        waiting = deque([site.home])
        while waiting:
            url = waiting.popleft()
            answer = web.answer(url)
            assert (answer.status, answer.behaviour) == (200, Behaviour.WHOLE)
            for target in answer.links:
                if web.site_at(target.split("/")[2]) is site and target not in depth:
                    depth[target] = depth[url] + 1
                    waiting.append(target)
        assert set(depth) == set(web.pages.urls(site, range(site.linked)))
        assert max(depth.values()) <= 2 + math.log(site.linked, web.spec.fanout)


def test_the_tree_alone_leads_to_every_page() -> None:
    spec = preset("plain", seed=1, sites=1, pages_mean=300, links_min=20, links_max=20)
    web = Web(spec)
    site = web.site(0)
    children = [
        url
        for number in range(site.hubs)
        for url in web.graph.draw(site, number, site.home).urls[: spec.fanout]
    ]
    assert set(children) >= set(web.pages.urls(site, range(1, site.linked)))
    assert site.hubs < site.linked / 4


def test_page_counts_have_the_mean_and_a_heavy_tail() -> None:
    web = Web(preset("plain", seed=2, sites=200_000, pages_mean=50, pages_max=10_000))
    counts = sorted(web.site(index).linked for index in range(0, 200_000, 10))
    assert sum(counts) / len(counts) == pytest.approx(50, rel=0.25)
    assert counts[len(counts) // 2] < 30
    assert counts[-1] > 2_000


def test_body_sizes_and_link_counts_are_as_asked() -> None:
    web = Web(preset("plain", seed=2, sites=300))
    pages = [web.home(index) for index in range(300)]
    mean = sum(len(web.answer(url).body) for url in pages) / len(pages)
    assert mean == pytest.approx(60_000, rel=0.1)
    assert {60 <= len(web.page_links(url)) <= 100 for url in pages} == {True}


def test_popular_sites_are_linked_to_more_often() -> None:
    web = Web(preset("plain", seed=2, sites=1000))
    targets = Counter[int]()
    for index in range(100):
        for url in web.links(web.home(index)):
            site = web.site_at(url.split("/")[2])
            assert site is not None
            if site.index != index:
                targets[site.index // 100] += 1
    assert targets[0] > 3 * targets[9]
    assert targets[9] > 50


def test_a_million_sites_cost_what_one_costs() -> None:
    web = Web(preset("mixed", sites=1_000_000))
    started = time.process_time()
    for index in range(0, 1_000_000, 1000):
        home = web.home(index)
        assert web.site_at(home.split("/")[2]) is web.site(index)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "host", ["", "x", "a.b", "no-such-1.test", "brisk-heron-zz.test", "heron--1.test", "1.2.3.4"]
)
def test_hosts_that_do_not_exist(host: str) -> None:
    assert HOSTILE.site_at(host) is None
    assert HOSTILE.answer(f"http://{host}/x").status == 404


def test_made_up_paths_are_missing() -> None:
    site = next(site for site in sites(HOSTILE) if site.behaviour is Behaviour.WHOLE)
    for path in ("x", "about/annual-report-1.htm", "about/nothing-1.html", "a-ffffffffffff", "%"):
        assert HOSTILE.answer(site.home + path).status == 404


def sites(web: Web) -> list[Site]:
    return [web.site(index) for index in range(web.spec.sites)]


def test_hosts_and_schemes_lead_to_the_proper_ones() -> None:
    for site in sites(HOSTILE):
        if site.behaviour is not Behaviour.WHOLE:
            continue
        answer = HOSTILE.answer(f"{site.scheme}://{site.other_host}/x?y")
        assert (answer.status, answer.location) == (301, f"{site.home}x?y")
        if site.scheme == "https":
            answer = HOSTILE.answer(f"http://{site.host}/")
            assert (answer.status, answer.location) == (301, site.home)
        else:
            answer = HOSTILE.answer(f"https://{site.host}/")
            assert answer.behaviour is Behaviour.NO_TLS
            assert not HOSTILE.allowed(f"https://{site.host}/")


def test_traps_go_on_and_can_be_switched_off() -> None:
    spec = preset("plain", seed=4, sites=30, trap_sites=1.0)
    web = Web(spec)
    assert {site.trap for site in sites(web)} == {Trap.CALENDAR, Trap.SESSION, Trap.GROWING}
    for site in sites(web)[:12]:
        inside = set(web.pages.urls(site, range(site.pages)))
        (entrance,) = [
            url for url in web.links(site.home) if url.startswith(site.home) and url not in inside
        ]
        seen = {entrance}
        url = entrance
        for _ in range(50):
            answer = web.answer(url)
            assert answer.kind is Kind.TRAP
            assert b"<a href=" in answer.body
            links = answer.content.links()
            assert all(canonical(html.unescape(at.href), url) == at.url for at in links)
            url = answer.links[-1]
            assert url not in seen
            seen.add(url)
    off = Web(preset("plain", seed=4, sites=30, trap_sites=1.0, traps=False))
    assert {site.trap for site in sites(off)} == {Trap.NONE}


def test_reachable_is_finite_allowed_and_follows_redirects() -> None:
    found = reachable(HOSTILE, [HOSTILE.home(index) for index in range(60)])
    assert all(HOSTILE.allowed(url) for url in found)
    for url in found:
        target = HOSTILE.answer(url).location
        assert not target or target in found or not HOSTILE.allowed(target)
    assert any(url.endswith(";hop=2") for url in found)
    assert any(not HOSTILE.allowed(url) for url in PAGES)


def test_some_pages_are_only_in_the_sitemap() -> None:
    web = Web(preset("plain", seed=5, sites=20, pages_mean=150, pages_max=3000, robots_rules=1))
    seeds = [web.home(index) for index in range(20)]
    by_links = reachable(web, seeds, sitemaps=False)
    with_sitemaps = pages_among(web, reachable(web, seeds))
    hidden = {
        url for site in sites(web) for url in web.pages.urls(site, range(site.linked, site.pages))
    }
    assert hidden
    assert with_sitemaps - by_links == hidden
    large = max(sites(web), key=lambda site: site.pages)
    index = web.answer(f"{large.home}sitemap.xml")
    assert b"<sitemapindex" in index.body
    part = web.answer(index.content.links()[1].url)
    assert b"<urlset" in gzip.decompress(part.body)


def test_wrong_specs_are_refused() -> None:
    for change in ({"sites": 0}, {"https": 1.5}, {"links_min": 0}, {"pages_mean": 0.5}):
        with pytest.raises(UsageError):
            preset("plain", **change)
    with pytest.raises(UsageError):
        preset("nice")
    assert preset("mixed", traps=False).traps is False
    assert WebSpec(links_min=1, links_max=2).fanout == 2
