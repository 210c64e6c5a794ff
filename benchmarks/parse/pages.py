"""Pages to measure with: generated ones like those of a news site or a manual, or files."""

import random
from pathlib import Path

SIZE = 60_000
_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><meta name="description" content="{text}">
<meta property="og:title" content="{title}"><meta property="og:type" content="article">
<meta property="og:image" content="https://cdn.example.org/{word}.jpg">
<meta property="og:url" content="https://www.example.org/{word}/">
<link rel="canonical" href="/{word}/"><link rel="alternate" hreflang="de" href="/de/{word}/">
<link rel="stylesheet" href="/static/main.css"><script src="/static/bundle.js" defer></script>
<style>.nav a{{color:#123}} .card{{padding:4px}}</style>
<script>window.__state = {{{state}}};</script></head>
<body class="page"><header><a href="/" class="logo"><img src="/logo.svg" alt="Home"></a>
<nav class="site-nav" aria-label="Main"><ul class="menu">
"""


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.words = [
            "".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(3000)
        ]

    def word(self) -> str:
        return self.chance.choice(self.words)

    def sentence(self, length: int = 14) -> str:
        return " ".join(self.chance.choices(self.words, k=length)).capitalize() + "."

    def links(self, count: int) -> str:
        return "".join(
            f'<li class="item"><a class="item-link" href="/{self.word()}/{self.word()}.html">'
            f'<span class="label">{self.word()} {self.word()}</span></a></li>\n'
            for _ in range(count)
        )

    def section(self) -> str:
        rows = "".join(
            f"<tr><td>{self.word()}</td><td>{self.sentence(5)}</td></tr>" for _ in range(4)
        )
        code = "".join(
            f'<span class="n">{self.word()}</span> <span class="o">=</span> '
            f'<span class="mi">1</span>\n'
            for _ in range(4)
        )
        paragraphs = "".join(
            f'<p>{self.sentence()} <code class="literal">{self.word()}</code> {self.sentence()}\n'
            f'<a class="ref" href="../{self.word()}/{self.word()}.html#{self.word()}">'
            f"<em>{self.word()}</em></a> {self.sentence(40)} <strong>{self.word()}</strong> "
            f"{self.sentence(30)}</p>\n"
            for _ in range(3)
        )
        return (
            f'<section class="block" id="{self.word()}">\n<h2>{self.sentence(5)}</h2>\n{paragraphs}'
            f'<div class="highlight"><pre>{code}</pre></div>\n<table class="data">{rows}</table>\n'
            f'<figure><img src="/img/{self.word()}.jpg" alt="{self.word()}" loading="lazy">'
            f"<figcaption>{self.sentence()}</figcaption></figure>\n</section>\n"
        )

    def page(self) -> bytes:
        state = ",".join(f'"{self.word()}": "{self.sentence(8)}"' for _ in range(80))
        parts = [
            _HEAD.format(
                title=self.sentence(6), text=self.sentence(), word=self.word(), state=state
            ),
            self.links(20),
            f"</ul></nav></header>\n<main><article><h1>{self.sentence(7)}</h1>\n",
        ]
        tail = (
            f'</article></main>\n<aside class="related"><h3>More</h3>'
            f"<ul>{self.links(12)}</ul></aside>"
            f"\n<footer><ul>{self.links(10)}</ul><p>{self.sentence()}</p></footer>"
            f"<script>(function(){{{'var x = 1; ' * 150}}})();</script></body></html>"
        )
        size = sum(map(len, parts)) + len(tail)
        while size < SIZE:
            parts.append(self.section())
            size += len(parts[-1])
        return "".join([*parts, tail]).encode()


def generated(count: int) -> list[bytes]:
    """Pages of 60 kB with 60 to 100 links, a menu, scripts, code, tables and prose."""
    writer = _Writer(random.Random(1))
    return [writer.page() for _ in range(count)]


def read(folder: Path) -> list[bytes]:
    pages = [path.read_bytes() for path in sorted(folder.rglob("*.html"))]
    return [page for page in pages if SIZE / 3 < len(page) < SIZE * 2.5][:200]
