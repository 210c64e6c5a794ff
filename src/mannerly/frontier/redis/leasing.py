"""Lease and claim: the server picks, stamps and answers in one call."""

import random

from mannerly.frontier.contract import Leased
from mannerly.frontier.leases import duration_ms, tokens
from mannerly.frontier.redis import packing
from mannerly.frontier.redis.session import NOW, Session
from mannerly.model import Caps, Lease, RobotsRecord


def lease(
    session: Session,
    caps: Caps,
    chance: random.Random,
    writer: int,
    want: int,
    *,
    ttl_s: float,
    urls_per_site: int,
    leased_at: float,
) -> Leased:
    rest_ms = session.clock.rest_ms()
    drawn = tokens(chance, 0 if rest_ms else max(0, want))
    answer = session.call(
        "lease",
        *(caps.pending, caps.spilt, caps.pages),
        *(writer, len(drawn), max(1, duration_ms(ttl_s)), urls_per_site),
        b"".join(map(packing.number, drawn)),
    )
    now_at = int(answer[NOW])
    earliest, rest_until, found = answer[3:]
    leases = [
        Lease(
            name.decode(),
            int(handle),
            token,
            packing.queued_urls(rows),
            _records(robots, now_at),
            failures,
            leased_at,
        )
        for token, (handle, name, failures, rows, robots) in zip(drawn, found, strict=False)
    ]
    if not earliest:
        return Leased(leases, None)
    wait_ms = max(0, int(earliest) - now_at, int(rest_until) - now_at, rest_ms)
    return Leased(leases, wait_ms / 1000)


def _records(rows: list[bytes], now_at: int) -> list[RobotsRecord]:
    return [
        packing.robots_record(origin.decode(), packed, now_at)
        for origin, packed in zip(rows[::2], rows[1::2], strict=True)
    ]


def claim(
    session: Session,
    chance: random.Random,
    writer: int,
    name: str,
    *,
    ttl_s: float,
    leased_at: float,
) -> Lease | None:
    (token,) = tokens(chance, 1)
    may = int(session.clock.rest_ms() == 0)
    handle, failures = session.call(
        "claim",
        *(packing.bucket_of(name), name, writer, max(1, duration_ms(ttl_s))),
        packing.number(token),
        may,
    )[3:]
    return Lease(name, int(handle), token, [], [], failures, leased_at) if handle else None
