"""beat and crawlers: who is crawling, and what all of them together may still do. The server
decides (`functions/75_crawlers.lua`), as `mannerly.frontier.beats` says."""

import struct

from mannerly.frontier.beats import FORGET_MS, LAPSE_MS
from mannerly.frontier.contract import Beat, CrawlerFacts, Pulse
from mannerly.frontier.leases import duration_ms
from mannerly.frontier.redis.session import NOW, Session

_CRAWLER = struct.Struct(">ddddddddd")
"""As in functions/75_crawlers.lua."""


def beat(session: Session, writer: int, told: Beat) -> Pulse:
    answer = session.call(
        "beat",
        *(writer, LAPSE_MS, FORGET_MS, told.pages, repr(told.rate), told.in_flight),
        *(told.page_limit, duration_ms(told.time_limit_s), told.reserved, told.more),
        *(_fetched(session) if session.is_spread else ()),
    )
    run_at, fetched, granted, page_limit, time_limit = map(int, answer[3:])
    running_s = max(0, int(answer[NOW]) - run_at) / 1000
    return Pulse(running_s, fetched, granted, page_limit, time_limit / 1000)


def _fetched(session: Session) -> tuple[int, bytes]:
    """Pages of all buckets, and how often reserved ones had been given back before they were
    counted. Where that has happened since, a page may have been counted nowhere: `beat` grants
    none then."""
    (given_back,) = session.call("times_given_back")[3:]
    return sum(answer[3] for _, answer in session.each("fetched")), given_back


def crawlers(session: Session) -> list[CrawlerFacts]:
    answer = session.call("crawlers")
    now_at, flat = int(answer[NOW]), answer[3]
    found = []
    for label, packed in zip(flat[::2], flat[1::2], strict=True):
        began_at, _, seen_at, pages, rate, in_flight, *_ = _CRAWLER.unpack(packed)
        since_s, silent_s = max(0, now_at - began_at) / 1000, max(0, now_at - seen_at) / 1000
        facts = (label.decode(), since_s, silent_s, int(pages), rate, int(in_flight))
        found.append((began_at, CrawlerFacts(*facts)))
    return [facts for _, facts in sorted(found)]
