"""How robots.txt is fetched (RFC 9309, 2.3 to 2.5): every behaviour of the suite, played by a real
server to the real program, judged from the server's log and the crawl's own records.

Two crawls show all of it, one more each what needs another world: a private address that must not
be connected to, a kill. A day is compressed by `--robots-ttl`; that its default is a day is a test
of the gate (tests/unit/politeness/test_gate.py).
"""

import json
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import NewUrl
from mannerly.politeness.robots import parse_robots
from mannerly.store.read import open_store
from mannerly.url import SiteKey, url_hash
from tests.external import robots_cases
from tests.external.playing import (
    Asked,
    Asking,
    Host,
    Players,
    failing_dns,
    listening,
    names,
    page,
    port_of,
)
from tests.external.robots_cases import Case, Crawled, Ports, always
from tests.programs import QUICK, arguments, mannerly, start

DELAY_S = 0.1
OPTIONS = {
    **QUICK,
    "--delay": f"{DELAY_S}s",
    "--retry-delay": "200ms",
    "--retry-ceiling": "1s",
    "--crawl-delay-ceiling": "10s",
    "--visit-timeout": "3500ms",
    "--max-tries": "4",
    "--max-failures": "20",
    "--max-workers": "100",
}
ONE_BY_ONE = "redirect-private"
"""Played in a network of its own: `test_no_connection_to_a_private_address`."""
IDS = sorted([*robots_cases.all_at_once(Ports(1, 2, 3)), *robots_cases.over_time(Ports(1, 2, 3))])


@contextmanager
def playing(make: Callable[[Ports], dict[str, Case]]) -> Iterator[tuple[Players, Ports, list[str]]]:
    """The hosts of the cases at work: the server, its ports, and the words that lead there."""
    with socket.socket() as closed, failing_dns() as failing:
        closed.bind(("127.0.0.1", 0))
        listeners = [listening(), listening()]
        ports = Ports(port_of(listeners[0]), port_of(listeners[1]), closed.getsockname()[1])
        hosts = {name: host for case in make(ports).values() for name, host in case.hosts.items()}
        players = Players(hosts, listeners)
        with names(f"--server=/unreachable-dns-fail.test/127.0.0.1#{failing}") as resolver:
            allowed = ",".join(map(str, ports))
            yield players, ports, ["--resolver", resolver, "--allow-private-addresses",
                                   "--ports", allowed]  # fmt: skip
        players.close()


def crawl(
    make: Callable[[Ports], dict[str, Case]], directory: Path, options: dict[str, str]
) -> Crawled:
    with playing(make) as (players, ports, words):
        seeds = [seed for case in make(ports).values() for seed in case.seeds]
        random.Random(1).shuffle(seeds)
        (directory / "seeds.txt").write_text("\n".join(seeds))
        done = mannerly(
            "crawl", "--seed-file", str(directory / "seeds.txt"), "--data-dir",
            str(directory / "data"), "--seeded-urls-only", *arguments(options), *words,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "finished: nothing is left to do" in done.stdout
    return Crawled(players.asked, outcomes_in(directory / "data"))


def outcomes_in(data: Path) -> dict[str, str]:
    with open_store(data) as store:
        return dict(store.execute("SELECT url, outcome FROM fetches").fetchall())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("at-once")


@pytest.fixture(scope="module")
def at_once(folder: Path) -> Crawled:
    return crawl(robots_cases.all_at_once, folder, OPTIONS)


@pytest.fixture(scope="module")
def over_time(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    options = {**OPTIONS, "--delay": "300ms", "--robots-ttl": f"{robots_cases.TTL_S}s",
               "--retry-delay": "100ms", "--max-tries": "2"}  # fmt: skip
    return crawl(robots_cases.over_time, tmp_path_factory.mktemp("over-time"), options)


def expectations(suites: Path) -> dict[str, str]:
    cases = json.loads((suites / "robots" / "rfc9309_fetch_cases.json").read_text("utf-8"))
    return {case["id"]: case["expect"] for case in cases}


def test_every_case_of_the_suite_is_played(suites: Path) -> None:
    assert sorted(expectations(suites)) == sorted([*IDS, ONE_BY_ONE])


@pytest.mark.parametrize("case_id", IDS)
def test_case(case_id: str, suites: Path, at_once: Crawled, request: pytest.FixtureRequest) -> None:
    crawled = at_once
    ports = Ports(*_ports_seen(at_once))
    case = robots_cases.all_at_once(ports).get(case_id)
    if case is None:
        crawled = request.getfixturevalue("over_time")
        case = robots_cases.over_time(ports)[case_id]
    assert case.expect == expectations(suites)[case_id]
    for judge in case.judges:
        judge(crawled)


def _ports_seen(crawled: Crawled) -> tuple[int, int, int]:
    """The ports of a crawl that is over, for the judges."""
    one = crawled.of("200.test")[0].port
    two = next(each.port for each in crawled.of("per-port.test") if each.port != one)
    return one, two, 0


def test_no_site_is_asked_early_whoever_redirects_to_it(at_once: Crawled) -> None:
    by_site: dict[str, list[Asked]] = {}
    for one in sorted(at_once.asked):
        by_site.setdefault(SiteKey().site_of(one.host), []).append(one)
    early = [
        (before.url, after.url, after.start - before.end)
        for asked in by_site.values()
        for before, after in pairwise(asked)
        if not one_visit(before, after) and after.start - before.end < DELAY_S
    ]
    assert early == []
    from_elsewhere = {
        one.host for one in at_once.asked if one.path.startswith("/hop/") and not inside(one.host)
    }
    assert len(from_elsewhere) == 1 + 2 + 3 + 4 + 5 + 5


def one_visit(before: Asked, after: Asked) -> bool:
    """robots.txt and the page after it are one visit, and so are the hops of a chain that stays on
    its host. Who comes for another's robots.txt makes a visit like any other."""
    if before.host != after.host or not robots_cases.is_robots(before):
        return False
    return inside(before.host) or not robots_cases.is_robots(after)


def inside(host: str) -> bool:
    return "inside" in host or "loop" in host


async def test_all_sitemap_lines_are_kept(at_once: Crawled, folder: Path) -> None:
    """They come with the robots record of the next lease."""
    seed = f"http://sitemap-lines.test:{at_once.of('sitemap-lines.test')[0].port}/another"
    frontier = SqliteFrontier(
        folder / "data" / "frontier.db",
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.Random(1),
    )
    async with frontier:
        await frontier.add([NewUrl("sitemap-lines.test", url_hash(seed), seed, 0, 0, 0, 0)])
        writer = await frontier.enlist("test")
        leased = await frontier.lease(writer, 1, ttl_s=1, urls_per_site=1)
    (lease,) = leased.leases
    (record,) = lease.robots
    assert parse_robots(record.body, "mannerly").sitemaps == (
        "http://sitemap-lines.test/1.xml",
        "http://sitemap-lines.test/2.xml",
        "http://cdn.test/3.xml",
    )


def barred(ports: Ports) -> dict[str, Case]:
    """Redirects that must not be followed."""
    cases = {}
    targets = {
        "scheme": "ftp://elsewhere.test/robots.txt",
        "port": f"http://elsewhere.test:{ports.two}/robots.txt",
        "excluded": f"http://excluded.test:{ports.one}/robots.txt",
        "nonsense": "http://[",
    }
    for name, target in targets.items():
        host = f"barred-{name}.test"

        def redirect(asking: Asking, target: str = target) -> None:
            asking.redirect(target)

        cases[name] = Case(
            "", {host: Host({"/robots.txt": redirect})}, [f"http://{host}:{ports.one}/open"]
        )
    return cases


def test_a_redirect_to_where_we_do_not_go_means_no(tmp_path: Path) -> None:
    (tmp_path / "exclude.txt").write_text("excluded.test\n")
    with playing(barred) as (players, ports, words):
        seeds = [seed for case in barred(ports).values() for seed in case.seeds]
        (tmp_path / "seeds.txt").write_text("\n".join(seeds))
        words[words.index("--ports") + 1] = str(ports.one)
        done = mannerly(
            "crawl", "--seed-file", str(tmp_path / "seeds.txt"), "--data-dir",
            str(tmp_path / "data"), "--exclude-file", str(tmp_path / "exclude.txt"),
            *arguments({**OPTIONS, "--max-tries": "2"}), *words,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert set(outcomes_in(tmp_path / "data").values()) == {"robots_unreachable"}
    assert {one.path for one in players.asked} == {"/robots.txt"}
    assert {one.host for one in players.asked} == {f"barred-{name}.test" for name in barred(ports)}


def test_no_connection_to_a_private_address(tmp_path: Path, suites: Path) -> None:
    """redirect-private. With the guard up nothing can be reached on 127.0.0.1, so this is a network
    of its own (a namespace) that has a public address and private ones, with a server on all."""
    words = expectations(suites)[ONE_BY_ONE]
    assert words == "no connection; unreachable -> disallow"
    command = ["unshare", "--map-root-user", "--net", sys.executable, "-m",
               "tests.external.private_web", str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["connected"] == [seen["public"]]
    assert {url for url in seen["asked"] if not url.endswith("/robots.txt")} == {
        "http://page.test:80/open"
    }
    by_robots = {f"http://by-{how}.test/open" for how in ("address", "metadata", "name")}
    assert outcomes_in(tmp_path / "data") == {
        **dict.fromkeys(by_robots, "robots_unreachable"),
        "http://page.test/open": "redirected",
        "http://10.0.0.1/page": "address_refused",
    }


def slow_host(_: Ports) -> dict[str, Case]:
    robots = always(200, b"User-agent: *\nCrawl-delay: 3\n")
    return {"slow": Case("", {"slow.test": Host({"/robots.txt": robots, "/open": page})})}


def test_a_kill_in_the_first_visit_does_not_bring_us_back_early(tmp_path: Path) -> None:
    """The site asks for more than the crawl's delay, and the process that knows it dies with its
    first page on the way."""
    with playing(slow_host) as (players, ports, words):
        (tmp_path / "seeds.txt").write_text(f"http://slow.test:{ports.one}/open\n")
        more = ["--data-dir", str(tmp_path / "data"), *arguments(OPTIONS), *words,
                "--checkpoint-interval", "100ms"]  # fmt: skip
        running = start("crawl", "--seed-file", str(tmp_path / "seeds.txt"), *more)
        players.wait_until(lambda: any(one.path == "/open" for one in players.asked))
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=20)
        done = mannerly("crawl", "--resume", *more)
        assert done.returncode == 0, done.stderr
        pages = [one for one in players.of("slow.test") if one.path == "/open"]
    # It may have been settled in the moment before the kill.
    assert len(pages) <= 2
    assert all(after.start - pages[0].start >= 3 for after in pages[1:])
    assert outcomes_in(tmp_path / "data") == {f"http://slow.test:{ports.one}/open": "fetched"}


def tagged(_: Ports) -> dict[str, Case]:
    """One host of pages that are not to be kept, or whose links are not to be followed."""
    names_of = {
        "header": ("", ["X-Robots-Tag: noindex"]),
        "ours": ("", ["X-Robots-Tag: otherbot: nofollow", "X-Robots-Tag: mannerly: noindex"]),
        "others": ("", ["X-Robots-Tag: otherbot: none"]),
        "meta": ("<meta name=Robots content=NOINDEX>", []),
        "meta-ours": ("<meta name=mannerly content=none>", []),
        "no-follow": ("<meta name=robots content=nofollow>", []),
    }
    plays = {}
    for name, (meta, headers) in names_of.items():
        body = f"<html>{meta}<body>Words <a href='/from/{name}'>and a link</a></body></html>"
        plays[f"/{name}"] = always(200, body.encode(), "Content-Type: text/html", *headers)
    return {"tagged": Case("", {"tagged.test": Host({"/robots.txt": always(404), **plays})})}


def test_what_is_not_to_be_kept_has_a_record_and_no_page(tmp_path: Path) -> None:
    with playing(tagged) as (players, ports, words):
        paths = [
            path for path in tagged(ports)["tagged"].hosts["tagged.test"].plays if "." not in path
        ]
        origin = f"http://tagged.test:{ports.one}"
        (tmp_path / "seeds.txt").write_text("\n".join(f"{origin}{path}" for path in paths))
        done = mannerly("crawl", "--seed-file", str(tmp_path / "seeds.txt"), "--data-dir",
                        str(tmp_path / "data"), *arguments(OPTIONS), *words)  # fmt: skip
        assert done.returncode == 0, done.stderr
    followed = {"/from/header", "/from/ours", "/from/others", "/from/meta"}
    outcomes = outcomes_in(tmp_path / "data")
    assert outcomes == {f"{origin}{path}": "fetched" for path in {*paths, *followed}}
    with open_store(tmp_path / "data") as store:
        pages = {url for (url,) in store.execute("SELECT url FROM pages").fetchall()}
    assert pages == {f"{origin}{path}" for path in {"/others", "/no-follow", *followed}}
    assert len(players.asked) == 1 + len(outcomes)
