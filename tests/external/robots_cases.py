"""The behaviours of `rfc9309_fetch_cases.json`, played: for each id the hosts, the seeds, and how
to judge from the server's log and the crawl's own records."""

import contextlib
import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from tests.external.playing import RULES, Asked, Asking, Host, Play

OBEYED = {"/open": "fetched", "/closed": "disallowed"}
ALLOWED = {"/open": "fetched", "/closed": "fetched"}
UNREACHABLE = {"/open": "robots_unreachable", "/closed": "robots_unreachable"}
KIB = 1024
LATE_S = 2.0
MAX_HOPS = 5


class Ports(NamedTuple):
    one: int
    two: int
    closed: int
    """Nobody listens there."""


@dataclass
class Crawled:
    """What came of a crawl over the played hosts."""

    asked: list[Asked]
    outcomes: dict[str, str]
    """By URL, from the crawl's own records."""

    def of(self, host: str) -> list[Asked]:
        return sorted(one for one in self.asked if one.host == host)

    def pages(self, host: str) -> list[Asked]:
        return [one for one in self.of(host) if not is_robots(one)]

    def robots(self, host: str) -> list[Asked]:
        return [one for one in self.of(host) if is_robots(one)]

    def outcomes_of(self, host: str) -> dict[str, str]:
        """By path; of a host that is only seeded with one scheme and port."""
        found = {}
        for url, outcome in self.outcomes.items():
            name, _, path = url.partition("://")[2].partition("/")
            if name.partition(":")[0] == host:
                found["/" + path] = outcome
        return found


def is_robots(one: Asked) -> bool:
    return one.path == "/robots.txt" or one.path.startswith("/hop/")


Judge = Callable[[Crawled], None]


@dataclass
class Case:
    expect: str
    """The suite's words; a change of them must be looked at."""
    hosts: dict[str, Host] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    judges: list[Judge] = field(default_factory=list)


def always(status: int, body: bytes = b"", *headers: str) -> Play:
    return lambda asking: asking.answer(status, body, *headers)


def at_first(times: int, play: Play, then: Play) -> Play:
    return lambda asking: (play if asking.times < times else then)(asking)


def judge_outcomes(host: str, outcomes: dict[str, str], crawled: Crawled) -> None:
    """The records say so, and the server saw exactly the pages that were fetched."""
    assert crawled.outcomes_of(host) == outcomes
    fetched = sorted(path for path, outcome in outcomes.items() if outcome == "fetched")
    assert sorted(one.path for one in crawled.pages(host)) == fetched


def simple(
    case_id: str, ports: Ports, play: Play, outcomes: dict[str, str], expect: str, *more: Judge
) -> Case:
    """One host with a robots.txt that behaves in one way, and two pages."""
    host = f"{case_id}.test"
    return Case(
        expect,
        {host: Host({"/robots.txt": play})},
        [f"http://{host}:{ports.one}{path}" for path in outcomes],
        [partial(judge_outcomes, host, outcomes), *more],
    )


def bodies(ports: Ports) -> dict[str, Case]:
    ours = b"User-agent: mannerly\nDisallow: /closed\n\nUser-agent: *\nDisallow: /\n"
    html = b"<html><title>Not found</title>Disallow: /open? No: not found.</html>"

    def named(crawled: Crawled) -> None:
        agents = {one.user_agent for one in crawled.of("ua-product-token.test")}
        assert len(agents) == 1
        assert agents.pop().startswith("mannerly/")

    def bounded(host: str, crawled: Crawled) -> None:
        assert all(500 * KIB < one.sent < 8_000 * KIB for one in crawled.robots(host))

    def large(asking: Asking) -> None:
        # The limit cuts `Allow: /closed` so that what is left would allow it.
        cut = b"\nAllow: /closed"
        start = RULES + b"#" * (500 * KIB - len(RULES) - len(cut)) + cut + b"/but-only-this\n"
        asking.send(b"HTTP/1.1 200 OK\r\nContent-Length: 11000000\r\n\r\n" + start)
        asking.send(b"Disallow: /open\n")
        for _ in range(100):
            asking.send(b"# more\n" * 15_000)

    def endless(asking: Asking) -> None:
        asking.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + RULES)
        while True:
            asking.send(b"# and so on\n" * 1000)

    ids = ["200", "200-html", "200-empty", "bom", "ua-product-token", "robots-allowed-itself"]
    plays = [always(200, RULES), always(200, html, "Content-Type: text/html"), always(200),
             always(200, b"\xef\xbb\xbf" + RULES), always(200, ours),
             always(200, b"User-agent: *\nDisallow: /\n")]  # fmt: skip
    barred = dict.fromkeys(ALLOWED, "disallowed")
    outcomes = [OBEYED, ALLOWED, ALLOWED, OBEYED, OBEYED, barred]
    words = ["rules obeyed", "parsed as text; no rules -> allow", "allow", "first group obeyed",
             "our group used, not *", "/robots.txt still fetched"]  # fmt: skip
    cases = {
        case_id: simple(case_id, ports, play, outcome, expect)
        for case_id, play, outcome, expect in zip(ids, plays, outcomes, words, strict=True)
    }
    cases["ua-product-token"].judges.append(named)
    cases["robots-allowed-itself"].judges.append(
        lambda crawled: _equal(len(crawled.robots("robots-allowed-itself.test")), 1)
    )
    cases["size-500k"] = simple(
        "size-500k", ports, large, OBEYED,
        "rules in the first 500 KiB obeyed; memory bounded", partial(bounded, "size-500k.test"),
    )  # fmt: skip
    cases["size-endless"] = simple(
        "size-endless", ports, endless, OBEYED,
        "cut at the limit, rules so far obeyed", partial(bounded, "size-endless.test"),
    )  # fmt: skip
    return cases


def statuses(ports: Ports) -> dict[str, Case]:
    cases = {
        f"status-{status}": simple(
            f"status-{status}", ports, always(status, RULES), ALLOWED, "allow all"
        )
        for status in (400, 401, 403, 404, 410, 418, 451)
    }
    for status in (429, 500, 502, 503, 504, 599):
        case_id = f"status-{status}"
        expect = "complete disallow until it answers"
        if status == 429:
            expect = "disallow for now, retry later"
        host = f"{case_id}.test"
        # Twice the status, then the rules; and a host that never gets over it.
        play = at_first(2, always(status), always(200, RULES))
        case = simple(case_id, ports, play, OBEYED, expect, partial(_third_robots_first, host))
        never = simple(f"{case_id}-never", ports, always(status), UNREACHABLE, expect)
        case.hosts |= never.hosts
        case.seeds += never.seeds
        case.judges += never.judges
        cases[case_id] = case
    return cases


def _third_robots_first(host: str, crawled: Crawled) -> None:
    robots = crawled.robots(host)
    assert len(robots) == 3
    assert all(one.start >= robots[2].end for one in crawled.pages(host))


def unreachable(ports: Ports) -> dict[str, Case]:
    expect = "complete disallow (fail closed); no page of the host fetched"
    packed = gzip.compress(RULES + b"# and more\n" * 1000)

    def slow(asking: Asking) -> None:
        asking.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        asking.connection.settimeout(1.0)
        for octet in RULES:
            asking.send(bytes([octet]))
            with contextlib.suppress(TimeoutError):
                if not asking.connection.recv(1):
                    return

    def cut(asking: Asking) -> None:
        asking.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + RULES)
        asking.connection.close()

    def bad_chunk(asking: Asking) -> None:
        asking.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nUser-\r\nzz\r\n")
        asking.connection.close()

    def damaged(asking: Asking) -> None:
        half = packed[: len(packed) // 2] + b"\x00" * 20 + packed[len(packed) // 2 :]
        asking.answer(200, half, "Content-Encoding: gzip")

    plays: dict[str, Play] = {
        "timeout": Asking.silence, "reset": Asking.reset, "slow": slow, "truncated": cut,
        "bad-chunk": bad_chunk, "gzip-broken": damaged,
    }  # fmt: skip
    cases = {
        f"unreachable-{name}": simple(f"unreachable-{name}", ports, play, UNREACHABLE, expect)
        for name, play in plays.items()
    }
    for name, url, outcome in [
        ("refused", f"http://unreachable-refused.test:{ports.closed}", "connect_failed"),
        ("dns-fail", f"http://unreachable-dns-fail.test:{ports.one}", "dns_trouble"),
        ("tls-bad", f"https://unreachable-tls-bad.test:{ports.one}", "tls_failed"),
    ]:
        seeds = [f"{url}{path}" for path in ALLOWED]
        outcomes = dict.fromkeys(ALLOWED, outcome)
        judge = partial(judge_outcomes, f"unreachable-{name}.test", outcomes)
        cases[f"unreachable-{name}"] = Case(expect, {}, seeds, [judge])
    return cases


def redirects(ports: Ports) -> dict[str, Case]:
    cases = {}
    for hops in range(1, MAX_HOPS + 1):
        cases[f"redirect-{hops}"] = _chain(
            f"redirect-{hops}", ports, hops, OBEYED, "rules obeyed, for the first host only"
        )
    cases["redirect-6"] = _chain(
        "redirect-6", ports, MAX_HOPS + 1, ALLOWED,
        "either obeyed or treated as unavailable (allow); documented",
    )  # fmt: skip
    cases["redirect-loop"] = simple(
        "redirect-loop", ports, lambda asking: asking.redirect("/robots.txt"), ALLOWED,
        "treated as unavailable or unreachable; bounded",
        lambda crawled: _equal(len(crawled.robots("redirect-loop.test")), 1 + MAX_HOPS),
    )  # fmt: skip
    cases["redirect-page-target"] = simple(
        "redirect-page-target", ports, always(200, RULES), {"/open": "redirected"},
        "target not fetched",
    )  # fmt: skip
    host = "redirect-page-target.test"
    cases["redirect-page-target"].hosts[host].plays["/open"] = partial(
        Asking.redirect, location="/closed"
    )
    cases["redirect-page-target"].judges = [_target_not_fetched]
    return cases


def _target_not_fetched(crawled: Crawled) -> None:
    host = "redirect-page-target.test"
    assert [one.path for one in crawled.pages(host)] == ["/open"]
    assert crawled.outcomes_of(host) == {"/open": "redirected", "/closed": "disallowed"}


def _chain(case_id: str, ports: Ports, hops: int, outcomes: dict[str, str], expect: str) -> Case:
    """Two chains to the same rules: one inside the host, one that is on another site with each hop.
    The last site is crawled, too: the rules are not its own."""
    inside, first = f"{case_id}-inside.test", f"{case_id}.test"
    sites = [first, *(f"{case_id}-{hop}.test" for hop in range(1, hops + 1))]
    case = Case(expect, {host: Host() for host in (*sites, inside)})

    def place(host: str, hop: int) -> str:
        return f"http://{host}:{ports.one}/hop/{hop}"

    for hop in range(hops):
        here = "/robots.txt" if hop == 0 else f"/hop/{hop}"
        case.hosts[inside].plays[here] = partial(Asking.redirect, location=f"/hop/{hop + 1}")
        case.hosts[sites[hop]].plays[here] = partial(
            Asking.redirect, location=place(sites[hop + 1], hop + 1)
        )
    case.hosts[inside].plays[f"/hop/{hops}"] = always(200, RULES)
    case.hosts[sites[-1]].plays[f"/hop/{hops}"] = always(200, RULES)
    case.hosts[sites[-1]].plays["/robots.txt"] = always(404)
    for host, expected in [(inside, outcomes), (first, outcomes), (sites[-1], ALLOWED)]:
        case.seeds += [f"http://{host}:{ports.one}{path}" for path in expected]
        case.judges.append(partial(judge_outcomes, host, expected))
    followed = min(hops, MAX_HOPS)
    case.judges.append(lambda crawled: _equal(len(crawled.robots(inside)), 1 + followed))
    return case


def _equal(one: object, other: object) -> None:
    assert one == other


def manners(ports: Ports) -> dict[str, Case]:
    def late(asking: Asking) -> None:
        threading.Event().wait(LATE_S)
        asking.answer(200, RULES)

    def none_before(crawled: Crawled) -> None:
        host = "no-page-before-robots.test"
        (robots,) = crawled.robots(host)
        assert robots.end - robots.start >= LATE_S
        assert all(one.start >= robots.end for one in crawled.pages(host))

    def gaps(crawled: Crawled) -> None:
        starts = [one.start for one in crawled.of("crawl-delay.test")]
        assert len(starts) == 4
        assert all(after - before >= 2 for before, after in pairwise(starts))

    many = {f"/page/{n}": "fetched" for n in range(50)}
    three = {f"/page/{n}": "fetched" for n in range(3)}
    return {
        "no-page-before-robots": simple(
            "no-page-before-robots", ports, late, OBEYED,
            "zero page requests on that host before the answer (server log order)", none_before,
        ),
        "one-fetch": simple(
            "one-fetch", ports, always(200, RULES), many,
            "exactly one robots.txt request per cache lifetime (or per worker; documented)",
            lambda crawled: _equal(len(crawled.robots("one-fetch.test")), 1),
        ),
        "crawl-delay": simple(
            "crawl-delay", ports, always(200, b"User-agent: *\nCrawl-delay: 2\n"), three,
            "gap >= 2 s between request starts", gaps,
        ),
        "sitemap-lines": simple(
            "sitemap-lines", ports, always(200, SITEMAPS), OBEYED, "all read",
        ),
        "per-port": _per_port(ports),
    }  # fmt: skip


SITEMAPS = (
    b"Sitemap: http://sitemap-lines.test/1.xml\nUser-agent: other\nDisallow: /open\n"
    b"sitemap: http://sitemap-lines.test/2.xml\n" + RULES + b"SITEMAP: http://cdn.test/3.xml\n"
)


def _per_port(ports: Ports) -> Case:
    other = b"User-agent: *\nDisallow: /open\n"
    origins = [f"http://per-port.test:{ports.one}", f"http://per-port.test:{ports.two}",
               f"https://per-port.test:{ports.one}"]  # fmt: skip
    allowed = {f"{origins[0]}/open", f"{origins[1]}/closed", f"{origins[2]}/open",
               f"{origins[2]}/closed"}  # fmt: skip

    def judge(crawled: Crawled) -> None:
        assert {one.url for one in crawled.pages("per-port.test")} == allowed
        assert {one.url for one in crawled.robots("per-port.test")} == {
            f"{origin}/robots.txt" for origin in origins
        }

    hosts = {
        "per-port.test": Host({"/robots.txt": always(200, RULES)}),
        f"per-port.test:{ports.two}": Host({"/robots.txt": always(200, other)}),
        "https://per-port.test": Host({"/robots.txt": always(404)}),
    }
    seeds = [f"{origin}{path}" for origin in origins for path in ALLOWED]
    return Case("each authority has its own file", hosts, seeds, [judge])


def all_at_once(ports: Ports) -> dict[str, Case]:
    """What one crawl can show."""
    return {
        **bodies(ports),
        **statuses(ports),
        **unreachable(ports),
        **redirects(ports),
        **manners(ports),
    }


TTL_S = 1.5
PAGES = [f"/page/{n}" for n in range(12)]


def over_time(ports: Ports) -> dict[str, Case]:
    """What needs a cache lifetime to pass; a day is `TTL_S` here."""
    cases = {
        "was-ok-then-500": (
            at_first(1, always(200, RULES), always(500)),
            "last good copy may be used (Google: up to 30 days), else disallow",
            _no_page_once_stale,
        ),
        "cache-24h": (
            at_first(1, always(200, RULES), always(200, b"User-agent: *\nDisallow: /page\n")),
            "a copy older than 24 h is not used while reachable",
            _new_rules_once_stale,
        ),
        "cache-control": (
            always(200, RULES, "Cache-Control: max-age=60"),
            "may be honoured",
            _asked_again_once_stale,
        ),
    }
    return {
        case_id: Case(
            expect,
            {f"{case_id}.test": Host({"/robots.txt": play})},
            [f"http://{case_id}.test:{ports.one}{path}" for path in PAGES],
            [judge],
        )
        for case_id, (play, expect, judge) in cases.items()
    }


SLACK_S = 0.7
"""From the end of the answer, as the server sees it, to the end of a copy's life, as we count it;
and from the decision to the request."""


def _no_page_once_stale(crawled: Crawled) -> None:
    host = "was-ok-then-500.test"
    robots, pages = crawled.robots(host), crawled.pages(host)
    assert len(robots) > 1
    assert 1 < len(pages) < len(PAGES)
    assert all(one.start < robots[0].end + TTL_S + SLACK_S for one in pages)
    outcomes = sorted(crawled.outcomes_of(host).values())
    assert outcomes == ["fetched"] * len(pages) + ["robots_unreachable"] * (12 - len(pages))


def _new_rules_once_stale(crawled: Crawled) -> None:
    host = "cache-24h.test"
    robots, pages = crawled.robots(host), crawled.pages(host)
    assert len(robots) == 2
    assert robots[1].start - robots[0].end >= TTL_S
    assert 1 < len(pages) < len(PAGES)
    assert all(one.start < robots[1].start for one in pages)
    outcomes = sorted(crawled.outcomes_of(host).values())
    assert outcomes == ["disallowed"] * (12 - len(pages)) + ["fetched"] * len(pages)


def _asked_again_once_stale(crawled: Crawled) -> None:
    """Not honoured: a copy lives as long as `--robots-ttl` says, not longer and not shorter."""
    robots = crawled.robots("cache-control.test")
    assert len(robots) > 1
    for before, after in pairwise(robots):
        assert after.start - before.end >= TTL_S - SLACK_S
    assert set(crawled.outcomes_of("cache-control.test").values()) == {"fetched"}
