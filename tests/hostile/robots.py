"""robots.txt as a weapon."""

import gzip

from tests.hostile.bodies import HTML, OK, inflating
from tests.hostile.script import Endless, Script
from tests.hostile.site import FETCHED, PAGE, UNREACHABLE, Expected, Site, redirect, response

DISALLOWED = Expected("disallowed")


def large_sites() -> list[Site]:
    text = "text/plain"
    rules = b"User-agent: *\n"
    many = b"".join(b"Disallow: /%x\n" % n for n in range(30_000))
    wild = b"".join(b"Disallow: /*%x*x$\n" % n for n in range(10_000))
    packed = [b"Content-Encoding: gzip"]
    return [
        _site("robots-endless", [OK + b"\r\n", Endless(b"Disallow: /x\n" * 500)], FETCHED),
        _site("robots-endless-ours", [OK + b"\r\n" + rules, Endless(b"Disallow: /\n" * 500)],
              DISALLOWED),
        _site("robots-endless-line", [OK + b"\r\n" + rules + b"Disallow: /", Endless(b"x" * 8000)],
              FETCHED),
        _site("robots-endless-html", [HTML + b"\r\n", Endless(b"<p>not here</p>" * 500)], FETCHED),
        _site("robots-bomb", response(inflating(), text, *packed), FETCHED),
        _site("robots-bomb-in-bomb", response(gzip.compress(inflating()), text,
                                              b"Content-Encoding: gzip, gzip"), FETCHED),
        _site("robots-lines", response(b"\n" * 500_000, text), FETCHED),
        _site("robots-letters", response(rules + b"x\n" * 250_000, text), FETCHED),
        _site("robots-rules", response(rules + many, text), FETCHED),
        _site("robots-wild", response(rules + wild, text), FETCHED),
        _site("robots-stars", response(rules + b"Disallow: /" + b"*a" * 8000 + b"$\n", text),
              FETCHED),
        _site("robots-agents", response(b"User-agent: x\n" * 35_000, text), FETCHED),
        _site("robots-nul", response(b"\0" * 100_000, text), FETCHED),
        _site("robots-crawl-delay", response(rules + b"Crawl-delay: 1e308\n", text), FETCHED),
        _site("robots-crawl-delay-nan", response(rules + b"Crawl-delay: nan\n", text), FETCHED),
    ]  # fmt: skip


def odd_sites() -> list[Site]:
    text = "text/plain"
    return [
        _site(
            "robots-unreadable",
            response(b"\x1f\x8b\x08\0garbage", text, b"Content-Encoding: gzip"),
            UNREACHABLE,
        ),
        _site("robots-drip", [OK + b"\r\n", Endless(b"x", 0.05)], UNREACHABLE),
        _site("robots-loop", redirect(b"/robots.txt"), FETCHED),
        _site("robots-elsewhere", redirect(b"http://victim.example/robots.txt"), FETCHED),
        _site(
            "robots-busy",
            response(b"", text, b"Retry-After: 999999999", status=b"503 Busy"),
            UNREACHABLE,
        ),
    ]


def _site(name: str, robots: Script, expected: Expected) -> Site:
    asked = expected is FETCHED
    return Site(
        name,
        lambda path: robots if path == "/robots.txt" else PAGE,
        {"/": expected},
        most_requests=1 if asked else 0,
    )
