"""Forget: what an excluded site had is removed, a slice at a time; its exclusion stays."""

from collections import Counter

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Forgotten
from mannerly.frontier.postgres import budgets, sites, statements
from mannerly.frontier.postgres.arrays import Ints
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.site_ids import SiteIds
from mannerly.model import Outcome, SiteState

SLICE = 5_000
"""Rows removed in one transaction, so that nobody waits long for the site's row."""


def forget(session: Session, ids: SiteIds, key: str) -> Forgotten:
    known = sites.find(session, ids, [key])
    total = Forgotten(0, 0, 0)
    while known:
        part = _slice(session, ids, key, known[key])
        if part == (0, 0, 0):
            break
        total = Forgotten(*(a + b for a, b in zip(total, part, strict=True)))
    return total


def _slice(session: Session, ids: SiteIds, key: str, site: int) -> Forgotten:
    counts = Counts()
    with session.writing() as transaction:
        with transaction.round():
            answer = transaction.send(statements.LOCK_SITES, Ints([site]))
        locked = budgets.locked(answer)
        sites.require_all(session, ids, [key], locked)
        budget = locked[site]
        if budget.state != SiteState.EXCLUDED:
            raise FrontierMisuseError(f"{key} is not excluded; exclude it before it is forgotten")
        with transaction.round():
            seen = transaction.send(statements.FORGET_SEEN, site, SLICE)
            transaction.send(statements.FORGET_QUEUE, site, SLICE)
            spill = transaction.send(statements.FORGET_SPILL, site, SLICE)
            robots = transaction.send(statements.FORGET_ROBOTS, site)
        outcomes = Counter(outcome for (outcome,) in seen.fetchall())
        pending = outcomes.pop(Outcome.PENDING, 0)
        settled, spilt = outcomes.total(), spill.rowcount
        counts.add(Name.URLS, -(pending + settled))
        counts.add(Name.URLS_EXCLUDED, -(pending + spilt))
        counts.add(Name.PENDING_EXCLUDED, -pending)
        for outcome, number in outcomes.items():
            counts.add(Name.SETTLED, -number, outcome)
        budget.pending -= pending
        budget.spilt -= spilt
        budget.pages -= outcomes[Outcome.FETCHED]
        with transaction.round():
            budgets.write(transaction, [budget])
            counts.send(transaction)
            transaction.commit()
    return Forgotten(pending + spilt, settled, robots.rowcount)
