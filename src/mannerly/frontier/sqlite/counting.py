"""Counts: each writer keeps its own tallies, and their sums are the crawl's.

Tallies move in the same transaction as what they count, so they are exact after any crash.
"""

from enum import StrEnum

from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.model import FrontierStats, Outcome

NOBODY = 0
"""The writer under whom adding is counted, because `add` names none."""


class Name(StrEnum):
    """What is counted. The text is what the file holds; it never changes meaning."""

    SITES = "sites"
    SITES_ABANDONED = "sites_abandoned"
    URLS = "urls"
    URLS_ABANDONED = "urls_abandoned"
    SETTLED = "settled"
    """By outcome."""
    LEASES = "leases"
    REFUSED = "refused"


def count(transaction: Transaction, writer: int, name: Name, more: int, outcome: int = 0) -> None:
    if more:
        transaction.execute(statements.COUNT, (writer, name.value, outcome, more))


def stats(database: Database) -> FrontierStats:
    with database.reading() as view:
        totals = {
            (name, outcome): total for name, outcome, total in view.execute(statements.TOTALS)
        }
        (with_work,) = view.execute(statements.SITES_WITH_WORK).fetchone()
        resting = view.now.at < view.rest_until
        (ready,) = (
            (0,) if resting else view.execute(statements.SITES_READY, (view.now.at,)).fetchone()
        )
        (writers,) = view.execute(statements.WRITERS).fetchone()
    settled = {
        Outcome(outcome): total for (name, outcome), total in totals.items() if name == Name.SETTLED
    }
    known = totals.get((Name.URLS, 0), 0)
    return FrontierStats(
        sites=totals.get((Name.SITES, 0), 0),
        sites_ready=ready,
        sites_waiting=with_work - ready,
        sites_abandoned=totals.get((Name.SITES_ABANDONED, 0), 0),
        urls_known=known,
        urls_pending=known - sum(settled.values()),
        urls_abandoned=totals.get((Name.URLS_ABANDONED, 0), 0),
        settled=settled,
        leases=totals.get((Name.LEASES, 0), 0),
        refused=totals.get((Name.REFUSED, 0), 0),
        writers=writers,
    )
