"""Sites by name: find their ids, make those that do not exist, exclude them."""

from collections.abc import Collection, Iterable, Sequence

from mannerly.errors import FrontierError
from mannerly.frontier.contract import Excluded
from mannerly.frontier.postgres import budgets, statements
from mannerly.frontier.postgres.arrays import Ints, Texts
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Session
from mannerly.frontier.site_ids import SiteIds
from mannerly.model import SiteState

PORTION = 1000
"""Sites that are looked for, or made, at a time."""


def find(session: Session, ids: SiteIds, keys: Iterable[str]) -> dict[str, int]:
    """The ids of the sites that exist."""
    found: dict[str, int] = {}
    missing: list[str] = []
    for key in keys:
        site = ids.get(key)
        if site:
            found[key] = site
        else:
            missing.append(key)
    for part in _portions(sorted(missing)):
        with session.reading() as view, view.round():
            answer = view.send(statements.FIND_SITES, Texts(part))
            view.commit()
        stored: dict[str, int] = dict(answer.fetchall())
        ids.learn(stored)
        found |= stored
    return found


def bear(session: Session, ids: SiteIds, keys: Iterable[str]) -> dict[str, int]:
    """Make sites, or find those that another process made meanwhile.

    In transactions of their own, sorted by key, before any URL of theirs is added: a site's name
    is the one lock that cannot be taken in the order of ids.
    """
    born: dict[str, int] = {}
    for part in _portions(sorted(keys)):
        counts = Counts()
        with session.writing() as transaction:
            with transaction.round():
                asked = transaction.moment()
                made = transaction.send(statements.ADD_SITES, Texts(part))
                # A statement of its own sees what others committed while the last one waited.
                found = transaction.send(statements.FIND_SITES, Texts(part))
            now = transaction.clock.read(asked)
            fresh = Ints(sorted(site for _, site in made.fetchall()))
            counts.add(Name.SITES, len(fresh.values))
            with transaction.round():
                transaction.send(statements.ADD_BUDGETS, fresh)
                transaction.send(statements.ADD_CLOCKS, fresh, now.at)
                counts.send(transaction)
                transaction.commit()
        stored: dict[str, int] = dict(found.fetchall())
        ids.learn(stored)
        born |= stored
    return born


def require_all(
    session: Session, ids: SiteIds, sites: Collection[object], locked: Collection[object]
) -> None:
    """Every site whose id we know is there, unless another process cleared the crawl."""
    if len(locked) != len(sites):
        ids.forget()
        raise FrontierError(f"{session.where}: the crawl was cleared meanwhile; send it again")


def id_of(session: Session, ids: SiteIds, key: str) -> int:
    """The id of one site, which is made if there is none."""
    return (find(session, ids, [key]) or bear(session, ids, [key]))[key]


def _portions(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(keys), PORTION):
        yield keys[start : start + PORTION]


def exclude(session: Session, ids: SiteIds, keys: Sequence[str]) -> Excluded:
    if not keys:
        return Excluded(0, 0)
    wanted = set(keys)
    known = find(session, ids, wanted)
    known |= bear(session, ids, wanted - known.keys())
    counts = Counts()
    with session.writing() as transaction:
        with transaction.round():
            answer = transaction.send(statements.LOCK_SITES, Ints(sorted(known.values())))
        locked = budgets.locked(answer)
        require_all(session, ids, known, locked)
        fresh = [it for it in locked.values() if it.state != SiteState.EXCLUDED]
        for budget in fresh:
            if budget.state == SiteState.ABANDONED:
                counts.add(Name.SITES_ABANDONED, -1)
                counts.add(Name.URLS_ABANDONED, -budget.pending)
            counts.add(Name.SITES_EXCLUDED, 1)
            counts.add(Name.URLS_EXCLUDED, budget.pending + budget.spilt)
            counts.add(Name.PENDING_EXCLUDED, budget.pending)
            counts.add(Name.URLS_SPILT, -budget.spilt)
            budget.state = SiteState.EXCLUDED
        with transaction.round():
            budgets.write(transaction, fresh)
            transaction.send(statements.SHUT, Ints([budget.site for budget in fresh]))
            counts.send(transaction)
            transaction.commit()
    return Excluded(len(fresh), sum(budget.pending + budget.spilt for budget in fresh))
