"""Counts: each open handle keeps its own tallies, and their sums are the crawl's.

Tallies move in the same transaction as what they count, so they are exact after any crash.
"""

from collections import Counter
from enum import StrEnum

from mannerly.frontier.postgres import statements
from mannerly.frontier.postgres.arrays import Ints, Texts
from mannerly.frontier.postgres.session import Session, Transaction
from mannerly.model import DropCause, FrontierStats, Outcome


class Name(StrEnum):
    """What is counted. The text is what the database holds; it never changes meaning."""

    SITES = "sites"
    SITES_ABANDONED = "sites_abandoned"
    SITES_EXCLUDED = "sites_excluded"
    URLS = "urls"
    URLS_ABANDONED = "urls_abandoned"
    URLS_SPILT = "urls_spilt"
    URLS_EXCLUDED = "urls_excluded"
    PENDING_EXCLUDED = "pending_excluded"
    """Those of them that were pending: they stay known."""
    DROPPED = "dropped"
    """By cause."""
    SETTLED = "settled"
    """By outcome."""
    LEASES = "leases"
    REFUSED = "refused"


class Counts:
    """What one transaction counts."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Name, int]] = Counter()

    def add(self, name: Name, more: int, outcome: int = 0) -> None:
        self._counts[name, outcome] += more

    def send(self, transaction: Transaction) -> None:
        """Within a round."""
        moved = {key: more for key, more in self._counts.items() if more}
        if moved:
            transaction.send(
                statements.COUNT,
                transaction.slot,
                Texts([name.value for name, _ in moved]),
                Ints([outcome for _, outcome in moved]),
                Ints(list(moved.values())),
            )


def stats(session: Session) -> FrontierStats:
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            totals_answer = view.send(statements.TOTALS)
            work_answer = view.send(statements.SITES_WITH_WORK)
            writers_answer = view.send(statements.WRITERS)
        now = view.clock.read(asked)
        with view.round():
            ready_answer = view.send(statements.SITES_READY, now.at)
            view.commit()
        resting = view.clock.rest_ms() > 0
    totals: dict[tuple[str, int], int] = {
        (name, outcome): total for name, outcome, total in totals_answer.fetchall()
    }
    ((with_work,),) = work_answer.fetchall()
    ((ready,),) = [(0,)] if resting else ready_answer.fetchall()
    ((writers,),) = writers_answer.fetchall()

    def total(name: Name) -> int:
        return totals.get((name.value, 0), 0)

    def parts(name: Name) -> dict[int, int]:
        return {part: count for (it, part), count in totals.items() if it == name and count}

    settled = {Outcome(part): count for part, count in parts(Name.SETTLED).items()}
    known = total(Name.URLS)
    return FrontierStats(
        sites=total(Name.SITES),
        sites_ready=ready,
        sites_waiting=with_work - ready,
        sites_abandoned=total(Name.SITES_ABANDONED),
        urls_known=known,
        urls_pending=known - sum(settled.values()) - total(Name.PENDING_EXCLUDED),
        urls_abandoned=total(Name.URLS_ABANDONED),
        urls_spilt=total(Name.URLS_SPILT),
        sites_excluded=total(Name.SITES_EXCLUDED),
        urls_excluded=total(Name.URLS_EXCLUDED),
        dropped={DropCause(part): count for part, count in parts(Name.DROPPED).items()},
        settled=settled,
        leases=total(Name.LEASES),
        refused=total(Name.REFUSED),
        writers=writers,
    )
