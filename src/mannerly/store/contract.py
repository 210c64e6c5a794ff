"""The contract of a store, as one crawl process writes it.

Pages become visible to readers only when the frontier has settled them, so that what readers see
is each page exactly once, whatever was killed in between:

1. `write(sequence, ...)` appends one checkpoint's records to this writer's journal. When it
   returns they are durable, but nobody counts them yet.
2. The engine commits the same sequence to the frontier.
3. `settle(sequence, refused)` says that the commit happened; rows of refused leases are void.
4. Settled batches are rolled into Parquet when there are enough of them (`roll`), and at close.

After a crash, `recover` asks the frontier how far each dead writer came (`WriterState`): batches up
to that sequence count, later ones are void (their URLs are still pending; they are fetched again).
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from mannerly.model import FetchRecord, PageRecord


class Store(Protocol):
    """One writer's side of the store. Blocking; the engine runs it on an executor."""

    def write(
        self, sequence: int, fetches: Sequence[FetchRecord], pages: Sequence[PageRecord]
    ) -> None:
        """Append one batch and make it durable. `StoreError`: it is not durable; nothing of it
        counts, and the same sequence may be written again once the disk is mended."""

    def settle(self, sequence: int, refused: Collection[int]) -> None:
        """The frontier committed `sequence`; rows whose token is in `refused` are void."""

    def roll(self, *, force: bool = False) -> int:
        """Turn full segments (all settled ones, with `force`) into Parquet; how many files."""

    def close(self) -> None:
        """Roll what is settled and give the journal's lock back."""
