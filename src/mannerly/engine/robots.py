"""What a response to a request for robots.txt means (RFC 9309, 2.3.1). Pure."""

import re
from typing import NamedTuple

from mannerly.engine.redirects import location_of
from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched
from mannerly.fetch.decode import decode
from mannerly.model import RobotsRecord, RobotsState
from mannerly.politeness.robots import ROBOTS_LIMIT
from mannerly.url import Resolved

MAX_ROBOTS_REDIRECTS = 5
"""Hops that are followed; a file behind more of them counts as one that is not there."""
READ_LIMIT = ROBOTS_LIMIT + 1
"""Bytes that are read. One more than count, so that the line which the limit cuts is known to be
cut: of `Allow: /public` nobody must be left with `Allow: /`."""

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")


class Hop(NamedTuple):
    """A redirect to follow."""

    target: Resolved


class Final(NamedTuple):
    """There is nothing to follow: the response is the answer."""


class Barred(NamedTuple):
    """A redirect that must not be followed: the rules are where we do not go."""

    why: str


def next_hop(url: str, fetched: Fetched, sieve: Sieve) -> Hop | Final | Barred:
    """What to do after the response to `url`, which is or stands for a robots.txt."""
    if not 300 <= fetched.status < 400:
        return Final()
    location = location_of(fetched)
    if not location:
        return Final()
    targets = sieve.resolve(url, [location])
    if not targets:
        return Barred(f"robots.txt redirects to what is no web page: {location[:200]}")
    target = targets[0]
    if sieve.excluded(target.url, target.site):
        return Barred(f"robots.txt redirects to {target.url}, which is on the exclusion list")
    return Hop(target)


def robots_record(origin: str, fetched: Fetched, failures: int) -> RobotsRecord:
    """The record that follows from the last response of a chain."""
    # 429 is a 4xx by number, but by meaning a server that cannot answer now.
    if fetched.failure is not None or fetched.status >= 500 or fetched.status == 429:
        return unreachable(origin, failures)
    if 200 <= fetched.status < 300:
        body = _body(fetched)
        if body is None:
            return unreachable(origin, failures)
        return RobotsRecord(origin, RobotsState.FOUND, body, 0.0, 0)
    # 4xx, and redirects that lead nowhere or too far: there are no rules.
    return RobotsRecord(origin, RobotsState.ABSENT, b"", 0.0, 0)


def unreachable(origin: str, failures: int) -> RobotsRecord:
    """One more failure: everything is disallowed until it answers."""
    return RobotsRecord(origin, RobotsState.UNREACHABLE, b"", 0.0, failures + 1)


def _body(fetched: Fetched) -> bytes | None:
    """The text of a robots.txt; None if it was damaged on the way. Half of the rules may be the
    half that allows, so what could be saved of it is not used."""
    decoded = decode(fetched.body, fetched.header(b"content-encoding"), READ_LIMIT)
    if not decoded.problem or decoded.truncated or fetched.truncated:
        return decoded.body
    # Plain text under a wrong label (`Content-Encoding: utf-8`) is common, and not damaged.
    mislabelled = decoded.body == fetched.body and not _BINARY.search(decoded.body)
    return decoded.body if mislabelled else None
