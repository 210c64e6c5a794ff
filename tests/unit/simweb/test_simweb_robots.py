"""The verdicts that the generator knows are what its robots.txt files say.

The check is a small reader of its own, written from RFC 9309, so that generator and verdict are
compared by a third party.
"""

import re

from mannerly.simweb import Behaviour, Kind, Web, preset
from mannerly.simweb.robots import OURS, verdict
from mannerly.simweb.site import RobotsKind

WEB = Web(preset("hostile", seed=11, sites=200, pages_mean=15, pages_max=200, traps=False))


def rules_for(text: str, agent: str) -> list[tuple[str, str]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    agents: list[str] = []
    ruled = False
    for raw in text.splitlines():
        key, colon, value = raw.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if ruled:
                agents, ruled = [], False
            agents.append(value.lower())
            groups.setdefault(value.lower(), [])
        elif key in {"allow", "disallow"}:
            ruled = True
            for name in agents:
                groups[name].append((key, value))
    return groups.get(agent, groups.get("*", []))


def permits(rules: list[tuple[str, str]], path: str) -> bool:
    best = (0, True)
    for key, value in rules:
        pattern = re.escape(value).replace(r"\*", ".*").replace(r"\$", "$")
        if value and re.match(pattern, path):
            best = max(best, (len(value), key == "allow"))
    return best[1]


def fetch_robots(url: str) -> tuple[int, str]:
    answer = WEB.answer(url)
    for _ in range(5):
        if not answer.location:
            break
        answer = WEB.answer(answer.location)
    # What lies beyond the first half megabyte is about paths that do not exist.
    return answer.status, answer.body.decode().partition("Disallow: /beyond/")[0]


def test_verdicts_agree_with_the_files() -> None:
    met = set()
    refused = 0
    for index in range(WEB.spec.sites):
        site = WEB.site(index)
        if site.behaviour is not Behaviour.WHOLE:
            assert not WEB.allowed(site.home)
            continue
        for host in site.hosts:
            met.add(site.robots_of(host))
            status, text = fetch_robots(f"{site.scheme}://{host}/robots.txt")
            rules = rules_for(text, OURS) if status == 200 else []
            pages = WEB.pages.urls(site, range(site.pages))
            paths = ["/" + url.split("/", 3)[3] for url in pages if url.split("/")[2] == host]
            paths += [
                "/",
                "/private/x",
                "/private/open/x.print",
                "/a.print",
                "/a.print?b",
                "/b?sort=",
            ]
            for path in paths:
                expected = status < 500 and permits(rules, path)
                assert WEB.allowed(f"{site.scheme}://{host}{path}") == expected, (host, path)
                refused += not expected
    assert met == set(RobotsKind)
    assert refused > 100


def test_linked_pages_are_disallowed_and_excepted() -> None:
    web = Web(preset("plain", seed=11, sites=1, pages_mean=500, pages_max=1000, robots_rules=1))
    site = web.site(0)
    paths = [url for url in web.pages.urls(site, range(site.linked)) if "/private/" in url]
    assert {web.allowed(url) for url in paths} == {True, False}
    assert any("/private/open/" in url for url in paths)
    assert any("/private/open/" not in url for url in paths)
    assert not verdict(RobotsKind.RULES, "/private/x")
    assert verdict(RobotsKind.RULES, "/private/open/x")
    assert verdict(RobotsKind.NONE, "/private/x")


def test_every_kind_of_file() -> None:
    seen = {}
    for index in range(WEB.spec.sites):
        site = WEB.site(index)
        if site.behaviour is Behaviour.WHOLE:
            url = f"{site.origin}/robots.txt"
            seen[site.robots[0]] = (url, WEB.answer(url))
    answers = {kind: answer for kind, (_, answer) in seen.items()}
    assert all(answer.kind is Kind.ROBOTS for answer in answers.values())
    assert answers[RobotsKind.NONE].status == 404
    assert answers[RobotsKind.FAILING].status == 503
    assert answers[RobotsKind.DENIED].status in {401, 403}
    assert answers[RobotsKind.EMPTY].body == b""
    assert answers[RobotsKind.SOFT].content_type.startswith("text/html")
    assert len(answers[RobotsKind.HUGE].body) > 500 * 1024
    assert answers[RobotsKind.MOVED].location
    url, answer = seen[RobotsKind.DELAYS]
    assert f"Crawl-delay: {WEB.crawl_delay_s(url):g}\n".encode() in answer.body
    assert WEB.crawl_delay_s(url) >= 1
    assert WEB.crawl_delay_s(seen[RobotsKind.NONE][0]) == 0
    url, answer = seen[RobotsKind.RULES]
    assert f"Sitemap: {WEB.sitemap(url)}\n".encode() in answer.body
