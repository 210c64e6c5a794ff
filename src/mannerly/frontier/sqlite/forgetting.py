"""Forget: what an excluded site had is removed, a slice at a time; its exclusion stays."""

from collections import Counter

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Forgotten
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.model import Outcome, SiteState

SLICE = 2_000
"""Rows removed in one transaction, so that no lease waits long behind it."""


def forget(database: Database, key: str) -> Forgotten:
    total = Forgotten(0, 0, 0)
    while True:
        with database.writing("forget") as transaction:
            site = _excluded(transaction, key)
            if site is None:
                return total
            part = _slice(transaction, site)
        if part == (0, 0, 0):
            return total
        total = Forgotten(*(a + b for a, b in zip(total, part, strict=True)))


def _excluded(transaction: Transaction, key: str) -> int | None:
    row = transaction.execute(statements.SITE_STATE, (key,)).fetchone()
    if row is None:
        return None
    site: int
    site, state = row
    if state != SiteState.EXCLUDED:
        raise FrontierMisuseError(f"{key} is not excluded; exclude it before it is forgotten")
    return site


def _slice(transaction: Transaction, site: int) -> Forgotten:
    def remove(statement: str) -> list[tuple[int]]:
        return transaction.execute(statement, (site, site, SLICE)).fetchall()

    outcomes = Counter(outcome for (outcome,) in remove(statements.FORGET_SEEN))
    pending = outcomes.pop(Outcome.PENDING, 0)
    settled = outcomes.total()
    queued = len(remove(statements.FORGET_QUEUE))
    spilt = len(remove(statements.FORGET_SPILL))
    robots = transaction.execute(statements.FORGET_ROBOTS, (site,)).rowcount
    count(transaction, NOBODY, Name.URLS, -(pending + settled))
    count(transaction, NOBODY, Name.PENDING_EXCLUDED, -pending)
    count(transaction, NOBODY, Name.URLS_SPILT, -spilt)
    count(transaction, NOBODY, Name.SPILT_EXCLUDED, -spilt)
    for outcome, number in outcomes.items():
        count(transaction, NOBODY, Name.SETTLED, -number, outcome)
    pages = outcomes[Outcome.FETCHED]
    if pending or settled or queued or spilt:
        transaction.execute(statements.FORGET_COUNTS, (pending, pages, spilt, site))
    return Forgotten(pending + spilt, settled, robots)
