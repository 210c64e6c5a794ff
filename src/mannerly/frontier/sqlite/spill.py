"""A site's spill: what comes back from it, or is dropped with it. The numbers are
`mannerly.frontier.caps`' business."""

from mannerly.frontier import caps
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counts import Counts
from mannerly.frontier.sqlite.database import Transaction
from mannerly.frontier.sqlite.front import make_way
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.model import Caps, DropCause, SiteState


def drop(transaction: Transaction, counts: Counts, urls: int, cause: DropCause) -> None:
    """Count URLs that are dropped for good."""
    count(transaction, NOBODY, Name.DROPPED, urls, cause.value)
    counts.dropped += urls


def refill(transaction: Transaction, limits: Caps, counts: Counts) -> None:
    """Bring what is spilt back into the queue, as far as there is room; or drop it, if the site
    has given all its pages."""
    if not counts.spilt or counts.state != SiteState.OPEN:
        return
    if caps.is_full(limits, pages=counts.pages) and not counts.pending:
        transaction.execute(statements.DROP_SPILL, (counts.site,))
        count(transaction, NOBODY, Name.URLS_SPILT, -counts.spilt)
        drop(transaction, counts, counts.spilt, DropCause.SITE_FULL)
        counts.spilt = 0
        return
    wanted = caps.coming_back(
        limits, pending=counts.pending, pages=counts.pages, spilt=counts.spilt
    )
    if not wanted:
        return
    rows = transaction.execute(statements.SPILT_FIRST, (counts.site, wanted)).fetchall()
    transaction.execute(statements.UNSPILL, (counts.site, rows[-1][1], rows[-1][2]))
    make_way(transaction, counts, rows[0][1], rows[0][2])
    transaction.executemany(statements.SEE, sorted((row[0], row[3]) for row in rows))
    transaction.executemany(statements.ENQUEUE, rows)
    count(transaction, NOBODY, Name.URLS_SPILT, -len(rows))
    count(transaction, NOBODY, Name.URLS, len(rows))
    counts.pending += len(rows)
    counts.spilt -= len(rows)
