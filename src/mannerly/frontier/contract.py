"""The contract of a frontier. Every engine passes `tests/conformance`.

**A lease is a ready time in the future.** Each site has a clock row: `ready_at`, `token`,
`has_work`. Leasing picks sites with `has_work and ready_at <= now` and moves `ready_at` to
`now + ttl` with a fresh random token, in one atomic step. Nothing is removed from any queue before
it is settled. A crash needs no cleaning up: the site is ready again when its `ready_at` passes.

Guarantees, on every engine and with any number of processes:

1. A URL that `add` reported as new or known is never lost: it stays until it is settled.
2. A site has at most one live lease. A token that has moved on can settle, defer, release and
   teach nothing; its parts of a commit are refused as a whole and reported.
3. A site that was released with `rest_s` is not leased before that much time has passed on the
   *frontier's* clock; a site whose lease lapsed, not before its `ttl`.
4. `add`, `lease` and `commit` are atomic and durable when they return. `add` may work in slices,
   each atomic: it is idempotent, so sending it again is always safe.
5. `commit` carries the writer's sequence number. The sequence and what was refused are stored in
   the same transaction; a commit that is sent again returns the stored answer and changes nothing.
6. The cost of `lease` and `commit` per site does not depend on how many URLs or sites there are.

Durations cross this border, instants never do: the frontier's own clock decides.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from mannerly.model import Commit, FrontierStats, Lease, NewUrl


class Added(NamedTuple):
    """What `add` did: `new` + `known` + `foreign` = what it was given (distinct hashes)."""

    new: int
    known: int
    foreign: int
    """Not added, because the site is unknown and `new_sites` was false."""


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

        `CrawlExistsError` if there is one already.
        """

    async def settings(self) -> dict[str, str] | None:
        """The settings the crawl was created with; None if there is no crawl yet."""

    async def enlist(self, label: str) -> int:
        """Register this process as a writer (id > 0, random). `label` is for people: host, pid."""

    async def writer_state(self, writer: int) -> WriterState | None:
        """How far a writer came. None: never heard of, or its row was cleared."""

    async def retire(self, writer: int, rest_s: float) -> int:
        """The writer is provably gone (or says goodbye): its leases end, and each of those sites
        is ready `rest_s` from now (or after its own delay, if that is longer and known), unless
        it would be sooner anyway. Its state and its counts
        stay. Returns how many sites came back. May be sent again."""

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        """Add what is not known yet. With `new_sites=False` only to sites that exist.

        Idempotent by (site, hash): of a known URL nothing changes. New sites are ready at once.
        """

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        """Lease up to `want` ready sites, longest ready first, each with the first
        `urls_per_site` URLs of its queue and the robots records of those URLs' origins."""

    async def commit(self, writer: int, commit: Commit) -> Committed:
        """Settle, defer, learn robots and release, in that order, in one transaction.

        `commit.sequence` is one more than this writer's last (the first is 1). Sending the last
        sequence again returns the stored answer; any other number is a `FrontierError`.
        A release without work left parks the site (`has_work` false) with its ready time kept, so
        that a URL added later does not make it early.
        """

    async def clear(self) -> None:
        """Remove all that was added before a crawl was created: the rest of a start that was
        interrupted while it read its seeds. `CrawlExistsError` if there is a crawl."""

    async def stats(self) -> FrontierStats: ...
