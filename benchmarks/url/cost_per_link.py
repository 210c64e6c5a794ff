"""What does a link cost between a page and the frontier, and a text to be known again? Prints one
JSON line.

    python benchmarks/url/cost_per_link.py

CPU of one process, in microseconds: the best of several rounds for each page (or as many single
items), since on a busy machine no round as a whole is undisturbed. Links are those of pages as they
are: two thirds to the same site, a third with a query, some of them with tracking parameters, odd
ones among them; each page has its own base. `join_only_us` is Ada alone: compare the other figures
with it rather than with those of another machine or hour.

`link_us` is join, canonical form, parameters, hash and site key, as every link of every page has
it, `sieve_us` the whole way to the frontier: the same with trap rules, query variants and guard.
`simhash_10kb_us` is what a text of 10 kB costs to be compared with others, `meet_us` the comparison
with 4,000 pages of the same site.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import can_ada

from mannerly.config import build
from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import Sieve
from mannerly.engine.twins import Twins
from mannerly.model import QueuedUrl
from mannerly.parse.simhash import TextPrint, text_print
from mannerly.url import Exclusions, ParameterRules, SiteKey, canonical, host_of, resolve
from mannerly.url.patterns import pattern_of

T = TypeVar("T")
ROUNDS = 60
PAGES = 100
LINKS = 80
QUERIES = ("?id={n}", "?page={n}&sort=asc", "?utm_source=feed&utm_medium=rss&p={n}", "?q=a+b&s={n}")


def words() -> list[str]:
    chance = random.Random(1)
    return ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(3000)]


def pages() -> list[tuple[str, list[str]]]:
    chance = random.Random(2)
    known = words()

    def link() -> str:
        path = "/".join(chance.choices(known, k=chance.randint(1, 4)))
        if chance.random() < 0.33:
            path += chance.choice(QUERIES).format(n=chance.randrange(10**6))
        shape = chance.random()
        if shape < 0.35:
            return f"https://www.{chance.choice(known)}.{chance.choice(('com', 'co.uk'))}/{path}"
        if shape < 0.95:
            return chance.choice(("/{}", "../{}", "{}", "/{}#part")).format(path)
        return chance.choice(("mailto:a@b.example", "//cdn.{}.net/x", "/a b/\u00fc", "#top"))

    return [
        (f"https://docs.site{n}.co.uk/3/library/page.html", [link() for _ in range(LINKS)])
        for n in range(PAGES)
    ]


def best_s(work: Callable[[T], object], items: Sequence[T], together: int) -> float:
    total = 0.0
    for start in range(0, len(items), together):
        part = items[start : start + together]
        best = float("inf")
        for _ in range(ROUNDS):
            started = time.process_time()
            for item in part:
                work(item)
            best = min(best, time.process_time() - started)
        total += best
    return total


def _join(page: tuple[str, list[str]]) -> None:
    base = can_ada.parse(page[0])
    for href in page[1]:
        str((base + href).href)


def main() -> None:
    given, key, rules = pages(), SiteKey(), ParameterRules()
    plan = EnginePlan.of(build({"email": "bench@example.org"}), 10)
    sieve = Sieve(plan, key, Exclusions())
    figures: dict[str, float] = {"links": PAGES * LINKS}

    def report(name: str, work: Callable[[T], object], items: Sequence[T], count: int) -> None:
        together = 1 if count > len(items) else LINKS
        figures[f"{name}_us"] = round(best_s(work, items, together) / count * 1e6, 2)

    def whole_way(page: tuple[str, list[str]]) -> None:
        sieve.links(sieve.resolve(*page), QueuedUrl(page[0], 1, 1, 20, 1, 2, 0, 0))

    links = [href for _, hrefs in given for href in hrefs if ":" not in href[:12]]
    urls = [canonical(href, given[0][0]) for href in links]
    with_query = [url for url in urls if "?" in url]
    report("join_only", _join, given, PAGES * LINKS)
    report("link", lambda page: resolve(*page, key, parameters=rules), given, PAGES * LINKS)
    report("sieve", whole_way, given, PAGES * LINKS)
    report("one_by_one", lambda href: canonical(href, given[0][0]), links, len(links))
    report("strip", rules.strip, with_query, len(with_query))
    report("pattern", pattern_of, urls, len(urls))
    hosts = [host_of(url) for url in urls]
    report("site_key", key.site_of, hosts, len(hosts))

    chance = random.Random(3)
    known = words()
    texts = [" ".join(chance.choices(known, k=1550)) for _ in range(50)]
    figures["text_bytes"] = sum(map(len, texts)) // len(texts)
    figures["simhash_10kb_us"] = round(best_s(text_print, texts, 1) / len(texts) * 1e6, 1)
    twins = Twins()
    for n in range(4_000):
        twins.meet("site", n, n, TextPrint(chance.getrandbits(63), n))
    met = [TextPrint(chance.getrandbits(63), -n) for n in range(500)]
    report("meet", lambda one: twins.meet("site", -1, -1, one, remember=False), met, len(met))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
