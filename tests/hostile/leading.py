"""Sites that lead somewhere else, and on, and on."""

from itertools import count
from urllib.parse import parse_qs, urlsplit

from tests.hostile.script import Script
from tests.hostile.site import (
    BROKEN,
    FETCHED,
    NO_ROBOTS,
    REDIRECTED,
    Expected,
    Site,
    by_path,
    one_page,
    redirect,
    response,
)

HOPS = 10
"""Redirects of one chain that are followed."""


def sites(pages_a_site: int) -> list[Site]:
    return [*_nowhere(), *_loops(), *_traps(pages_a_site)]


def _nowhere() -> list[Site]:
    locations = {
        "ftp": b"ftp://x.example/",
        "javascript": b"javascript:alert(1)",
        "data": b"data:text/html,<p>x",
        "file": b"file:///etc/passwd",
        "gopher": b"gopher://127.0.0.1:6379/_FLUSHALL",
        "unfinished": b"http://",
        "empty": b"",
        "bad-host": b"http://a b/",
        "bad-port": b"http://x.example:99999/",
        "bad-address": b"http://[::1",
        "too-long": b"/" + b"x" * 50_000,
        "long-name": b"http://" + b"x" * 300 + b".example/",
    }
    return [
        one_page("redirect-without-location", response(b"", status=b"301 Moved"), REDIRECTED),
        one_page("redirect-300", response(b"<p>x", status=b"300 Choices"), REDIRECTED),
        one_page("redirect-399", redirect(b"", b"399 Odd"), REDIRECTED),
        one_page("redirect-2mb", redirect(b"/" + b"x" * 2_000_000), BROKEN),
        *(one_page(f"redirect-{name}", redirect(to), REDIRECTED) for name, to in locations.items()),
    ]


def _loops() -> list[Site]:
    landed: dict[str, Expected] = {"/": REDIRECTED}
    controls = redirect(b"/a\x01\x02\x7fb\tc")
    return [
        one_page("redirect-self", redirect(b"/"), REDIRECTED),
        one_page("redirect-self-fragment", redirect(b"#a"), REDIRECTED),
        by_path("redirect-loop", {"/": redirect(b"/b"), "/b": redirect(b"/")},
                {"/": REDIRECTED, "/b": REDIRECTED}, 2),
        by_path("redirect-controls", {"/": controls}, landed, 2),
        by_path("redirect-not-utf-8", {"/": redirect(b"/\xff\xfe")}, landed, 2),
        Site("redirect-chain", _hundred_hops, {"/": REDIRECTED}, most_requests=HOPS + 1),
        Site("redirect-growing", _growing, {"/": REDIRECTED}, most_requests=HOPS + 1),
        Site("redirect-to-subdomains", _down, {"/": REDIRECTED}, most_requests=HOPS + 1),
    ]  # fmt: skip


def _hundred_hops(path: str) -> Script:
    if path == "/robots.txt":
        return NO_ROBOTS
    hop = int(path.strip("/") or 0)
    return redirect(b"/%d" % (hop + 1)) if hop < 100 else response(b"<p>the end")


def _growing(path: str) -> Script:
    if path == "/robots.txt":
        return NO_ROBOTS
    return redirect(f"{path}{'&' if '?' in path else '?'}again=1".encode())


def _down(path: str) -> Script:
    """Always the same path, on ever new names of the same site."""
    if path == "/robots.txt":
        return NO_ROBOTS
    return redirect(b"http://%d.redirect-to-subdomains.example/" % next(_NUMBERS))


_NUMBERS = count(1)


def _traps(pages_a_site: int) -> list[Site]:
    most = pages_a_site
    return [
        Site("trap-calendar", _calendar, {"/": FETCHED}, most_requests=most),
        Site("trap-sessions", _sessions, {"/": FETCHED}, most_requests=most),
        Site("trap-relative", _relative, {"/": FETCHED}, most_requests=most),
        Site("trap-subdomains", _subdomains, {"/": FETCHED}, most_requests=most),
    ]


def _calendar(path: str) -> Script:
    if path == "/robots.txt":
        return NO_ROBOTS
    day = int(parse_qs(urlsplit(path).query).get("day", ["0"])[0])
    days = (day - 1, day + 1, day + 7, day + 30, day + 365)
    return response("".join(f"<a href='/?day={d}'>{d}</a>" for d in days).encode())


def _sessions(path: str) -> Script:
    """Every page links to itself under twenty new session ids."""
    if path == "/robots.txt":
        return NO_ROBOTS
    links = (f"<a href='/?sid={next(_NUMBERS):032x}'>again</a>" for _ in range(20))
    return response("".join(links).encode())


def _relative(path: str) -> Script:
    return NO_ROBOTS if path == "/robots.txt" else response(b"<a href='a/'>deeper</a>")


def _subdomains(path: str) -> Script:
    """A name for everything: wildcard DNS makes as many hosts as one likes."""
    if path == "/robots.txt":
        return NO_ROBOTS
    hosts = (f"{next(_NUMBERS)}.trap-subdomains.example" for _ in range(5))
    return response("".join(f"<a href='http://{host}/'>more</a>" for host in hosts).encode())
