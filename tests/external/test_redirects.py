"""Redirects of pages, by the real program over a real server: the cases of the Fetch standard one
by one, and that each hop is judged like any other URL."""

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mannerly.engine.redirects import MAX_REDIRECTS
from mannerly.store.read import open_store
from tests.external.playing import Asked, Asking, Host, Players, listening, names, page, port_of
from tests.external.robots_cases import always
from tests.programs import QUICK, arguments, mannerly

DEVIATIONS = {
    "no redirect: response kept": "a 3xx without Location is recorded, but no page is stored: what "
    "comes with it is a note for people, not what was asked for",
    "followed (Fetch limit 20)": f"a chain ends after {MAX_REDIRECTS} hops, each of which costs a "
    "visit and a delay",
}
"""Where a crawler does not do what a browser does, and why."""


class Row(NamedTuple):
    outcome: str
    status: int
    redirect_to: str
    detail: str


class Crawled(NamedTuple):
    asked: list[Asked]
    rows: dict[str, Row]
    """By URL without scheme and port."""
    pages: set[str]

    def paths(self, host: str) -> list[str]:
        """The pages that a host was asked for, in order."""
        asked = sorted(one for one in self.asked if one.host == host)
        return [one.path for one in asked if one.path != "/robots.txt"]


def crawl(hosts: dict[str, Host], seeds: list[str], directory: Path, *more: str) -> Crawled:
    """A crawl from `host/path` seeds."""
    listener = listening()
    port = port_of(listener)
    players = Players(hosts, [listener])
    for host in hosts.values():
        host.plays.setdefault("/robots.txt", always(404))
    lines = [f"http://{seed.replace('/', f':{port}/', 1)}\n" for seed in seeds]
    (directory / "seeds.txt").write_text("".join(lines))
    with names() as resolver:
        done = mannerly(
            "crawl", "--seed-file", str(directory / "seeds.txt"), "--data-dir",
            str(directory / "data"), *arguments(QUICK), "--resolver", resolver,
            "--allow-private-addresses", "--ports", str(port), *more,
        )  # fmt: skip
    players.close()
    assert done.returncode == 0, done.stderr
    with open_store(directory / "data") as store:
        rows = store.execute("SELECT url, outcome, status, redirect_to, detail FROM fetches")
        found = {_short(url, port): Row(*row) for url, *row in rows.fetchall()}
        pages = {_short(url, port) for (url,) in store.execute("SELECT url FROM pages").fetchall()}
    return Crawled(players.asked, found, pages)


def _short(url: str, port: int) -> str:
    return url.partition("://")[2].replace(f":{port}", "")


# -- the cases of others -----------------------------------------------------------------------


def cases_of(suites: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(
        (suites / "http" / "wpt_redirect_cases.json").read_text("utf-8")
    )
    return cases


def play(case: dict[str, Any]) -> Host:
    """A host that redirects from /start as the case says."""
    if "chain" in case:
        hops = int(case["chain"])
        steps = ["/start", *(f"/{hop}" for hop in range(1, hops)), "/top.txt"]
        return Host(
            {here: partial(Asking.redirect, location=there) for here, there in pairwise(steps)}
        )
    location = case.get("location_latin1", case.get("location"))
    if location is None:
        return Host({"/start": always(case["status"], b"Moved, but where?")})
    return Host({"/start": partial(Asking.redirect, location=location, status=case["status"])})


@pytest.fixture(scope="module")
def crawled(suites: Path, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    hosts = {f"case-{n}.test": play(case) for n, case in enumerate(cases_of(suites))}
    seeds = [f"{host}/start" for host in hosts]
    return crawl(hosts, seeds, tmp_path_factory.mktemp("cases"))


def does(crawled: Crawled, host: str) -> str:
    """What came of a case, in the suite's words where they fit."""
    paths = crawled.paths(host)
    row = crawled.rows[f"{host}/start"]
    assert paths[0] == "/start"
    assert row.outcome == "redirected"
    if len(paths) == 1:
        assert not row.redirect_to
        assert row.detail
        return "error"
    last = crawled.rows[f"{host}{paths[-1]}"]
    if last.outcome == "fetched":
        assert f"{host}{paths[-1]}" in crawled.pages
        return "followed, 200"
    return f"stopped after {len(paths) - 1}"


def test_redirect_cases_one_by_one(
    suites: Path, crawled: Crawled, record_property: Callable[[str, object], None]
) -> None:
    different: set[str] = set()
    for n, case in enumerate(cases_of(suites)):
        host = f"case-{n}.test"
        did = does(crawled, host)
        record_property(f"{n} {case}", did)
        if "expect_url_suffix" in case:
            assert crawled.paths(host) == ["/start", f"/{case['expect_url_suffix']}"], case
            assert did == "followed, 200"
        elif case["expect"].startswith("error") and "chain" in case:
            assert did == f"stopped after {MAX_REDIRECTS}"
            assert MAX_REDIRECTS >= 5  # the least that the suite asks of a crawler
        elif did != case["expect"]:
            different.add(case["expect"])
    # Every deviation is one that is known, and none is listed that is no longer one.
    assert different == DEVIATIONS.keys()
    assert len(cases_of(suites)) == 34


# -- each hop is judged like any other URL -----------------------------------------------------


def test_each_hop_is_judged_like_a_new_url(tmp_path: Path) -> None:
    targets = {
        "disallowed": "/closed",
        "elsewhere": "http://other.test:{port}/in",
        "barred": "http://other.test:{port}/closed",
        "to-excluded": "http://excluded.test:{port}/in",
        "closed-port": "http://other.test:9/in",
        "itself": "/start",
        "trap": "/a" * 50,
    }

    def redirect(asking: Asking, target: str) -> None:
        port = asking.connection.getsockname()[1]
        asking.redirect(target.format(port=port))

    rules = always(200, b"User-agent: *\nDisallow: /closed\n")
    hosts = {
        f"{name}.test": Host({"/start": partial(redirect, target=target), "/robots.txt": rules})
        for name, target in targets.items()
    }
    hosts["other.test"] = Host({"/in": page, "/robots.txt": rules})
    hosts["excluded.test"] = Host()
    (tmp_path / "exclude.txt").write_text("excluded.test\n")
    crawled = crawl(
        hosts, [f"{name}.test/start" for name in targets], tmp_path,
        "--exclude-file", str(tmp_path / "exclude.txt"), "--max-tries", "1",
    )  # fmt: skip
    assert all(crawled.rows[f"{name}.test/start"].outcome == "redirected" for name in targets)
    assert crawled.rows["disallowed.test/closed"].outcome == "disallowed"
    assert crawled.rows["other.test/closed"].outcome == "disallowed"
    assert crawled.rows["other.test/in"].outcome == "fetched"
    assert crawled.rows["other.test:9/in"].outcome == "address_refused"
    followed = {"disallowed", "barred", "elsewhere", "closed-port"}
    for name in targets:
        row = crawled.rows[f"{name}.test/start"]
        assert row.redirect_to
        assert bool(row.detail) == (name not in followed), name
    asked = sorted((one.host, one.path) for one in crawled.asked if one.path != "/robots.txt")
    assert asked == sorted(
        [("other.test", "/in"), *((f"{name}.test", "/start") for name in targets)]
    )


def test_a_chain_is_bounded_whatever_it_does_on_the_way(tmp_path: Path) -> None:
    """Over two sites in turn, and with an answer at each hop that makes us come again."""

    def endless(asking: Asking) -> None:
        if asking.times == 0:
            asking.answer(500)
            return
        port = asking.connection.getsockname()[1]
        hop = int(asking.path.rpartition("/")[2]) + 1
        other = {"ping.test": "pong.test", "pong.test": "ping.test"}[asking.host]
        asking.redirect(f"http://{other}:{port}/x/{hop}")

    class Endless(Host):
        def play(self, asking: Asking) -> None:
            if asking.path == "/robots.txt":
                asking.answer(404)
            else:
                endless(asking)

    crawled = crawl({"ping.test": Endless(), "pong.test": Endless()}, ["ping.test/x/0"], tmp_path)
    hops = sorted({int(one.path[3:]) for one in crawled.asked if one.path != "/robots.txt"})
    assert hops == list(range(MAX_REDIRECTS + 1))
    last = crawled.rows[f"{['ping', 'pong'][MAX_REDIRECTS % 2]}.test/x/{MAX_REDIRECTS}"]
    assert last.outcome == "redirected"
    assert last.detail == f"more than {MAX_REDIRECTS} redirects in a row"
