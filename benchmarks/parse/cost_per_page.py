"""What does a page cost between its bytes and its links? Prints one JSON line.

    python -m benchmarks.parse.cost_per_page [folder of HTML files]

CPU of one process in milliseconds, scaled to 60 kB. All steps take turns, page by page, and the
best of several rounds counts for each page: what else runs on the machine then hits them alike.
`parse_only_ms` is Lexbor alone, and `whole_page_ratio` is the whole page (links, title, facts,
text; main text apart) over it: compare that, rather than figures of another machine or hour.
`whole_page_scaled_ms` is the whole page at the yardstick's price (`benchmarks.yardstick`).
`parse_alone_ms` is Lexbor in a loop with nothing else, as libraries are commonly measured: there
the C library gives each tree's memory back to the kernel and gets it anew, which can double it.

Without a folder, pages are generated (`pages.py`).
"""

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser

from benchmarks.parse.pages import SIZE, generated, read
from benchmarks.yardstick import pace
from mannerly import memory
from mannerly.parse import main_text, parse_html
from mannerly.parse.blocks import lines, marked
from mannerly.parse.charset import to_utf8
from mannerly.parse.crop import pieces
from mannerly.parse.defuse import defused
from mannerly.parse.html import MAX_TEXT, pieces_of
from mannerly.politeness.robots import parse_robots
from mannerly.url import SiteKey, resolve

T = TypeVar("T")
Step = Callable[[bytes], Callable[[], object]]
"""Prepares a page, and gives what is to be measured."""
ROUNDS = 7


def bounded(page: bytes) -> Callable[[], object]:
    whole = marked(page)
    return lambda: [defused(piece, whole.tags, whole.left_open) for piece in pieces(whole)]


def text_of(page: bytes) -> Callable[[], object]:
    tree = next(pieces_of(page)).tree()
    return lambda: lines(tree.body.text_lexbor() if tree.body else "", MAX_TEXT)


STEPS: dict[str, Step] = {
    "parse_only": lambda page: lambda: LexborHTMLParser(page),
    "whole_page": lambda page: lambda: parse_html(page, "text/html", agent="bench"),
    "charset": lambda page: lambda: to_utf8(page, "text/html"),
    "bound": bounded,
    "mark_blocks": lambda page: lambda: marked(page),
    "text": text_of,
    "main_text": lambda page: lambda: main_text(page, "text/html"),
}


def measured_ms(pages: list[bytes]) -> dict[str, float]:
    total = dict.fromkeys((*STEPS, "yardstick"), 0.0)
    for page in pages:
        work = {name: step(page) for name, step in STEPS.items()}
        best = dict.fromkeys((*STEPS, "yardstick"), float("inf"))
        for _ in range(ROUNDS):
            for name, run in work.items():
                started = time.process_time_ns()
                run()
                best[name] = min(best[name], time.process_time_ns() - started)
            best["yardstick"] = min(best["yardstick"], pace() * 1e9)
        for name, spent_ns in best.items():
            total[name] += spent_ns
    size = sum(map(len, pages))
    paces = total.pop("yardstick") / 1e9 / len(pages)
    total["whole_page_scaled"] = total["whole_page"] / paces
    return {name: spent_ns / 1e6 / size * SIZE for name, spent_ns in total.items()}


def cpu_s(work: Callable[[T], object], items: Sequence[T]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for item in items:
            work(item)
        best = min(best, time.process_time() - started)
    return best


def main() -> None:
    memory.give_back()
    pages = read(Path(sys.argv[1])) if len(sys.argv) > 1 else generated(60)
    gc.freeze()
    alone_s = cpu_s(LexborHTMLParser, pages)
    spent = measured_ms(pages)
    figures: dict[str, float] = {
        "pages": len(pages),
        "mean_bytes": sum(map(len, pages)) // len(pages),
        "parse_alone_ms": round(alone_s * 1000 / sum(map(len, pages)) * SIZE, 3),
        **{f"{name}_ms": round(ms, 3) for name, ms in spent.items()},
        "whole_page_ratio": round(spent["whole_page"] / spent["parse_only"], 2),
    }
    key = SiteKey()
    base = "https://docs.example.org/3/library/page.html"
    hrefs = [
        [link.href for link in parse_html(page, "text/html", agent="bench").hrefs] for page in pages
    ]
    count = sum(map(len, hrefs))
    figures["links_a_page"] = count // len(pages)
    spent_s = cpu_s(lambda one: resolve(base, one, key), hrefs)
    figures["link_us"] = round(spent_s / count * 1e6, 2)

    robots = b"User-agent: *\n" + b"".join(b"Disallow: /dir%d/\n" % n for n in range(40))
    rules = parse_robots(robots, "bench")
    parse_s = cpu_s(lambda body: parse_robots(body, "bench"), [robots] * 100) / 100
    ask_s = cpu_s(rules.verdict, ["/some/page.html?x=1"] * 1000) / 1000
    figures["robots_parse_us"] = round(parse_s * 1e6, 1)
    figures["robots_verdict_us"] = round(ask_s * 1e6, 2)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
