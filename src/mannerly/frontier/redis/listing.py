"""Looking: explain, robots_of, iterate, iterate_sites, stats. Each answer is a consistent view; in
a Cluster one of each node, and not of all of them at one moment.

A cursor of URLs is (bucket, site id, where in the site), one of sites (bucket, site id).
"""

from collections import defaultdict
from typing import Any

from mannerly.frontier.contract import Cursor, Kind, SitePortion, UrlPortion
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.connection import Part
from mannerly.frontier.redis.packing import BUCKETS
from mannerly.frontier.redis.session import NOW, Answer, Session
from mannerly.model import (
    COUNTED_BEFORE,
    DropCause,
    FrontierStats,
    ListedUrl,
    Outcome,
    QueuedUrl,
    RobotsRecord,
    SiteFacts,
    SiteState,
    UrlFacts,
    UrlState,
)

SPILT = 255
"""Stands for an outcome in the leaves of what was seen."""
NO_SITE, NOT_SEEN = -2, -1
IDS = 2**40
"""More than a bucket ever has sites."""


def explain(session: Session, name: str, hash_: int) -> UrlFacts:
    answer = session.at(
        (bucket := packing.bucket_of(name)), "explain", bucket, name, packing.number(hash_)
    )
    outcome, *rest = answer[3:]
    if outcome == NO_SITE:
        return UrlFacts(None, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
    facts = site_facts(rest[0], int(answer[NOW]))
    if outcome == NOT_SEEN:
        return UrlFacts(facts, UrlState.UNKNOWN, Outcome.PENDING, None, 0)
    if outcome not in (Outcome.PENDING, SPILT):
        return UrlFacts(facts, UrlState.SETTLED, Outcome(outcome), None, 0)
    _, member, score, before = rest
    state = UrlState.SPILT if outcome == SPILT else UrlState.PENDING
    queued = packing.queued(member, score)
    return UrlFacts(facts, state, Outcome.PENDING, queued, min(before, COUNTED_BEFORE))


def site_facts(row: list[Any], now_at: int) -> SiteFacts:
    name, state, ready_at, leased, label, failures, delay, pending, spilt, pages, dropped = row
    ready_in_s = (int(ready_at) - now_at) / 1000
    held = bool(leased) and ready_in_s > 0
    return SiteFacts(
        name.decode(),
        SiteState(state),
        ready_in_s,
        held,
        label.decode() if held else "",
        failures,
        int(delay) / 1000,
        pending,
        spilt,
        pages,
        int(dropped),
    )


def robots_of(session: Session, name: str, origin: str) -> RobotsRecord | None:
    answer = session.at((bucket := packing.bucket_of(name)), "robots_of", bucket, name, origin)
    return packing.robots_record(origin, answer[3], int(answer[NOW])) if answer[3] else None


def from_bucket(session: Session, function: str, bucket: int, *arguments: Part) -> Answer:
    """Call a function that walks through buckets, from this one on as far as one call goes."""
    covers = session.run_from(bucket)
    return session.calls(function, [(covers, [bucket, *arguments])])[0]


def iterate_sites(session: Session, after: Cursor | None, limit: int) -> SitePortion:
    cursor: Cursor | None = after or (0, 1)
    found: list[SiteFacts] = []
    while cursor is not None and _goes_on(session, len(found), limit):
        answer = from_bucket(session, "sites", *cursor, limit - len(found))
        bucket, first, rows = answer[3:]
        cursor = _to(bucket, first)
        found += [site_facts(row, int(answer[NOW])) for row in rows]
    return SitePortion(found, cursor)


def _goes_on(session: Session, found: int, limit: int) -> bool:
    """Whether a portion is not long enough yet. In a Cluster neighbouring buckets are on different
    nodes, so it is put together from several."""
    return found < limit if session.is_spread else not found


def iterate(session: Session, kind: Kind, after: Cursor | None, limit: int) -> UrlPortion:
    look = _settled if kind is Kind.SETTLED else _waiting
    cursor: Cursor | None = after or (0, 1)
    urls: list[ListedUrl] = []
    while cursor is not None and _goes_on(session, len(urls), limit):
        more, cursor = look(session, kind, cursor, limit - len(urls))
        urls += more
    return UrlPortion(urls, cursor)


def _to(bucket: int, first: int) -> Cursor | None:
    return (bucket, first) if bucket < BUCKETS else None


def _waiting(session: Session, kind: Kind, after: Cursor, limit: int) -> UrlPortion:
    state = UrlState.SPILT if kind is Kind.SPILT else UrlState.PENDING
    found, to = waiting(session, kind, after, limit)
    urls = [
        ListedUrl(site, queued.hash, state, Outcome.PENDING, queued)
        for _, site, rows in found
        for queued in rows
    ]
    return UrlPortion(urls, to)


def waiting(
    session: Session, kind: Kind, after: Cursor, limit: int, *, with_excluded: bool = False
) -> tuple[list[tuple[int, str, list[QueuedUrl]]], Cursor | None]:
    """URLs by site, each with the site's place in the listing; and where it goes on."""
    bucket, first, *place = after
    start = place[0] if place else "-inf"
    flags = (int(kind is Kind.SPILT), int(with_excluded))
    *end, found = from_bucket(session, "waiting", bucket, first, start, limit, *flags)[3:]
    listed: list[tuple[int, str, list[QueuedUrl]]] = []
    last: Cursor = after
    for name, in_bucket, id_, rows in found:
        number = in_bucket * IDS + int(id_)
        listed.append((number, name.decode(), packing.queued_urls(rows)))
        last = (in_bucket, int(id_), int(rows[-1]))
    is_full = sum(len(urls) for _, _, urls in listed) >= limit
    return listed, last if is_full else _to(*end)


def _settled(session: Session, kind: Kind, after: Cursor, limit: int) -> UrlPortion:
    """A site's leaves come whole, because they are in no order; the order is by hash."""
    del kind
    bucket, first, *behind = after
    *end, found = from_bucket(session, "settled", bucket, first, limit)[3:]
    urls: list[ListedUrl] = []
    for name, in_bucket, id_, leaves in found:
        site = name.decode()
        done = sorted(it for it in packing.entries(leaves) if it[1] not in (0, SPILT))
        if behind and (in_bucket, int(id_)) == (bucket, first):
            done = [it for it in done if it[0] > behind[0]]
        urls += [
            ListedUrl(site, hash_, UrlState.SETTLED, Outcome(outcome), None)
            for hash_, outcome in done[: limit - len(urls)]
        ]
        if len(urls) >= limit:
            return UrlPortion(urls, (in_bucket, int(id_), urls[-1].hash))
    return UrlPortion(urls, _to(*end))


def stats(session: Session) -> FrontierStats:
    with_work = ready = writers = 0
    totals: dict[tuple[str, int], int] = defaultdict(int)
    for answer in session.crawl_first("stats"):
        *counts, flat = answer[3:]
        with_work, ready, writers = map(sum, zip((with_work, ready, writers), counts, strict=True))
        for key, count in zip(flat[::2], flat[1::2], strict=True):
            name, _, part = key.decode().partition(":")
            totals[name, int(part)] += int(count)
    if session.clock.rest_ms():
        ready = 0

    def total(name: str) -> int:
        return totals.get((name, 0), 0)

    def parts(name: str) -> dict[int, int]:
        return {part: count for (it, part), count in totals.items() if it == name and count}

    settled = {Outcome(part): count for part, count in parts("settled").items()}
    known = total("urls")
    return FrontierStats(
        sites=total("sites"),
        sites_ready=ready,
        sites_waiting=with_work - ready,
        sites_abandoned=total("sites_abandoned"),
        urls_known=known,
        urls_pending=known - sum(settled.values()) - total("pending_excluded"),
        urls_abandoned=total("urls_abandoned"),
        urls_spilt=total("urls_spilt"),
        sites_excluded=total("sites_excluded"),
        urls_excluded=total("urls_excluded"),
        dropped={DropCause(part): count for part, count in parts("dropped").items()},
        settled=settled,
        leases=total("leases"),
        refused=total("refused"),
        writers=writers,
    )
