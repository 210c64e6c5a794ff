"""Copies of robots.txt that this process has read lately, by their URL.

For redirects: thousands of names of one owner send everybody to the robots.txt of the same site,
which may be visited once in a delay. Whoever was there a moment ago need not ask again for the next
name, as long as the copy is not older than a robots.txt may be.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from mannerly.fetch.contract import Fetched

LIMIT_BYTES = 8 * 1024 * 1024
LARGEST_BYTES = 64 * 1024
"""Of one copy: larger ones are rare, and would crowd out many."""
_OVERHEAD_BYTES = 1_000


class Copy(NamedTuple):
    fetched: Fetched
    read_at: float

    def standing_in(self, asked: Fetched) -> Fetched:
        """The copy as if it had come after `asked`, the redirect that led to it."""
        return replace(self.fetched, started_at=asked.started_at, ended_at=asked.ended_at)


class Copies:
    """Bounded by bytes; the longest unused go first."""

    def __init__(self, ttl_s: float, limit_bytes: int = LIMIT_BYTES) -> None:
        self._ttl_s = ttl_s
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._copies: OrderedDict[str, Copy] = OrderedDict()

    def __len__(self) -> int:
        return len(self._copies)

    def get(self, url: str, now: float) -> Copy | None:
        """A copy that is fresh enough to be used."""
        copy = self._copies.get(url)
        if copy is None or now - copy.read_at >= self._ttl_s:
            return None
        self._copies.move_to_end(url)
        return copy

    def keep(self, fetched: Fetched, read_at: float) -> None:
        """Keep an answer that says something: a file, or that there is none."""
        says = fetched.failure is None and (
            200 <= fetched.status < 300 or (400 <= fetched.status < 500 and fetched.status != 429)
        )
        if not says or fetched.truncated or len(fetched.body) > LARGEST_BYTES:
            return
        self._forget(fetched.url)
        self._copies[fetched.url] = Copy(fetched, read_at)
        self._bytes += _cost(fetched)
        while self._bytes > self._limit_bytes:
            self._forget(next(iter(self._copies)))

    def _forget(self, url: str) -> None:
        copy = self._copies.pop(url, None)
        if copy is not None:
            self._bytes -= _cost(copy.fetched)


def _cost(fetched: Fetched) -> int:
    headers = sum(len(name) + len(value) for name, value in fetched.headers)
    return _OVERHEAD_BYTES + len(fetched.url) + len(fetched.body) + headers
