"""Sites that do nothing wrong, and whose pace is set by the delay alone."""

from tests.hostile.script import Script
from tests.hostile.site import FETCHED, NO_ROBOTS, Site, response

SITES = 20
PAGES = 18
"""Of each, the home page included. At one page every 850 ms that is longer than any time-out here
takes to be tried twice."""

TEXT = b"<p>Nothing to see here. </p>\n" * 100


def sites() -> list[Site]:
    expected = {"/": FETCHED} | {f"/{n}": FETCHED for n in range(1, PAGES)}
    return [Site(f"plain-{n}", _answer, expected) for n in range(SITES)]


def _answer(path: str) -> Script:
    if path == "/robots.txt":
        return NO_ROBOTS
    if path == "/":
        links = "".join(f"<a href='/{n}'>{n}</a>" for n in range(1, PAGES))
        return response(TEXT + links.encode())
    return response(TEXT + b"<a href='/'>home</a>")
