"""The yield guard: which kinds of page of a site keep giving nothing new. Pure, bounded.

A calendar, a filter or a shop without stock has URLs without end and hardly a word that was not
read before. So every page that is read counts for or against the pattern of its URL on its site:

    a page that says something new          -NEW, not below 0
    one that repeats another                +REPEATS
    one that repeats all but the numbers    +LITTLE
    one that calls itself a copy            +LITTLE
    one that repeats, but leads to others   nothing

"Leads" means that it has a new link to a pattern that has proven itself: lists of articles look
alike, and are how the articles are found. A page that leads only to pages like itself, or to others
that repeat, does not.

From PUT_OFF on, links to such pages go behind all others of the site; from LEAVE_OUT on they are
not added any more. What waits in the queue is fetched, and if so much of it is new that the pattern
falls below PUT_OFF, it is open again. A pattern of which half the pages are new is never left out,
however many it has; one that only repeats itself is after 60 pages, one of which only the numbers
change after 240.

Each process learns for itself and starts with nothing: with n processes, or n starts, a trap costs
at most n times as much. The same pages in the same order give the same answers.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from mannerly.url.patterns import pattern_of

REPEATS = 4
LITTLE = 1
NEW = 8
PUT_OFF = 80
LEAVE_OUT = 240
PROVEN = 8
"""New pages by which a pattern has proven itself."""
PATTERNS = 50_000
"""Patterns that are remembered, about 20 MB; those whose pages were not read for longest go."""
SHOWN = 20


class Gave(IntEnum):
    """What a page gave; the number is what it counts against its pattern."""

    SOMETHING_NEW = -NEW
    LINKS_ONLY = 0
    LITTLE = LITTLE
    NOTHING = REPEATS


class Standing(IntEnum):
    OPEN = 0
    PUT_OFF = 1
    LEFT_OUT = 2


class Closed(NamedTuple):
    """A pattern whose links are left out, for people."""

    site: str
    pattern: str
    pages: int
    """How many of its pages were read by then."""


@dataclass(slots=True)
class _Record:
    score: int = 0
    pages: int = 0
    news: int = 0
    standing: Standing = Standing.OPEN

    def count(self, gave: Gave) -> None:
        self.pages += 1
        self.news += gave is Gave.SOMETHING_NEW
        self.score = min(max(0, self.score + gave), LEAVE_OUT)
        if self.score >= LEAVE_OUT:
            self.standing = Standing.LEFT_OUT
        elif self.score < PUT_OFF:
            self.standing = Standing.OPEN
        elif self.standing is Standing.OPEN:
            self.standing = Standing.PUT_OFF


class YieldGuard:
    """One per process."""

    def __init__(self, patterns: int = PATTERNS) -> None:
        self._limit = patterns
        self._records: OrderedDict[tuple[str, str], _Record] = OrderedDict()
        self._suspects: dict[str, int] = {}
        """Sites that have patterns which are not open, and how many: links to all other sites,
        nearly all there are, need not be looked at."""
        self.closings = 0
        """How often a pattern was closed."""
        self.closed: deque[Closed] = deque(maxlen=SHOWN)
        """The latest of them."""

    def __len__(self) -> int:
        return len(self._records)

    def note(self, site: str, url: str, gave: Gave) -> Standing:
        """A page was read. The standing of its pattern from now on."""
        key = (site, pattern_of(url))
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = _Record()
            if len(self._records) > self._limit:
                (forgotten, _), old = self._records.popitem(last=False)
                self._suspect(forgotten, old.standing, Standing.OPEN)
        else:
            self._records.move_to_end(key)
        before = record.standing
        record.count(gave)
        now = record.standing
        self._suspect(site, before, now)
        if now is Standing.LEFT_OUT and before is not now:
            self.closings += 1
            self.closed.append(Closed(*key, record.pages))
        return now

    def standing(self, site: str, url: str) -> Standing:
        """How a link to this canonical URL is treated."""
        if site not in self._suspects:
            return Standing.OPEN
        record = self._records.get((site, pattern_of(url)))
        return Standing.OPEN if record is None else record.standing

    def leads(self, site: str, url: str, link: str) -> bool:
        """Whether a link on a page of this site leads to a pattern that has proven itself."""
        pattern = pattern_of(link)
        record = self._records.get((site, pattern))
        return (
            record is not None
            and record.news >= PROVEN
            and record.standing is Standing.OPEN
            and pattern != pattern_of(url)
        )

    def _suspect(self, site: str, before: Standing, now: Standing) -> None:
        change = (now is not Standing.OPEN) - (before is not Standing.OPEN)
        if change:
            count = self._suspects.get(site, 0) + change
            if count:
                self._suspects[site] = count
            else:
                del self._suspects[site]
