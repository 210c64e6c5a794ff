"""Judges a crawler by an access log. Pure functions over records.

A **visit** is what one lease of a site does: one page, and before it, when they were not known,
the robots.txt of that page's origin with its redirects. Between visits to a site lies the delay.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

from mannerly.simweb.access import AccessRecord
from mannerly.simweb.web import Web

ROBOTS = "/robots.txt"
ROBOTS_LIMIT = 500 * 1024
"""A crawler need not read more of a robots.txt than this (RFC 9309, 2.5)."""


@dataclass(frozen=True, slots=True)
class Visit:
    site: str
    requests: tuple[AccessRecord, ...]

    @property
    def start(self) -> float:
        return self.requests[0].start

    @property
    def end(self) -> float:
        return max(record.end for record in self.requests)


class Gap(NamedTuple):
    """The time between two visits of a site that follow each other."""

    site: str
    before: Visit
    after: Visit
    end_to_start_s: float
    """From the end of the last response to the next visit's first request; negative if they
    overlapped."""
    start_to_start_s: float


class Required(NamedTuple):
    """What should lie between two visits."""

    pause_s: float
    from_start: bool = False
    """Counted from the earlier visit's first request, not from the end of its last response: after
    a crash of the crawler nobody knows when a response ended."""


class Violation(NamedTuple):
    """What was wrong, in words, and the request that shows it."""

    what: str
    record: AccessRecord


def visits(
    records: Iterable[AccessRecord], site_of: Callable[[str], str]
) -> dict[str, list[Visit]]:
    """The visits per site, in order of their start. `site_of` gives the site of a host."""
    by_site: dict[str, list[AccessRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.start):
        by_site[site_of(record.host)].append(record)
    return {site: _grouped(site, requests) for site, requests in by_site.items()}


def _grouped(site: str, requests: Sequence[AccessRecord]) -> list[Visit]:
    found: list[Visit] = []
    open_visit: list[AccessRecord] = []
    for record in requests:
        if open_visit and not _belongs(open_visit, record):
            found.append(Visit(site, tuple(open_visit)))
            open_visit = []
        next_hop = bool(open_visit) and _redirected(open_visit[-1], record)
        open_visit.append(record)
        if record.path != ROBOTS and not next_hop:
            found.append(Visit(site, tuple(open_visit)))
            open_visit = []
    if open_visit:
        found.append(Visit(site, tuple(open_visit)))
    return found


def _belongs(visit: list[AccessRecord], record: AccessRecord) -> bool:
    """Does a request belong to a visit that so far only asked for robots.txt?

    Another robots.txt does if the last answer redirected to it; a page does if it is of the origin
    for which robots.txt was asked.
    """
    last = visit[-1]
    if record.start < last.end:
        return False  # two at once are never one visit
    if _redirected(last, record):
        return True
    return record.path != ROBOTS and _origin(visit[0]) == _origin(record)


def _redirected(last: AccessRecord, record: AccessRecord) -> bool:
    return last.status in range(300, 400) and last.location == record.url


def gaps(found: dict[str, list[Visit]]) -> list[Gap]:
    """Per site with two visits or more the smallest gap, smallest first."""
    smallest = [
        min(between, key=_end_to_start) for between in map(_between, found.values()) if between
    ]
    return sorted(smallest, key=_end_to_start)


def too_soon(
    found: dict[str, list[Visit]], delay_s: float, *, from_start: bool = False
) -> list[Violation]:
    """Visits that came less than `delay_s` after one before."""
    return early(found, lambda _: Required(delay_s, from_start))


def early(found: dict[str, list[Visit]], required: Callable[[Gap], Required]) -> list[Violation]:
    """Visits that came sooner than what `required` says of the gap before them."""
    wrong = []
    for gap in chain.from_iterable(map(_between, found.values())):
        pause_s, from_start = required(gap)
        gap_s = gap.start_to_start_s if from_start else gap.end_to_start_s
        if gap_s < pause_s:
            first, last = gap.before.requests[0], gap.after.requests[0]
            since = "start" if from_start else "end"
            what = (
                f"{gap.site}: {gap_s:.3f} s between the {since} of {first.url} and {last.url}, "
                f"not {pause_s} s"
            )
            wrong.append(Violation(what, last))
    return wrong


def _between(sequence: list[Visit]) -> list[Gap]:
    """The gaps between the visits of one site."""
    between = []
    ended_at = float("-inf")
    for before, after in pairwise(sequence):
        ended_at = max(ended_at, before.end)  # an earlier response may have lasted longer
        between.append(
            Gap(before.site, before, after, after.start - ended_at, after.start - before.start)
        )
    return between


def _end_to_start(gap: Gap) -> float:
    return gap.end_to_start_s


def pages_before_robots(records: Iterable[AccessRecord]) -> list[Violation]:
    """Pages asked for before a robots.txt of that origin was answered with less than 500."""
    ordered = sorted(records, key=lambda record: record.start)
    known_at: dict[str, float] = {}
    for record in ordered:
        read = record.sent_whole or record.bytes >= ROBOTS_LIMIT
        if record.path == ROBOTS and read and 200 <= record.status < 500:
            origin = _origin(record)
            known_at[origin] = min(record.end, known_at.get(origin, record.end))
    return [
        Violation(f"{record.url} was asked for before {_origin(record)}{ROBOTS}", record)
        for record in ordered
        if record.path != ROBOTS and record.start < known_at.get(_origin(record), float("inf"))
    ]


def fetched_twice(records: Iterable[AccessRecord]) -> list[Violation]:
    """URLs that were answered whole with 200 more than once, robots.txt apart."""
    first: dict[str, AccessRecord] = {}
    wrong = []
    for record in sorted(records, key=lambda record: record.start):
        if record.status != 200 or not record.sent_whole or record.path == ROBOTS:
            continue
        earlier = first.setdefault(record.url, record)
        if earlier is not record:
            gap_s = record.start - earlier.start
            wrong.append(Violation(f"{record.url} again after {gap_s:.3f} s", record))
    return wrong


def disallowed_requests(web: Web, records: Iterable[AccessRecord]) -> list[Violation]:
    """Requests for what robots.txt does not allow the agent `mannerly`."""
    return [
        Violation(f"{record.url} is disallowed", record)
        for record in records
        if not web.allowed(record.url)
    ]


def _origin(record: AccessRecord) -> str:
    return f"{record.scheme}://{record.host}"
