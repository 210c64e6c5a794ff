"""A site's counts and state while its row is locked, and what its spill does with them.

The row is the site's lock: whoever changes anything of a site takes it first, all sites of a
transaction in the order of their ids. `mannerly.frontier.caps` decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mannerly.frontier import caps as deciding
from mannerly.frontier.postgres import statements
from mannerly.frontier.postgres.arrays import Ints, columns
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Answer, Transaction
from mannerly.model import Caps, DropCause, SiteState


@dataclass(slots=True)
class Budget:
    """A row of `budget`."""

    site: int
    pending: int
    pages: int
    spilt: int
    dropped: int
    failures: int
    delay: int
    state: int

    def row(self) -> tuple[int, ...]:
        """All fields. `dataclasses.astuple` copies each deeply, which costs more than the SQL."""
        counts = (self.pending, self.pages, self.spilt, self.dropped)
        return (self.site, *counts, self.failures, self.delay, self.state)

    @property
    def waits(self) -> bool:
        """There is, or may be, something to lease the site for."""
        return self.state == SiteState.OPEN and (self.pending > 0 or self.spilt > 0)


Budgets = dict[int, Budget]


def locked(answer: Answer) -> Budgets:
    """The answer to `LOCK_SITES`, by site."""
    return {row[0]: Budget(*row) for row in answer.fetchall()}


def write(transaction: Transaction, budgets: Iterable[Budget]) -> None:
    """Within a round."""
    rows = [budget.row() for budget in budgets]
    if rows:
        transaction.send(statements.WRITE_BUDGETS, *columns(rows, 8))


class Refill:
    """What comes back from the spills of some sites, or is dropped there."""

    def __init__(self, caps: Caps, counts: Counts) -> None:
        self._caps = caps
        self._counts = counts
        self._back: list[tuple[int, int]] = []
        self._emptied: list[int] = []

    def decide(self, budget: Budget) -> None:
        """Move one site's counts; `send` moves its URLs."""
        if not budget.spilt:
            return
        if deciding.is_full(self._caps, pages=budget.pages):
            self._emptied.append(budget.site)
            self._counts.add(Name.URLS_SPILT, -budget.spilt)
            self._counts.add(Name.DROPPED, budget.spilt, DropCause.SITE_FULL)
            budget.dropped += budget.spilt
            budget.spilt = 0
        back = deciding.coming_back(
            self._caps, pending=budget.pending, pages=budget.pages, spilt=budget.spilt
        )
        if back:
            self._back.append((budget.site, back))
            self._counts.add(Name.URLS_SPILT, -back)
            self._counts.add(Name.URLS, back)
            budget.pending += back
            budget.spilt -= back

    def send(self, transaction: Transaction) -> None:
        """Within a round."""
        if self._emptied:
            transaction.send(statements.DROP_SPILL, Ints(self._emptied))
        if self._back:
            total = sum(count for _, count in self._back)
            transaction.send(statements.COME_BACK, *columns(self._back, 2), total)
