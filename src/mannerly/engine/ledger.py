"""The ledger: what happened since the last checkpoint, not durable yet.

Visits write into it, the checkpointer takes all of it at once. Rests are kept as instants on this
process's clock and become durations only when they are sent, so time spent in the ledger counts.
"""

import math
from dataclasses import dataclass, field
from sys import getsizeof
from typing import NamedTuple

from mannerly.engine.exchange import exchange_of
from mannerly.evidence import RequestRecord, RunRecord
from mannerly.fetch.contract import Fetched
from mannerly.model import (
    Commit,
    Deferred,
    Lease,
    NewUrl,
    Outcome,
    QueuedUrl,
    Released,
    RobotsRecord,
    RobotsSeen,
    Settled,
)
from mannerly.quick import quick
from mannerly.records import ExtractRecord, FetchRecord, LinkRecord, PageRecord
from mannerly.store.contract import Rows

_BYTES_A_LINK = 150


@quick
class Release(NamedTuple):
    lease: Lease
    not_before_at: float
    failures: int
    abandoned: bool
    delay_s: float


class Learned(NamedTuple):
    lease: Lease
    record: RobotsRecord
    fetched_at: float


@dataclass(slots=True)
class Batch:
    """One checkpoint's worth."""

    settled: list[Settled] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    learned: list[Learned] = field(default_factory=list)
    links: list[NewUrl] = field(default_factory=list)
    rows: Rows = field(default_factory=Rows)
    """For the store."""
    text_bytes: int = 0
    """What texts and bodies take in memory."""
    due_at: float = math.inf
    """When the first of the released sites may be visited again."""

    @property
    def empty(self) -> bool:
        return not (
            self.settled
            or self.deferred
            or self.releases
            or self.learned
            or self.links
            or self.rows
        )

    def commit(self, sequence: int, now: float) -> Commit:
        """What the frontier is told, with durations as of `now`."""
        return Commit(
            sequence,
            self.settled,
            self.deferred,
            [
                Released(
                    r.lease.handle,
                    r.lease.token,
                    max(0.0, r.not_before_at - now),
                    r.failures,
                    r.abandoned,
                    r.delay_s,
                )
                for r in self.releases
            ],
            [
                RobotsSeen(
                    k.lease.handle, k.lease.token, k.record._replace(age_s=now - k.fetched_at)
                )
                for k in self.learned
            ],
        )


class Ledger:
    def __init__(self, *, keeps_exchanges: bool = False) -> None:
        self._keeps_exchanges = keeps_exchanges
        self._batch = Batch()

    @property
    def size(self) -> int:
        """What waits for a checkpoint: settled and deferred URLs, and released sites."""
        batch = self._batch
        return max(len(batch.settled) + len(batch.deferred), len(batch.releases))

    @property
    def links(self) -> int:
        return len(self._batch.links)

    @property
    def empty(self) -> bool:
        return self._batch.empty

    @property
    def text_bytes(self) -> int:
        return self._batch.text_bytes

    def brings_work(self, now: float) -> bool:
        """Would a checkpoint make a site ready: a release that is due, or links to add?"""
        return bool(self._batch.links) or self._batch.due_at <= now

    def take(self) -> Batch:
        batch, self._batch = self._batch, Batch()
        return batch

    def settle(self, lease: Lease, url: QueuedUrl, outcome: Outcome, fetch: FetchRecord) -> None:
        self._batch.settled.append(
            Settled(lease.handle, lease.token, url.priority, url.seq, url.hash, outcome)
        )
        self._batch.rows.add(fetch)

    def defer(self, lease: Lease, url: QueuedUrl, priority: int) -> None:
        """The URL was tried in vain: it goes to `priority`, behind what waits there."""
        self._batch.deferred.append(
            Deferred(lease.handle, lease.token, url.priority, url.seq, priority, url.tries + 1)
        )

    def release(self, release: Release) -> None:
        self._batch.releases.append(release)
        self._batch.due_at = min(self._batch.due_at, release.not_before_at)

    def learn(self, learned: Learned) -> None:
        self._batch.learned.append(learned)
        self._batch.text_bytes += len(learned.record.body)

    def note(self, record: RequestRecord | RunRecord) -> None:
        """A request was made. Always with something that is to be committed, so never alone."""
        self._batch.rows.add(record)
        if isinstance(record, RequestRecord):
            self._batch.text_bytes += len(record.body)

    def add_links(self, links: list[NewUrl]) -> None:
        self._batch.links.extend(links)

    def store(self, page: PageRecord, links: LinkRecord | None = None) -> None:
        self._batch.rows.add(page)
        # What it takes here: one strange character makes two or four bytes of all others.
        self._batch.text_bytes += getsizeof(page.text) + getsizeof(page.main_text)
        if links is not None:
            self._batch.rows.add(links)
            self._batch.text_bytes += _BYTES_A_LINK * len(links.target)

    def archive(
        self, lease: Lease, fetched: Fetched, fetched_at: float, *about: tuple[str, str]
    ) -> None:
        """Keep what went over the wire, if the crawl keeps that: whatever response was read."""
        if self._keeps_exchanges and fetched.failure is None:
            self._batch.rows.add(exchange_of(fetched, lease.token, fetched_at, about))
            self._batch.text_bytes += len(fetched.body)

    def store_extract(self, extract: ExtractRecord) -> None:
        self._batch.rows.add(extract)
        self._batch.text_bytes += len(extract.data)
