"""Exclude: sites that are never leased again. Their rows stay where they are; the state counts."""

from collections.abc import Sequence

from mannerly.frontier.contract import Excluded
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.adding import make_sites
from mannerly.frontier.sqlite.counts import Counts, counts_of
from mannerly.frontier.sqlite.database import Database
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.model import SiteState


def exclude(database: Database, keys: Sequence[str]) -> Excluded:
    with database.writing("exclude", sites=len(keys)) as transaction:
        sites = make_sites(transaction, sorted(set(keys)))
        counts = [
            it
            for it in (Counts(*row) for row in counts_of(transaction, sites.values()))
            if it.state != SiteState.EXCLUDED
        ]
        transaction.executemany(statements.EXCLUDE, [(it.site,) for it in counts])
        pending = sum(it.pending for it in counts)
        spilt = sum(it.spilt for it in counts)
        abandoned = [it for it in counts if it.state == SiteState.ABANDONED]
        count(transaction, NOBODY, Name.SITES_EXCLUDED, len(counts))
        count(transaction, NOBODY, Name.PENDING_EXCLUDED, pending)
        count(transaction, NOBODY, Name.SPILT_EXCLUDED, spilt)
        # A site is counted once, as what it is now.
        count(transaction, NOBODY, Name.SITES_ABANDONED, -len(abandoned))
        count(transaction, NOBODY, Name.URLS_ABANDONED, -sum(it.pending for it in abandoned))
        return Excluded(len(counts), pending + spilt)
