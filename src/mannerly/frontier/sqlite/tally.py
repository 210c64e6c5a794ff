"""Counts: each writer keeps its own tallies, and their sums are the crawl's.

Tallies move in the same transaction as what they count, so they are exact after any crash.
"""

from collections import Counter
from enum import StrEnum

from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.model import DropCause, FrontierStats, Outcome

NOBODY = 0
"""The writer under whom adding is counted, because `add` names none."""


class Name(StrEnum):
    """What is counted. The text is what the file holds; it never changes meaning."""

    SITES = "sites"
    SITES_ABANDONED = "sites_abandoned"
    URLS = "urls"
    URLS_ABANDONED = "urls_abandoned"
    URLS_SPILT = "urls_spilt"
    SITES_EXCLUDED = "sites_excluded"
    PENDING_EXCLUDED = "pending_excluded"
    SPILT_EXCLUDED = "spilt_excluded"
    DROPPED = "dropped"
    """By cause: where other names have an outcome, a `DropCause`."""
    SETTLED = "settled"
    """By outcome."""
    LEASES = "leases"
    REFUSED = "refused"


def count(transaction: Transaction, writer: int, name: Name, more: int, outcome: int = 0) -> None:
    if more:
        transaction.execute(statements.COUNT, (writer, name.value, outcome, more))


def stats(database: Database) -> FrontierStats:
    with database.reading("stats") as view:
        totals: Counter[tuple[str, int]] = Counter()
        for name, outcome, total in view.execute(statements.TOTALS):
            totals[name, outcome] = total
        (with_work,) = view.execute(statements.SITES_WITH_WORK).fetchone()
        resting = view.now.at < view.rest_until
        (ready,) = (
            (0,) if resting else view.execute(statements.SITES_READY, (view.now.at,)).fetchone()
        )
        (writers,) = view.execute(statements.WRITERS).fetchone()
    return FrontierStats(
        sites=totals[Name.SITES, 0],
        sites_ready=ready,
        sites_waiting=with_work - ready,
        sites_abandoned=totals[Name.SITES_ABANDONED, 0],
        urls_known=totals[Name.URLS, 0],
        urls_pending=totals[Name.URLS, 0]
        - sum(total for (name, _), total in totals.items() if name == Name.SETTLED)
        - totals[Name.PENDING_EXCLUDED, 0],
        urls_abandoned=totals[Name.URLS_ABANDONED, 0],
        urls_spilt=totals[Name.URLS_SPILT, 0] - totals[Name.SPILT_EXCLUDED, 0],
        sites_excluded=totals[Name.SITES_EXCLUDED, 0],
        urls_excluded=totals[Name.PENDING_EXCLUDED, 0] + totals[Name.SPILT_EXCLUDED, 0],
        dropped={
            DropCause(cause): total
            for (name, cause), total in totals.items()
            if name == Name.DROPPED
        },
        settled={
            Outcome(outcome): total
            for (name, outcome), total in totals.items()
            if name == Name.SETTLED
        },
        leases=totals[Name.LEASES, 0],
        refused=totals[Name.REFUSED, 0],
        writers=writers,
    )
