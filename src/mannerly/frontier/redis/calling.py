"""How a function is called: its name, what it covers, what our clock says, its arguments."""

from collections.abc import Sequence
from typing import Any

from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.crawlclock import CrawlClock
from mannerly.frontier.redis.library import Library
from mannerly.frontier.redis.packing import BUCKETS

Answer = list[Any]
"""The clock's three numbers (server's, offset, the frontier's now), then what was asked for."""
NOW = 2
"""Where in an answer the frontier's now is, in milliseconds."""

Covered = Sequence[int]
"""Buckets; none of them means the crawl as a whole."""
ALL = range(BUCKETS)


class Caller:
    """Makes commands for one crawl. In a Cluster (`is_spread`) a call covers the crawl as a whole
    or some buckets of one node; on one server the crawl as a whole, and what is named or else all.
    """

    def __init__(self, name: str, library: Library, clock: CrawlClock, *, is_spread: bool) -> None:
        self.name = name
        self.library = library
        self.clock = clock
        self.is_spread = is_spread

    def command(
        self, function: str, covers: Covered, arguments: Sequence[Part], asked_at: float
    ) -> list[Part]:
        if self.is_spread:
            covered = b"b" + bytes(covers) if covers else b"c"
        else:
            covered = b"c" + bytes(covers or ALL)
        # No key is named: those that are would have to be in one slot.
        called = ("FCALL", f"{self.library.name}_{function}", 0)
        return [*called, self.name, covered, *self.clock.bounds(asked_at), *arguments]

    def now(self, function: str, covers: Covered, *arguments: Part) -> list[Part]:
        """A command that is sent at once."""
        return self.command(function, covers, arguments, self.clock.now())
