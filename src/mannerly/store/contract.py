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

Rows that tell of what happened, and not of what was settled, are never void: they stand from the
moment their batch is durable (`mannerly.store.tables`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Protocol, TypeVar, cast

Record = tuple[Any, ...]
"""A row of one of the store's tables: a NamedTuple of `mannerly.model`."""

R = TypeVar("R", bound=Record)


class Rows:
    """The rows of one checkpoint, of whatever tables. Which table a row is of, its type says."""

    def __init__(self, *records: Iterable[Record]) -> None:
        self._rows: defaultdict[type[Record], list[Record]] = defaultdict(list)
        for some in records:
            for record in some:
                self.add(record)

    def add(self, record: Record) -> None:
        self._rows[type(record)].append(record)

    def of(self, kind: type[R]) -> list[R]:
        """The rows of one table."""
        return cast("list[R]", self._rows.get(kind, []))

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))


class Store(Protocol):
    """One writer's side of the store. Blocking; the engine runs it on an executor."""

    def write(self, sequence: int, rows: Rows) -> None:
        """Append one batch and make it durable. `StoreError`: it is not durable; nothing of it
        counts, and the same sequence may be written again once the disk is mended."""

    def settle(self, sequence: int, refused: Collection[int]) -> None:
        """The frontier committed `sequence`; rows whose token is in `refused` are void."""

    def roll(self, *, force: bool = False) -> int:
        """Turn full segments (all settled ones, with `force`) into Parquet; how many files."""

    def close(self) -> None:
        """Roll what is settled and give the journal's lock back."""
