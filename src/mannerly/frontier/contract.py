"""The contract of a frontier. Every engine passes `mannerly.frontier.conformance`.

**A lease is a ready time in the future.** Each site has a clock row: `ready_at`, `token`,
`has_work`. Leasing picks sites with `has_work and ready_at <= now` and moves `ready_at` to
`now + ttl` with a fresh random token, in one atomic step. Nothing is removed from any queue before
it is settled. A crash needs no cleaning up: the site is ready again when its `ready_at` passes.

Guarantees, on every engine and with any number of processes:

1. A URL that `add` reported as new, known or spilt is never lost: it stays until it is settled, or
   until its site is full, abandoned or excluded, which is counted.
2. A site has at most one live lease. A token that has moved on can settle, defer, release and
   teach nothing; its parts of a commit are refused as a whole, reported and counted.
3. A site that was released with `rest_s` is not leased before that much time has passed on the
   *frontier's* clock; a site whose lease lapsed, not before its `ttl`. The frontier's clock does
   not follow a machine's or a server's wall clock when somebody sets that.
4. What returned is durable. `lease`, `commit`, `exclude` and `retire` are atomic. `add` works in
   slices, each atomic: it is idempotent, so sending it again is always safe. (Where an engine is
   spread over several servers, each of them takes its part of a verb at once or not at all; whoever
   asks sees no half of a commit, because what did not arrive is refused from then on.)
5. `commit` carries the writer's sequence number. The sequence and what was refused are stored in
   the same transaction; a commit that is sent again returns the stored answer and changes nothing.
6. The cost of `lease` and `commit` per site does not depend on how many URLs or sites there are,
   that of `add` per URL at most logarithmically.
7. No verb waits for a lease to end, and no two verbs deadlock.

Durations cross this border, instants never do: the frontier's own clock decides. (But for `clock`,
`export` and `restore`, by which a whole crawl goes to another clock.)

**What may be sent again.** After a `FrontierError` (the disk or the database is in trouble) the
same call may be made again, with the same arguments, and nothing happens twice. A lease whose
answer was lost is not used, and lapses. `FrontierMisuseError` means a mistake in the caller:
nothing was applied, and repeating it will not help. What is final: a settled outcome, an excluded
site, a dropped URL (until it is found again and there is room).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from mannerly.frontier.rows import ClockReading, Part, Row
from mannerly.model import (
    Commit,
    FrontierStats,
    Lease,
    ListedUrl,
    NewUrl,
    RobotsRecord,
    SiteFacts,
    UrlFacts,
)


class Added(NamedTuple):
    """What `add` did. The sum of all is what it was given (distinct by site and hash)."""

    new: int
    known: int
    foreign: int
    """Not added, because the site is unknown and `new_sites` was false."""
    spilt: int = 0
    """Over the cap on pending URLs: kept apart (or kept so before), until there is room."""
    dropped: int = 0
    """Dropped for good: the site's spill or the site itself is full, or it is excluded."""


class Leased(NamedTuple):
    """The answer to `lease`."""

    leases: list[Lease]
    next_ready_in_s: float | None
    """When the next site with work (leased ones included) becomes ready, 0 if one is now.
    None: no site has work, so there is nothing to wait for."""


class Committed(NamedTuple):
    """The answer to `commit`: the tokens that were stale."""

    refused: frozenset[int]


class WriterState(NamedTuple):
    """How far a writer came: its last committed sequence, and what was refused in it."""

    sequence: int
    refused: frozenset[int]


class Beat(NamedTuple):
    """What a process tells of itself, and asks for."""

    pages: int = 0
    """Fetched by it, so far."""
    rate: float = 0.0
    """Pages a second, lately."""
    in_flight: int = 0
    page_limit: int = 0
    """Pages that the crawl as a whole may have; 0: no limit that it knows of."""
    time_limit_s: float = 0.0
    """How long the run may last, from the beginning of its first process on; 0 as above."""
    reserved: int = 0
    """Pages that were granted to it and are not committed yet."""
    more: int = 0
    """How many more it could use, where there is a limit."""


class Pulse(NamedTuple):
    """The answer to `beat`."""

    running_s: float
    """Since the first of those began that crawl now, or were still crawling when others began."""
    fetched: int
    """Pages of the crawl that are committed."""
    granted: int
    """Pages that it may fetch besides those that it has reserved."""
    page_limit: int
    """The smallest that any process of the run has; 0: none has one."""
    time_limit_s: float


class CrawlerFacts(NamedTuple):
    """A process that crawls, as it said itself."""

    label: str
    since_s: float
    silent_s: float
    """How long ago it was heard of."""
    pages: int
    rate: float
    in_flight: int


class Excluded(NamedTuple):
    """The answer to `exclude`."""

    sites: int
    """That were not excluded before; those that were unknown included."""
    urls: int
    """Pending and spilt URLs that will never be fetched because of it."""


class Forgotten(NamedTuple):
    """The answer to `forget`: what was removed."""

    waiting: int
    """Pending and spilt URLs."""
    settled: int
    robots: int
    """Records of robots.txt."""


class Kind(StrEnum):
    """What `iterate` lists."""

    PENDING = "pending"
    SPILT = "spilt"
    SETTLED = "settled"


MOVED_TO = "moved_to"
"""The setting that says where a crawl went."""

Cursor = tuple[int, ...]
"""Where a listing goes on. Opaque; fits the engine and the listing that gave it."""


class UrlPortion(NamedTuple):
    urls: list[ListedUrl]
    after: Cursor | None
    """For the next call; None: that was all."""


class SitePortion(NamedTuple):
    sites: list[SiteFacts]
    after: Cursor | None


class SiteOrder(StrEnum):
    """How `find_sites` orders what it finds; ties by age of the site."""

    NAME = "name"
    NEXT = "next"
    """By ready time, first the longest ready. Without a beginning: only sites with work."""
    PAGES = "pages"
    """Most first, as for the next ones."""
    PENDING = "pending"
    FAILURES = "failures"


class Frontier(Protocol):
    """One crawl's frontier, opened by one process. An async context manager."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def create(self, settings: Mapping[str, str]) -> None:
        """Start a crawl with the settings on which all its crawlers must agree.

        `CrawlExistsError` if there is one already, or if another process has cleared since this
        handle did.
        """

    async def settings(self) -> dict[str, str] | None:
        """The settings the crawl was created with; None if there is no crawl yet."""

    async def clear(self) -> None:
        """Remove all that was added before a crawl was created: the rest of a start that was
        interrupted while it read its seeds, exclusions and counts included. `CrawlExistsError` if
        there is a crawl.

        Who clears begins a crawl, and nobody else does until it has created one, has closed its
        handle or is dead: others who clear meanwhile get a `CrawlBusyError`, and change nothing."""

    async def enlist(self, label: str) -> int:
        """Register this process as a writer (id > 0, random). `label` is for people: host, pid.
        `CrawlMovedError` if the crawl was handed over."""

    async def writer_state(self, writer: int) -> WriterState | None:
        """How far a writer came. None: never heard of, or its row was cleared. A commit that was
        cut off may count, with what did not arrive refused; if it arrives later it is so, too."""

    async def retire(self, writer: int, rest_s: float) -> int:
        """The writer is provably gone (or says goodbye): its leases end, and each of those sites
        is ready `rest_s` from now (or after its own delay, if that is longer and known), unless
        it would be sooner anyway. Its state and its counts stay. Returns how many sites came back.
        May be sent again. From then on it can lease nothing; what it commits under its old leases
        is refused."""

    async def beat(self, writer: int, beat: Beat) -> Pulse:
        """A sign of life, every few seconds, and the limits that hold for the crawl as a whole.

        Pages are granted so that what is fetched and what is granted to all living processes never
        exceeds the limit. Who is retired, or silent for a minute, has none any more; where it was
        only asleep, the limit may be exceeded by what it had. Not durable by itself.
        `FrontierMisuseError` for a retired writer.
        """

    async def crawlers(self) -> list[CrawlerFacts]:
        """Who has told of itself and is not retired, in the order in which they began."""

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        """Add what is not known yet. With `new_sites=False` only to sites that exist.

        Idempotent by (site, hash): of a known URL nothing changes, a spilt one stays spilt. New
        sites are ready at once. Within a site the first URLs by (priority, place in `urls`) get
        the room that is left; see `mannerly.frontier.caps` for what becomes of the others. A
        spilt URL is not known: it is looked at anew when it comes back.
        """

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        """Lease up to `want` ready sites, longest ready first, each with the first
        `urls_per_site` URLs of its queue and the robots records of those URLs' origins. (An engine
        that is spread over several servers may take many at a time in equal shares from each.)

        A site without a URL is never leased. `FrontierMisuseError` for a retired writer.
        """

    async def claim(self, writer: int, site: str, *, ttl_s: float) -> Lease | None:
        """Lease one site by its name, whether it has work or not: for a request that the visit to
        another site leads to (a robots.txt that redirects). The lease has no URLs; it is released
        like any other. None: the site is leased, resting or excluded. A site that was not known is
        known from then on, without work."""

    async def commit(self, writer: int, commit: Commit) -> Committed:
        """Settle, defer, learn robots and release, in that order, in one transaction.

        `commit.sequence` is one more than this writer's last (the first is 1). Sending the last
        sequence again returns the stored answer; any other number is a `FrontierMisuseError`, as
        is settling or deferring a URL that is not at its place in the queue.
        A lapsed lease whose site nobody took over still counts.
        A release without work left parks the site (`has_work` false) with its ready time kept, so
        that a URL added later does not make it early; before that, what is spilt comes back as
        far as there is room, at the places of its age, or is dropped if the site is full. The
        spill of an abandoned site stays where it is, and nobody waits for it.
        """

    async def exclude(self, sites: Sequence[str]) -> Excluded:
        """These sites are never leased again, and what is new to them is dropped. Final, and
        idempotent. Sites that are not known yet become known by it. Leases on them end at once:
        what their holders commit is refused, so nothing of a site is stored after this returned."""

    async def forget(self, site: str) -> Forgotten:
        """Remove everything that is kept of an excluded site, but that it is excluded: its URLs,
        settled ones included, and its robots records. Counts fall by what is removed. Works in
        slices, each atomic; sending it again removes what is left. `FrontierMisuseError` if the
        site is not excluded; one that is not known has nothing."""

    async def explain(self, site: str, hash_: int) -> UrlFacts:
        """What the frontier knows of a URL and of its site."""

    async def robots_of(self, site: str, origin: str) -> RobotsRecord | None:
        """What is kept of one origin's robots.txt, as a lease would bring it; None: nothing. For
        whoever explains a decision: reading it needs no lease, and gives no right to visit."""

    async def iterate(
        self, kind: Kind, *, after: Cursor | None = None, limit: int = 1000
    ) -> UrlPortion:
        """List URLs, a portion a call (at most `limit`, at least one unless it was the last).

        Each portion is a consistent view of its own; the listing as a whole is not. A URL that is
        of that kind, and at its place, from the first call to the last is given exactly once. URLs
        of excluded sites are not listed as pending or spilt. Pending URLs come in the order in
        which their site is to be visited.
        """

    async def iterate_sites(self, *, after: Cursor | None = None, limit: int = 1000) -> SitePortion:
        """List sites, in the same way."""

    async def find_sites(
        self, *, begins: str = "", order: SiteOrder = SiteOrder.NAME, skip: int = 0, limit: int = 50
    ) -> list[SiteFacts]:
        """The sites whose names begin so (in lower case, as names are), for a person to look at:
        a page of them. Only reads, and delays nobody. By name, and by ready time without a
        beginning, it costs what is skipped and shown; else it looks once at each site that fits,
        which for a million of them is about a second."""

    async def stats(self) -> FrontierStats:
        """Counts over the whole crawl, exact at one moment (of each server, where there are
        several)."""

    async def hand_over(self, to: str) -> None:
        """The crawl goes on elsewhere; `to` says where, for people, and stays among the settings
        (`MOVED_TO`). Atomic: every writer is retired and every lease ends, each site rests for as
        long as it would have, and nobody is enlisted from then on. So nothing changes here any
        more but what `add` and `exclude` are still sent for. `to=''` takes it back. May be sent
        again. `NoCrawlError` if there is no crawl."""

    async def clock(self) -> ClockReading:
        """Now, on the frontier's clock."""

    def export(self, part: Part) -> AsyncIterator[Sequence[Row]]:
        """All rows of one part, in portions, each a consistent view of its own. The listing as a
        whole is one of a crawl that was handed over; with others at work it may contradict itself.
        Pending and spilt URLs come with the `number` of their site rising, in the order of their
        places. Memory is bounded by the portion, which is short where rows are long."""

    async def restore(self, rows: Sequence[Row]) -> None:
        """Take rows as they are, of one kind: sites before all that is said of them, URLs at the
        places that they have, counts (`CountRow`) as what they are from then on. Places that are
        given later are behind these. Only between `clear` and `create`, by who cleared; after an
        error clear and begin again. Durable when `create` has returned."""
