"""The checkpoint: from "it happened" to "it is on disk and counts".

The order survives a kill:

1. the batch's records are appended to the journal and made durable;
2. its links are added to the frontier (idempotent);
3. its outcomes, robots records and releases are committed with this writer's sequence number;
4. the store is told that the batch counts.

A kill after any of these steps loses nothing: before 3 the URLs are still pending and the journal's
batch is void; after 3 the batch counts, whoever is told. Trouble with the disk or the database
pauses the crawl: the same step is tried again, with the same sequence, until it works.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mannerly.clock import Clock, Executor
from mannerly.engine.consumer import NOBODY, Consumer
from mannerly.engine.ledger import Batch, Ledger
from mannerly.engine.patience import Patience
from mannerly.engine.plan import EnginePlan
from mannerly.engine.sieve import KnownHashes
from mannerly.frontier.contract import Frontier
from mannerly.model import NewUrl, Outcome
from mannerly.observe.tally import Tally
from mannerly.store.contract import Store

LINKS_A_BATCH = 200_000
BACKLOG_BATCHES = 4


class Checkpointer:
    def __init__(
        self,
        *,
        plan: EnginePlan,
        ledger: Ledger,
        frontier: Frontier,
        store: Store,
        store_executor: Executor,
        writer: int,
        known: KnownHashes,
        tally: Tally,
        clock: Clock,
        consumer: Consumer = NOBODY,
    ) -> None:
        self._consumer = consumer
        self._plan = plan
        self._ledger = ledger
        self._frontier = frontier
        self._store = store
        self._store_executor = store_executor
        self._writer = writer
        self._known = known
        self._tally = tally
        self._clock = clock
        self._patience = Patience(tally)
        self._sequence = 0
        self._most = max(BACKLOG_BATCHES * plan.checkpoint_pages, 2 * plan.workers)
        self.last_at = clock.now()

    @property
    def full(self) -> bool:
        """The ledger holds a batch's worth: do not wait for the interval."""
        return self._ledger.size >= self._plan.checkpoint_pages or self._heavy(1)

    @property
    def overfull(self) -> bool:
        """The disk, the database or the consumer does not keep up: start nothing until it has.

        As many results as there can be fetches in flight are no sign of that: they may all end
        within a second.
        """
        return (
            self._ledger.size >= self._most or self._heavy(BACKLOG_BATCHES) or self._consumer.behind
        )

    def _heavy(self, batches: int) -> bool:
        ledger = self._ledger
        return (
            ledger.text_bytes >= batches * self._plan.batch_bytes
            or ledger.links >= batches * LINKS_A_BATCH
        )

    async def run(self) -> frozenset[int] | None:
        """One checkpoint of everything that is in the ledger now.

        Which tokens were refused; None if there was nothing to do.
        """
        batch = self._ledger.take()
        if batch.empty:
            self.last_at = self._clock.now()
            return None
        self._sequence += 1
        sequence = self._sequence
        await self._patience.until_done(
            lambda: self._store_executor.run(lambda: self._write(sequence, batch))
        )
        await self._add(batch)
        committed = await self._patience.until_done(
            lambda: self._frontier.commit(self._writer, batch.commit(sequence, self._clock.now()))
        )
        self._tally.committed += sum(it.outcome is Outcome.FETCHED for it in batch.settled)
        self._tally.refused += len(committed.refused)
        await self._patience.until_done(
            lambda: self._store_executor.run(lambda: self._settle(sequence, committed.refused))
        )
        self._consumer.settled(batch.rows, committed.refused)
        self._tally.checkpoints += 1
        self.last_at = self._clock.now()
        return committed.refused

    async def _add(self, batch: Batch) -> None:
        if not batch.links:
            return
        links = list({(link.site, link.hash): link for link in batch.links}.values())
        for start in range(0, len(links), LINKS_A_BATCH):
            part = links[start : start + LINKS_A_BATCH]
            await self._add_part(part)

    async def _add_part(self, part: list[NewUrl]) -> None:
        added = await self._patience.until_done(
            lambda: self._frontier.add(part, new_sites=self._plan.new_sites)
        )
        self._tally.urls_new += added.new
        self._known.remember(link.hash for link in part)

    def _write(self, sequence: int, batch: Batch) -> None:
        with self._timed():
            self._store.write(sequence, batch.rows)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Real time, since it says how busy a disk is; nothing is decided by it."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self._tally.store_s += time.perf_counter() - began_s

    def _settle(self, sequence: int, refused: frozenset[int]) -> None:
        with self._timed():
            self._store.settle(sequence, refused)
            self._store.roll()
