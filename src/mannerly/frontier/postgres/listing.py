"""Looking: explain, robots_of, iterate, iterate_sites. Each answer is a consistent view."""

from mannerly.frontier.contract import Cursor, Kind, SiteOrder, SitePortion, UrlPortion
from mannerly.frontier.postgres import statements
from mannerly.frontier.postgres.connection import Row
from mannerly.frontier.postgres.session import Session, Transaction
from mannerly.frontier.server_clock import Instant
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

BEHIND_ALL = "\U0010ffff"
"""Behind every character that a name may go on with."""
LOWEST, HIGHEST = -(2**63), 2**63 - 1
WINDOW = 20_000
"""Known URLs that are looked at in one statement for those that are settled."""


def explain(session: Session, key: str, hash_: int) -> UrlFacts:
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            answer = view.send(statements.SITE_FACTS, key)
        now = view.clock.read(asked)
        rows = answer.fetchall()
        if not rows:
            return UrlFacts(None, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
        site = rows[0][0]
        facts = _site_facts(rows[0], now)
        with view.round():
            outcome_answer = view.send(statements.OUTCOME, site, hash_)
            spilt_answer = view.send(statements.SPILT_URL, site, hash_)
        outcome = outcome_answer.fetchone()
        spilt = spilt_answer.fetchone()
        if spilt is not None:
            queued = QueuedUrl._make(spilt)
            return UrlFacts(facts, UrlState.SPILT, Outcome.PENDING, queued, facts.pending)
        if outcome is None:
            return UrlFacts(facts, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
        if outcome[0] != Outcome.PENDING:
            return UrlFacts(facts, UrlState.SETTLED, Outcome(outcome[0]), None, 0)
        queued = QueuedUrl._make(view.ask(statements.QUEUED, site, hash_)[0])
        place = (site, queued.priority, queued.seq, COUNTED_BEFORE)
        ((before,),) = view.ask(statements.BEFORE, *place)
        return UrlFacts(facts, UrlState.PENDING, Outcome.PENDING, queued, before)


def _site_facts(row: Row, now: Instant) -> SiteFacts:
    _, key, state, ready_at, leased, holder, failures, delay, *counts = row
    ready_in_s = (ready_at - now.at) / 1000
    held = leased and ready_in_s > 0
    facts = (key, SiteState(state), ready_in_s, held, holder if held else "", failures)
    return SiteFacts(*facts, delay / 1000, *counts)


def robots_of(session: Session, key: str, origin: str) -> RobotsRecord | None:
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            answer = view.send(statements.ROBOTS_OF, key, origin)
            view.commit()
        now = view.clock.read(asked)
        row = answer.fetchone()
    if row is None:
        return None
    state, body, fetched_at, failures = row
    age_s = max(0, now.at - fetched_at) / 1000
    return RobotsRecord(origin, RobotsState(state), bytes(body), age_s, failures)


def iterate_sites(session: Session, after: Cursor | None, limit: int) -> SitePortion:
    (start,) = after or (LOWEST,)
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            answer = view.send(statements.SITES_AFTER, start, limit)
            view.commit()
        now = view.clock.read(asked)
        rows = answer.fetchall()
    cursor = (rows[-1][0],) if len(rows) == limit else None
    return SitePortion([_site_facts(row, now) for row in rows], cursor)


def find_sites(
    session: Session, begins: str, order: SiteOrder, skip: int, limit: int
) -> list[SiteFacts]:
    page = (limit, skip)
    with session.reading() as view:
        with view.round():
            asked = view.moment()
            if begins or order is SiteOrder.NAME:
                names = (begins, begins + BEHIND_ALL)
                answer = view.send(statements.SITES_BY_NAME[order.value], *names, *page)
            elif order is SiteOrder.NEXT:
                answer = view.send(statements.SITES_BY_TIME, *page)
            else:
                answer = view.send(statements.SITES_BY_COUNT[order.value], *page)
            view.commit()
        now = view.clock.read(asked)
        return [_site_facts(row, now) for row in answer.fetchall()]


def iterate(session: Session, kind: Kind, after: Cursor | None, limit: int) -> UrlPortion:
    with session.reading() as view:
        match kind:
            case Kind.SETTLED:
                return _settled(view, after or (LOWEST, LOWEST), limit)
            case Kind.PENDING:
                return _waiting(view, statements.PENDING_AFTER, UrlState.PENDING, after, limit)
            case Kind.SPILT:
                return _waiting(view, statements.SPILT_AFTER, UrlState.SPILT, after, limit)


def _waiting(
    view: Transaction, statement: str, state: UrlState, after: Cursor | None, limit: int
) -> UrlPortion:
    """Pending or spilt URLs. An excluded site's are hopped over, all at once."""
    start: Cursor = after or (LOWEST, LOWEST, LOWEST)
    while True:
        rows = view.ask(statement, *start, limit)
        urls = [
            ListedUrl(key, place[4], state, Outcome.PENDING, QueuedUrl._make(place[3:]))
            for key, site_state, *place in rows
            if site_state != SiteState.EXCLUDED
        ]
        if len(rows) < limit:
            return UrlPortion(urls, None)
        _, last_state, site, priority, seq, *_ = rows[-1]
        excluded = last_state == SiteState.EXCLUDED
        start = (site, HIGHEST, HIGHEST) if excluded else (site, priority, seq)
        if urls:
            return UrlPortion(urls, start)


def _settled(view: Transaction, after: Cursor, limit: int) -> UrlPortion:
    """Settled ones stand among pending ones, and there is no index that tells them apart: it would
    make every commit pay for this. So they are looked for in windows of bounded length."""
    window = max(WINDOW, limit)
    while True:
        with view.round():
            found = view.send(statements.SETTLED_AFTER, *after, window, limit)
            end = view.send(statements.SEEN_END, *after, window - 1)
        rows = found.fetchall()
        urls = [
            ListedUrl(key, hash_, UrlState.SETTLED, Outcome(outcome), None)
            for key, _, hash_, outcome in rows
        ]
        last = end.fetchone()
        if len(rows) == limit:
            return UrlPortion(urls, rows[-1][1:3])
        if last is None:
            return UrlPortion(urls, None)
        after = last
        if urls:
            return UrlPortion(urls, after)
