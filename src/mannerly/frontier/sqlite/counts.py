"""A site's counts, and the front of its queue, while a transaction works on them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Transaction

NO_FRONT = (-(2**15), 0)
"""Before every place: priorities are small numbers, and places are counted from 1."""


@dataclass(slots=True)
class Counts:
    """Of one site, as its clock row holds them; changed as the transaction goes on."""

    site: int
    state: int
    pending: int
    pages: int
    spilt: int
    dropped: int
    front_priority: int
    front_seq: int
    litter: int

    @property
    def front(self) -> tuple[int, int]:
        """Up to this place the queue is settled."""
        return (self.front_priority, self.front_seq)

    def row(self) -> "Row":
        return (
            self.site,
            self.state,
            self.pending,
            self.pages,
            self.spilt,
            self.dropped,
            self.front_priority,
            self.front_seq,
            self.litter,
        )


Row = tuple[int, int, int, int, int, int, int, int, int]
"""The fields of `Counts`, in their order."""


def counts_of(transaction: Transaction, sites: Iterable[int]) -> list[Row]:
    return transaction.execute(statements.COUNTS, (json.dumps(list(sites)),)).fetchall()
