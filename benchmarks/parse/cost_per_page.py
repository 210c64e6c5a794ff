"""What does a page cost between its bytes and its links? Prints one JSON line.

    python benchmarks/parse/cost_per_page.py [folder of HTML files]

CPU of one process, the best of several rounds over all pages, in milliseconds scaled to 60 kB.
Without a folder, pages are generated: dense documentation markup, 80 links per 60 kB.
`parse_only_ms` is Lexbor alone: compare the other figures with it rather than with those of another
machine or hour. `mark_blocks_ms` puts a form feed in front of each tag that is not inline,
`defuse_ms` bounds formatting, depth and attributes, `lines_ms` collapses white space.
"""

# ruff: noqa: SLF001 - the steps are private; they are measured here and nowhere else

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser

from mannerly.parse import html, parse_html
from mannerly.parse.defuse import defused
from mannerly.politeness.robots import parse_robots
from mannerly.url import SiteKey, resolve

T = TypeVar("T")
SIZE = 60_000
ROUNDS = 7


def generated(count: int) -> list[bytes]:
    """Pages of the density of real documentation."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(3000)]

    def sentence() -> str:
        return " ".join(chance.choices(words, k=14)) + ". "

    pages = []
    for _ in range(count):
        parts = [
            "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title></head>"
        ]
        size = 0
        while size < SIZE:
            link = f"../{chance.choice(words)}/{chance.choice(words)}.html#{chance.choice(words)}"
            part = (
                f'<div class="section" id="s{size}">\n<h2>{sentence()}<a class="headerlink"'
                f' href="#s{size}">#</a></h2>\n<p>{sentence()}<code class="docutils literal">'
                f'<span class="pre">{chance.choice(words)}</span></code> {sentence()}'
                f'<a class="reference internal" href="{link}" title="{chance.choice(words)}">'
                f'<em>{chance.choice(words)}</em></a>{sentence()}</p>\n<ul class="simple">\n'
                + "".join(f"<li><p>{sentence()}</p></li>\n" for _ in range(3))
                + "</ul>\n</div>\n"
            )
            size += len(part)
            parts.append(part)
        pages.append("".join(parts).encode())
    return pages


def read(folder: Path) -> list[bytes]:
    pages = [path.read_bytes() for path in sorted(folder.rglob("*.html"))]
    return [page for page in pages if SIZE / 3 < len(page) < SIZE * 2.5][:200]


def cpu_s(work: Callable[[T], object], items: Sequence[T]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for item in items:
            work(item)
        best = min(best, time.process_time() - started)
    return best


def main() -> None:
    pages = read(Path(sys.argv[1])) if len(sys.argv) > 1 else generated(60)
    total = sum(map(len, pages))
    figures: dict[str, float] = {"pages": len(pages), "mean_bytes": total // len(pages)}

    def report(step: str, work: Callable[[T], object], items: Sequence[T]) -> None:
        figures[f"{step}_ms"] = round(cpu_s(work, items) / total * SIZE * 1000, 3)

    marked = [html._BLOCK.subn(b"\f<", page) for page in pages]
    trees = [LexborHTMLParser(page) for page, _ in marked]
    texts = [tree.body.text() for tree in trees if tree.body is not None]
    report("parse_only", LexborHTMLParser, pages)
    report("mark_blocks", lambda page: html._BLOCK.subn(b"\f<", page), pages)
    report("defuse", lambda one: defused(*one), marked)
    report("find", lambda tree: tree.css(html._WANTED), trees)
    report("text", lambda tree: tree.body and tree.body.text(), trees)
    report("lines", lambda text: html._lines(text, html.MAX_TEXT), texts)
    report("whole_page", lambda page: parse_html(page, "text/html", agent="bench"), pages)

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
