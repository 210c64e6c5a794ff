"""The values that move between the stages. No behaviour beyond reading them, no I/O.

    seeds -> frontier -> fetch -> parse -> store -> frontier

A **site** is the unit of politeness: the registered domain (or the host, by option). A URL is
always in canonical form (`mannerly.url.canonical`) and is known by its 64-bit hash within its
site. Hashes and tokens are *signed* 64-bit integers, because that is what databases hold.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from mannerly.quick import quick


class Outcome(IntEnum):
    """What became of a URL. The number is what the frontier keeps; it never changes meaning."""

    PENDING = 0
    """Known, not settled."""
    FETCHED = 1
    """A 2xx response was read (perhaps truncated at the byte limit)."""
    REDIRECTED = 2
    """A 3xx; its target was added to the frontier."""
    HTTP_ERROR = 3
    """A final 4xx or 5xx."""
    DISALLOWED = 4
    """robots.txt says no. The page was never requested."""
    ROBOTS_UNREACHABLE = 5
    """robots.txt could not be read, which means no. The page was never requested."""
    NO_SUCH_NAME = 6
    """DNS knows that the host does not exist."""
    DNS_TROUBLE = 7
    """DNS did not answer, or answered with an error."""
    CONNECT_FAILED = 8
    """Refused, reset or unreachable before a request could be sent."""
    TLS_FAILED = 9
    """The TLS handshake failed."""
    TIMED_OUT = 10
    """The visit's total time was used up."""
    BROKEN = 11
    """The connection or the HTTP in it broke before a whole response was read."""
    ADDRESS_REFUSED = 12
    """The host's addresses are private or otherwise not to be connected to."""
    EXCLUDED = 13
    """The exclusion list says no."""
    NOT_SENT = 14
    """The lease was too old to start a request: never a final state."""


OUTCOME_WORDS = {outcome: outcome.name.lower() for outcome in Outcome}
"""As the store has them. (To ask a member for its name takes longer than to look it up here.)"""


class Source(IntEnum):
    """How a URL became known."""

    SEED = 0
    BARE_SEED = 1
    """A seed given as a bare domain: if https fails, http is tried."""
    LINK = 2
    REDIRECT = 3
    SITEMAP = 4
    """A sitemap, not a page: robots.txt names it, or it stands where sitemaps do."""
    SITEMAP_PART = 5
    """A sitemap that an index names."""
    LISTED = 6
    """Named by a sitemap."""


SITEMAPS = frozenset({Source.SITEMAP, Source.SITEMAP_PART})


class Priority(IntEnum):
    """The order inside a site: lower first, then older first. Fits 16 bits, with sign."""

    NEXT = 0
    """A redirect inside the site: the site's next URL."""
    SEED = 10
    SITEMAP = 15
    LINK = 20
    PUT_OFF = 25
    """A link to a kind of page that keeps repeating itself."""
    RETRY = 30
    """Tried before without success; others go first."""


@quick
class NewUrl(NamedTuple):
    """A URL on its way into the frontier."""

    site: str
    hash: int
    url: str
    depth: int
    priority: int
    source: int
    referrer: int
    """Hash of the page that named it; 0 for none."""


@quick
class QueuedUrl(NamedTuple):
    """A URL as the frontier's queue holds it. (`priority`, `seq`) is its place in the site."""

    url: str
    hash: int
    depth: int
    priority: int
    seq: int
    source: int
    referrer: int
    tries: int
    """Visits that were made for it so far without a final outcome."""


class RobotsState(IntEnum):
    FOUND = 1
    """A body was read; its rules apply."""
    ABSENT = 2
    """4xx: there are no rules."""
    UNREACHABLE = 3
    """5xx, or no answer: everything is disallowed until it answers."""


class RobotsRecord(NamedTuple):
    """What is known of one origin's robots.txt."""

    origin: str
    """`scheme://host` or `scheme://host:port`."""
    state: RobotsState
    body: bytes
    age_s: float
    """Seconds since it was fetched. A duration, so that no two clocks are ever compared."""
    failures: int
    """How often in a row it was unreachable."""


@dataclass(slots=True)
class Lease:
    """The right to visit one site until `start_by_at`, and the head of its queue.

    The URLs stay in the frontier until they are settled. At most one live lease exists per site;
    `token` proves that this is it.
    """

    site: str
    handle: int
    """How the frontier finds the site again. Opaque to everyone else."""
    token: int
    urls: list[QueuedUrl]
    robots: list[RobotsRecord]
    failures: int
    """Visits in a row that failed for reasons of the site."""
    leased_at: float
    """This process's clock *before* the frontier was asked."""


@quick
class Settled(NamedTuple):
    """A URL is finished: it leaves the queue and keeps its outcome."""

    handle: int
    token: int
    priority: int
    seq: int
    hash: int
    outcome: Outcome


class Deferred(NamedTuple):
    """A URL was tried in vain: it goes to `new_priority`, behind what waits there, with `tries`."""

    handle: int
    token: int
    priority: int
    seq: int
    new_priority: int
    tries: int


@quick
class Released(NamedTuple):
    """A lease is given back; the site rests for `rest_s` from now."""

    handle: int
    token: int
    rest_s: float
    failures: int
    abandoned: bool
    """The site failed too often: what it has queued is no longer waited for."""
    delay_s: float = 0.0
    """What the site asks for between two visits; 0 if it is not known. Should a later holder die,
    the site comes back after this long at the earliest."""


class RobotsSeen(NamedTuple):
    """A robots.txt was fetched under this lease."""

    handle: int
    token: int
    record: RobotsRecord


@dataclass(slots=True)
class Commit:
    """What one checkpoint tells the frontier, in one transaction."""

    sequence: int
    settled: list[Settled] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)
    released: list[Released] = field(default_factory=list)
    robots: list[RobotsSeen] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of one site the frontier takes; 0 stands for no limit. What the numbers lead to is
    decided by `mannerly.frontier.caps`."""

    pending: int = 10_000
    """URLs that wait in the queue. More are spilt, and come back when there is room."""
    spilt: int = 100_000
    """URLs that wait in the spill. More are dropped for good."""
    pages: int = 100_000
    """Pages fetched. When a site has given so many, the rest of its URLs is dropped for good."""


class SiteState(IntEnum):
    """What a site is to the frontier, apart from its clock."""

    OPEN = 0
    ABANDONED = 1
    """It failed too often: what it has queued is no longer waited for."""
    EXCLUDED = 2
    """Somebody said no (`exclude`). Final."""


class DropCause(IntEnum):
    """Why a URL was dropped for good by `add`, or when its site was full."""

    SPILL_FULL = 1
    """Its site has as many URLs waiting as it may have, in queue and spill."""
    SITE_FULL = 2
    """Its site has given as many pages as it may."""
    EXCLUDED = 3
    """Its site is excluded."""


class UrlState(IntEnum):
    UNKNOWN = 0
    """Never accepted. If its site has dropped URLs, it may have been one of them."""
    PENDING = 1
    SPILT = 2
    SETTLED = 3


class SiteFacts(NamedTuple):
    """All that the frontier knows of a site. Instants are given as durations from now."""

    site: str
    state: SiteState
    ready_in_s: float
    """When it may be leased (again); negative: since when it could be. For a leased site: when the
    lease lapses."""
    leased: bool
    holder: str
    """The label of the writer that has the lease; '' if nobody has."""
    failures: int
    delay_s: float
    """What the site asks for between two visits; 0 if it is not known."""
    pending: int
    spilt: int
    pages: int
    dropped: int
    """URLs of it that were dropped for good, with repeats: they are not remembered."""


class UrlFacts(NamedTuple):
    """The answer to `explain`."""

    site: SiteFacts | None
    """None: the site is not known, and so the URL is not either."""
    state: UrlState
    outcome: Outcome
    """PENDING unless it is settled."""
    queued: "QueuedUrl | None"
    """Where it is pending or spilt."""
    before: int
    """How many URLs of the site go before it, in the queue; counted to `COUNTED_BEFORE` at most."""


COUNTED_BEFORE = 10_000


class ListedUrl(NamedTuple):
    """One URL as `iterate` gives it."""

    site: str
    hash: int
    state: UrlState
    outcome: Outcome
    queued: "QueuedUrl | None"
    """None where it is settled: its text is in the store, not here."""


@dataclass(slots=True)
class FrontierStats:
    """Counts over the whole crawl. Cheap enough to ask for every few seconds."""

    sites: int = 0
    sites_ready: int = 0
    """With work, not leased, ready now."""
    sites_waiting: int = 0
    """With work, leased or resting."""
    sites_abandoned: int = 0
    urls_known: int = 0
    """Ever accepted by `add`."""
    urls_pending: int = 0
    """Accepted and not settled; those of abandoned sites included."""
    urls_abandoned: int = 0
    """Pending URLs of abandoned sites."""
    urls_spilt: int = 0
    """Over their site's cap, waiting to come back. Not among the known ones."""
    sites_excluded: int = 0
    urls_excluded: int = 0
    """Pending and spilt URLs of excluded sites, as they were when their site was excluded. No
    longer among the pending or spilt ones."""
    dropped: dict[DropCause, int] = field(default_factory=dict)
    """Dropped for good, with repeats: a URL that is dropped is not remembered."""
    settled: dict[Outcome, int] = field(default_factory=dict)
    leases: int = 0
    """Sites leased so far."""
    refused: int = 0
    """Leases whose commit was refused as stale."""
    writers: int = 0
    """Processes that are enlisted now."""

    @property
    def fetched(self) -> int:
        return self.settled.get(Outcome.FETCHED, 0)
