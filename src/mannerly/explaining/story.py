"""What is known of one URL, from every place that knows something. Plain values, no I/O."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mannerly.model import RobotsState, UrlFacts
from mannerly.url import Closed

Row = Mapping[str, object]
"""A row of the store, by column."""


class Scope(NamedTuple):
    """What of the crawl's options decides whether a link is followed."""

    seeded_sites: bool
    """Only the sites of the seeds."""
    follow: bool
    """False: only the seeds themselves."""
    max_depth: int
    """-1: no limit."""
    sitemaps: bool = False
    """Those that robots.txt names are read."""


ANYWHERE = Scope(seeded_sites=False, follow=True, max_depth=-1)


class RobotsWord(NamedTuple):
    """What an origin's robots.txt says to a URL, as the crawl last read it."""

    state: RobotsState
    age_s: float
    stale: bool
    """Too old to be believed: it is read again before the next page."""
    failures: int
    retry_in_s: float
    """If it is unreachable: when it is asked again; 0 if it may be now."""
    given_up: bool
    """Unreachable so often that it means no, until the record is stale."""
    allowed: bool
    line: int
    """Of the rule that decides, from 1; 0 if none does."""
    rule: str
    text: str
    """That line as it stands in the file."""
    crawl_delay_s: float | None

    @property
    def says(self) -> str:
        """The rule that decides, for a sentence."""
        shown = self.text or self.rule
        return f"line {self.line} of robots.txt: {shown}"


@dataclass(slots=True)
class Story:
    """One URL in one crawl, at one moment. What could not be asked is None or empty, and `gaps`
    says why."""

    given: str
    url: str
    """Canonical; '' if what was given is not a URL."""
    problem: str = ""
    """Why it is not."""
    site: str = ""
    scope: Scope = ANYWHERE
    excluded_by: str = ""
    """The rule of the exclusion file that covers it."""
    trap: str = ""
    """Why it looks like a trap."""
    running: bool = False
    """A crawler runs in this data directory now."""
    facts: UrlFacts | None = None
    """What the frontier says; None if it did not answer."""
    robots: RobotsWord | None = None
    """None if no robots.txt of its origin was read."""
    fetches: list[Row] = field(default_factory=list)
    page: Row | None = None
    redirected_from: list[Row] = field(default_factory=list)
    """Fetches that redirect here."""
    referrer: str = ""
    """The URL of the page that named it first, where that is known."""
    twin: str = ""
    """The page that was stored first with exactly the same body, of any site."""
    repeats: str = ""
    """The page of its site that its row says it repeats."""
    left_out: Counter[str] = field(default_factory=Counter)
    """How many links the last run did not follow, by cause, with repeats."""
    closed: Closed | None = None
    """Pages of its pattern only repeat each other, so links to them are left out."""
    gaps: list[str] = field(default_factory=list)
