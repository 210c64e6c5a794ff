"""Explain and iterate: what the frontier holds, for people and for other programs. Reads only."""

from mannerly.frontier.contract import Cursor, Kind, SiteOrder, SitePortion, UrlPortion
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.model import (
    COUNTED_BEFORE,
    ListedUrl,
    Outcome,
    QueuedUrl,
    RobotsRecord,
    RobotsState,
    SiteFacts,
    SiteState,
    UrlFacts,
    UrlState,
)

BEFORE_ALL = -(2**63)

BEHIND_ALL = "\U0010ffff"
"""Behind every character that a name may go on with."""

_ORDERS = {
    SiteOrder.NAME: "ORDER BY site.key",
    SiteOrder.NEXT: "ORDER BY clock.ready_at, site.id",
    SiteOrder.PAGES: "ORDER BY clock.pages DESC, site.id",
    SiteOrder.PENDING: "ORDER BY clock.pending DESC, site.id",
    SiteOrder.FAILURES: "ORDER BY clock.failures DESC, site.id",
}

SiteRow = tuple[str, int, int, int, str, int, int, int, int, int, int, int]


def explain(database: Database, key: str, hash_: int) -> UrlFacts:
    with database.reading("explain") as view:
        row = view.execute(statements.SITE_BY_KEY, (key,)).fetchone()
        if row is None:
            return UrlFacts(None, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
        facts, place = _site_facts(view, row), (row[-1], hash_)
        seen = view.execute(statements.URL_OUTCOME, place).fetchone()
        if seen is None:
            spilt = view.execute(statements.URL_SPILT, place).fetchone()
            if spilt is None:
                return UrlFacts(facts, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
            queued = QueuedUrl._make(spilt)
            return UrlFacts(facts, UrlState.SPILT, Outcome.PENDING, queued, facts.pending)
        outcome = Outcome(seen[0])
        if outcome is not Outcome.PENDING:
            return UrlFacts(facts, UrlState.SETTLED, outcome, None, 0)
        queued = QueuedUrl._make(view.execute(statements.URL_QUEUED, place).fetchone())
        (before,) = view.execute(
            statements.GOING_BEFORE, (row[-1], queued.priority, queued.seq, COUNTED_BEFORE)
        ).fetchone()
        return UrlFacts(facts, UrlState.PENDING, outcome, queued, before)


def _site_facts(view: Transaction, row: SiteRow) -> SiteFacts:
    key, state, ready_at, token, holder, failures, delay, pending, spilt, pages, dropped, _ = row
    ready_in_s = (ready_at - view.now.at) / 1000
    leased = token != 0 and ready_in_s > 0
    return SiteFacts(
        site=key,
        state=SiteState(state),
        ready_in_s=ready_in_s,
        leased=leased,
        holder=holder if leased else "",
        failures=failures,
        delay_s=delay / 1000,
        pending=pending,
        spilt=spilt,
        pages=pages,
        dropped=dropped,
    )


def robots_of(database: Database, key: str, origin: str) -> RobotsRecord | None:
    with database.reading("robots_of") as view:
        row = view.execute(statements.ROBOTS_OF, (key, origin)).fetchone()
        if row is None:
            return None
        state, body, fetched_at, failures = row
        age_s = max(0, view.now.at - fetched_at) / 1000
        return RobotsRecord(origin, RobotsState(state), body, age_s, failures)


def sites(database: Database, after: Cursor | None, limit: int) -> SitePortion:
    with database.reading("iterate", limit=limit) as view:
        rows = view.execute(statements.SITES_AFTER, (*(after or (0,)), limit)).fetchall()
        listed = [_site_facts(view, row) for row in rows]
    return SitePortion(listed, (rows[-1][-1],) if len(rows) == limit else None)


def find_sites(
    database: Database, begins: str, order: SiteOrder, skip: int, limit: int
) -> list[SiteFacts]:
    with database.reading("find_sites", limit=limit) as view:
        if begins or order is SiteOrder.NAME:
            statement = statements.SITES_BY_NAME + _ORDERS[order] + " LIMIT ? OFFSET ?"
            rows = view.execute(statement, (begins, begins + BEHIND_ALL, limit, skip))
        else:
            clocks = statements.CLOCKS_BY_TIME
            if order is not SiteOrder.NEXT:
                clocks = statements.CLOCKS_BY_COUNT.format(count=order.value)
            rows = view.execute(statements.SITES_IN_ORDER.format(clocks=clocks), (limit, skip))
        return [_site_facts(view, row) for row in rows]


def urls(database: Database, kind: Kind, after: Cursor | None, limit: int) -> UrlPortion:
    with database.reading("iterate", limit=limit) as view:
        match kind:
            case Kind.PENDING:
                return _waiting(view, statements.PENDING_AFTER, UrlState.PENDING, after, limit)
            case Kind.SPILT:
                return _waiting(view, statements.SPILT_AFTER, UrlState.SPILT, after, limit)
            case Kind.SETTLED:
                return _settled(view, after, limit)


def _waiting(
    view: Transaction, statement: str, state: UrlState, after: Cursor | None, limit: int
) -> UrlPortion:
    listed = []
    last: Cursor | None = None
    for key, *fields, site in view.execute(statement, (*(after or (BEFORE_ALL,) * 3), limit)):
        queued = QueuedUrl._make(fields)
        listed.append(ListedUrl(key, queued.hash, state, Outcome.PENDING, queued))
        last = (site, queued.priority, queued.seq)
    return UrlPortion(listed, last if len(listed) == limit else None)


def _settled(view: Transaction, after: Cursor | None, limit: int) -> UrlPortion:
    listed = []
    last: Cursor | None = None
    start = after or (BEFORE_ALL,) * 2
    for key, hash_, outcome, site in view.execute(statements.SETTLED_AFTER, (*start, limit)):
        listed.append(ListedUrl(key, hash_, UrlState.SETTLED, Outcome(outcome), None))
        last = (site, hash_)
    return UrlPortion(listed, last if len(listed) == limit else None)
