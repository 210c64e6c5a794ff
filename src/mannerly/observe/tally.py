"""What happened so far in this process: plain counters that the engine bumps and views read."""

from collections import Counter, deque
from dataclasses import dataclass, field

from mannerly.model import Outcome
from mannerly.url import Closed, LeftOut


@dataclass(slots=True)
class Tally:
    started_at: float
    workers: int = 0
    """Visits that this process can have in flight."""
    in_flight: int = 0
    most_in_flight: int = 0
    seats: int = 0
    """Leased sites that wait for their turn, at the workbench."""
    unsettled: int = 0
    """Results that wait for the next checkpoint."""
    visits: int = 0
    """Visits in which at least one request was sent."""
    robots_requests: int = 0
    page_requests: int = 0
    pages_stored: int = 0
    wire_bytes: int = 0
    settled: Counter[Outcome] = field(default_factory=Counter)
    deferred: Counter[str] = field(default_factory=Counter)
    """Visits in vain after which the URL is tried again, by what happened."""
    ending: str = ""
    """Why the crawl is being stopped; '' while it is not."""
    links_seen: int = 0
    links_sent: int = 0
    """Links that this process did not know and passed on to the frontier."""
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    """Links that were not passed on, by cause, with repeats."""
    closed: deque[Closed] = field(default_factory=deque)
    """The latest patterns whose links are left out, since their pages repeat each other."""
    urls_new: int = 0
    leased: int = 0
    leases_unused: Counter[str] = field(default_factory=Counter)
    """Leases given back without a decision on any URL, by cause."""
    excused: Counter[str] = field(default_factory=Counter)
    """Failures that were our own fault, by what happened: nobody was blamed for them."""
    visit_limit: int = 0
    """Visits that may be in flight now: all workers, or fewer while this process is too slow or
    takes too much memory."""
    limited_by: str = ""
    """What cut it last: CPU or memory."""
    lag_s: float = 0.0
    """How late the event loop was at worst, lately."""
    refused: int = 0
    checkpoints: int = 0
    committed: int = 0
    """Pages whose commit came through, the refused ones among them."""
    trouble: str = ""
    """Why the crawl is paused at the moment; '' while it is not."""
    paused: bool = False
    """A person asked for it: no further visit is started."""
    parse_s: float = 0.0
    """CPU time spent on reading pages, by a sample of them."""
    store_s: float = 0.0
    """Real time spent on writing to the store."""
    waiting: int = 0
    """Steps that wait for the disk or the database to work again."""

    @property
    def fetched(self) -> int:
        return self.settled[Outcome.FETCHED]
