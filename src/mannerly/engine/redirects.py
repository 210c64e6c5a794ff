"""Redirects of pages: where one points, and how long its chain is. Pure.

A target is judged like any other URL when its turn comes (exclusions, robots.txt, address guard);
here is only decided whether it goes to the frontier at all.

The hops of a chain are counted in the priority: a redirect goes before everything else of its site,
and among redirects it makes no difference who is first. So no column is needed for it, and the
count survives a change of site, a deferral and a crash.
"""

import re
from typing import NamedTuple

from mannerly.engine.sieve import Sieve
from mannerly.fetch.contract import Fetched
from mannerly.model import SITEMAPS, NewUrl, Priority, QueuedUrl, Source

MAX_REDIRECTS = 10
"""Hops of one chain. Browsers stop after 20, Google's crawler after 10."""

_RAW = re.compile(rb"[\x80-\xff]")


class Redirection(NamedTuple):
    """What a 3xx response leads to."""

    target: str
    """Canonical; '' if it points nowhere that could be crawled."""
    links: list[NewUrl]
    """What goes to the frontier: the target, or nothing."""
    why_not: str
    """Why nothing does, in words; '' if something does."""


def location_of(fetched: Fetched) -> str:
    """The `Location` of a response, ready to be resolved; '' if there is none or several differ.

    Servers send raw UTF-8 or Latin-1 in it. Every octet is percent-encoded as it is, which is what
    browsers do and what the server will recognise.
    """
    values = {value.strip() for value in fetched.values(b"location")}
    if len(values) != 1:
        return ""
    return _RAW.sub(lambda octet: b"%%%02X" % octet[0][0], values.pop()).decode("ascii")


def redirection(fetched: Fetched, url: QueuedUrl, sieve: Sieve) -> Redirection:
    """Judge a 3xx response to `url`."""
    location = location_of(fetched)
    if not location:
        return Redirection("", [], "no Location, or more than one")
    targets = sieve.resolve(url.url, [location])
    if not targets:
        return Redirection("", [], f"not a URL that can be crawled: {location[:200]}")
    target = targets[0]
    if target.hash == url.hash:
        # A site may insist on a session id that we leave out: then it gets its way.
        (target,) = sieve.resolve(url.url, [location], as_it_is=True) or targets
    if target.hash == url.hash:
        return Redirection(target.url, [], "redirects to itself")
    hops = hops_of(url) + 1
    if hops > MAX_REDIRECTS:
        return Redirection(target.url, [], f"more than {MAX_REDIRECTS} redirects in a row")
    links = sieve.redirect(target, url, Priority.NEXT + hops)
    return Redirection(target.url, links, "" if links else "excluded, or looks like a trap")


def hops_of(url: QueuedUrl) -> int:
    """How many redirects led to this URL without a page in between."""
    redirected = url.source == Source.REDIRECT or url.source in SITEMAPS
    if not redirected or url.priority == Priority.SITEMAP:
        return 0
    return url.priority - (Priority.RETRY if url.priority >= Priority.RETRY else Priority.NEXT)


def retry_priority(url: QueuedUrl) -> int:
    """Where a URL goes that was tried in vain: behind the others, with its hops kept."""
    return Priority.RETRY + hops_of(url)
