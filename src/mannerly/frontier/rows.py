"""What a crawl consists of, in the form in which it goes from one engine to another.

All of it is in these rows, with the settings. What is not: leases (a site that was leased goes as
one that rests until the lease would have lapsed), beats, and how an engine numbers its sites.

Instants are milliseconds on the clock of the frontier that gives or takes the rows, the one place
where instants cross that border: `mannerly.frontier.moving` makes those of one clock into those of
another.
"""

from enum import StrEnum
from typing import NamedTuple

from mannerly.model import FrontierStats, QueuedUrl, SiteState


class Part(StrEnum):
    """The parts of a crawl, in the order in which they are restored."""

    SITES = "sites"
    PENDING = "pending"
    SPILT = "spilt"
    SETTLED = "settled"
    ROBOTS = "robots"
    WRITERS = "writers"


class SiteRow(NamedTuple):
    site: str
    state: int
    """A `SiteState`."""
    ready_at: int
    failures: int
    delay_ms: int
    pending: int
    spilt: int
    pages: int
    dropped: int

    @property
    def has_work(self) -> bool:
        return self.state == SiteState.OPEN and (self.pending > 0 or self.spilt > 0)


class WaitingRow(NamedTuple):
    """A pending or spilt URL; those of excluded sites, which wait in vain, are among them."""

    number: int
    """Of its site in the engine's listing: rises from row to row, and means nothing elsewhere."""
    site: str
    is_spilt: bool
    queued: QueuedUrl
    """(`priority`, `seq`) is a place that queue and spill of a site have in common."""


class SettledRow(NamedTuple):
    site: str
    hash: int
    outcome: int


class RobotsRow(NamedTuple):
    site: str
    origin: str
    state: int
    body: bytes
    fetched_at: int
    failures: int


class WriterRow(NamedTuple):
    """A process that crawled: how far it came is asked for when its journal is finished."""

    writer: int
    label: str
    sequence: int
    refused: tuple[int, ...]


class CountRow(NamedTuple):
    """A total of the crawl."""

    name: str
    part: int
    """The outcome or the cause of a drop; 0 where the name says it all."""
    total: int


Row = SiteRow | WaitingRow | SettledRow | RobotsRow | WriterRow | CountRow


class ClockReading(NamedTuple):
    """Now on a frontier's clock."""

    at: int
    """At least."""
    up_at: int
    """At most."""
    rest_until: int
    """No site is leased before this instant, whatever its own ready time says."""


def counts_of(stats: FrontierStats) -> list[CountRow]:
    """What an engine counts, from what every engine tells."""
    pending_excluded = stats.urls_known - sum(stats.settled.values()) - stats.urls_pending
    totals = {
        "sites": stats.sites,
        "sites_abandoned": stats.sites_abandoned,
        "sites_excluded": stats.sites_excluded,
        "urls": stats.urls_known,
        "urls_abandoned": stats.urls_abandoned,
        "urls_spilt": stats.urls_spilt,
        "pending_excluded": pending_excluded,
        "spilt_excluded": stats.urls_excluded - pending_excluded,
        "leases": stats.leases,
        "refused": stats.refused,
    }
    rows = [CountRow(name, 0, count) for name, count in totals.items()]
    rows += [CountRow("settled", int(outcome), n) for outcome, n in stats.settled.items()]
    rows += [CountRow("dropped", int(cause), n) for cause, n in stats.dropped.items()]
    return [row for row in rows if row.total]
