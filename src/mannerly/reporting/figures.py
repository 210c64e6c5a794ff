"""The figures of a report. Every list is the answer to one query, which `Figures.queries` has under
the list's name: `mannerly query` gives the same rows. Bounded, whatever the size of the crawl."""

import datetime as dt
from dataclasses import dataclass, field
from typing import NamedTuple


class Totals(NamedTuple):
    urls: int
    """Settled, with whatever outcome."""
    sites: int
    fetched: int
    """A 2xx response was read."""
    redirected: int
    disallowed: int
    """By robots.txt (unreachable ones included) or the exclusion list."""
    failures: int
    """All other URLs."""
    wire_bytes: int
    """Bodies as received, those of failures included."""
    first_at: dt.datetime | None
    """UTC, like every instant here; None if nothing is settled."""
    last_at: dt.datetime | None
    pages: int
    """Stored: fetched, with text, and not marked noindex."""
    body_bytes: int
    """Of the stored pages, content coding removed."""
    duplicates: int
    truncated: int
    links: int
    requests: int
    """On the wire, tries in vain and robots.txt included."""
    robots_requests: int
    processes: int

    @property
    def span_s(self) -> float:
        if self.first_at is None or self.last_at is None:
            return 0.0
        return (self.last_at - self.first_at).total_seconds()


class RateRow(NamedTuple):
    """One step of time. Steps in which nothing was settled have no row."""

    step: int
    """It begins `step * Figures.step_s` after the first URL."""
    fetched: int
    others: int
    wire_bytes: int


class NewSitesRow(NamedTuple):
    step: int
    """As above."""
    sites: int
    """Those whose first URL was settled in this step."""


class OutcomeRow(NamedTuple):
    outcome: str
    urls: int


class StatusRow(NamedTuple):
    status: int
    urls: int


class BinRow(NamedTuple):
    """A bar of a histogram: it begins at `base ** (bin / parts)`, see `queries`."""

    bin: int
    rows: int


class Quantiles(NamedTuple):
    """None where there is nothing to take them of."""

    p50: float | None
    p90: float | None
    p99: float | None
    mean: float | None
    most: float | None


class LanguageRow(NamedTuple):
    language: str
    """As pages declare it, without the region; '' where they do not."""
    pages: int
    sites: int


class TypeRow(NamedTuple):
    content_type: str
    urls: int
    wire_bytes: int


class DepthRow(NamedTuple):
    depth: int
    urls: int
    fetched: int


class SiteRow(NamedTuple):
    site: str
    urls: int
    pages: int
    failures: int
    wire_bytes: int


class RobotsRow(NamedTuple):
    state: str
    origins: int
    readings: int


class FailureRow(NamedTuple):
    outcome: str
    status: int
    """0 where no response was read."""
    urls: int
    sites: int
    detail: str
    """What went wrong in words, of one of them."""
    examples: list[str]
    """URLs."""


class RunRow(NamedTuple):
    """Processes that kept to the same terms."""

    version: str
    agent: str
    delay_s: float
    processes: int
    first_at: dt.datetime
    last_at: dt.datetime


class WhyRow(NamedTuple):
    why: str
    visits: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """The rests between two visits to a site, as `mannerly audit` judges them."""

    visits: int = 0
    gaps: int = 0
    """Visits that another one to the same site went before, with a rest that was due."""
    too_soon: int = 0
    smallest_margin_s: float | None = None
    """How much longer than due, at the least."""
    histogram: list[BinRow] = field(default_factory=list)
    """Of gap over what was due."""
    whys: list[WhyRow] = field(default_factory=list)
    """What gave the rest that was due."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the crawl took from its machine."""

    disk_bytes: dict[str, int] = field(default_factory=dict)
    """By table or file of the data directories."""
    cpu_s: float = 0.0
    """Of the crawl processes of the last run (or the one that goes on), those that are known."""
    cpu_pages: int = 0
    """Pages that these fetched."""


@dataclass(frozen=True, slots=True)
class Figures:
    made_at: dt.datetime
    data_dirs: list[str]
    running: bool
    totals: Totals
    step_s: int
    rates: list[RateRow]
    new_sites: list[NewSitesRow]
    outcomes: list[OutcomeRow]
    statuses: list[StatusRow]
    sizes: list[BinRow]
    size_bytes: Quantiles
    durations: list[BinRow]
    duration_s: Quantiles
    languages: list[LanguageRow]
    types: list[TypeRow]
    depths: list[DepthRow]
    site_sizes: list[BinRow]
    sites_by_pages: list[SiteRow]
    sites_by_failures: list[SiteRow]
    robots: list[RobotsRow]
    failures: list[FailureRow]
    runs: list[RunRow]
    gaps: Gaps
    costs: Costs
    queries: dict[str, str]
