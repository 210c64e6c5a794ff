"""The behaviours that the transport is tested with, played to the whole crawler: once for a page,
once for robots.txt."""

from tests.hostile.script import End, Script
from tests.hostile.site import FETCHED, NO_ROBOTS, PAGE, UNREACHABLE, Expected, Site, name_of
from tests.unit.fetch.test_hostile import CASES, Case


def sites() -> list[Site]:
    return [_page(case) for case in CASES] + [_robots(case) for case in CASES] + [_closing()]


def _page(case: Case) -> Site:
    return Site(
        name_of(case.id),
        lambda path: NO_ROBOTS if path == "/robots.txt" else case.script,
        {"/": _expected(case)},
        suite_id=case.id,
    )


def _expected(case: Case) -> Expected:
    if case.failure is not None:
        return Expected(case.failure.name.lower())
    if case.status >= 400:
        return Expected("http_error")
    if case.status >= 300:
        return Expected("redirected")
    # The whole crawler takes more of a body than the transport's own tests do.
    long = len(case.body) > 1000
    text = None if long else case.body.decode().replace("\r\n", "\n").strip("\n")
    cut = case.truncated and case.id != "one-over-the-limit"
    return Expected("fetched", stored=bool(case.body), truncated=cut, text=text)


def _robots(case: Case) -> Site:
    """No page is asked for unless its robots.txt was read; a 4xx counts as read."""
    read = case.failure is None and case.status != 999
    return Site(
        f"robots-{name_of(case.id)}",
        lambda path: case.script if path == "/robots.txt" else PAGE,
        {"/": FETCHED if read else UNREACHABLE},
        most_requests=1 if read else 0,
    )


def _closing() -> Site:
    """robots.txt promises to keep the connection, and it is closed under the next request."""
    asked: list[str] = []

    def answer(path: str) -> Script:
        asked.append(path)
        if path == "/robots.txt":
            return NO_ROBOTS
        return PAGE if len(asked) > 2 else [End.CLOSE]

    return Site(
        "c09-closing",
        answer,
        {"/": FETCHED},
        most_requests=2,
        suite_id="C09-KEEPALIVE-THEN-SILENT-CLOSE",
    )
