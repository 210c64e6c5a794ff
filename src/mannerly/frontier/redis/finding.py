"""find_sites: a page of sites for a person. Names and ready times have an order on the server, in
each bucket; for any other order each site that fits is looked at.

Every call is short, so that nobody waits for a curious person. The price: a page is not one view,
a site that moves in the order meanwhile may be missed or shown twice. Nobody knows which of two
sites in different buckets is older, so ties are by the number in the bucket, which is nearly that.
"""

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import islice

from mannerly.frontier.contract import SiteOrder
from mannerly.frontier.redis.listing import site_facts
from mannerly.frontier.redis.packing import BUCKETS
from mannerly.frontier.redis.session import NOW, Session
from mannerly.model import SiteFacts

MOST = 64
"""Sites that one call gives of each bucket."""
FACTS = 500
"""Sites whose facts one call gives."""
FAR = 2**53
"""Behind every weight and id."""

Found = tuple[int, bytes, int, int]
"""Number and text by which it is ordered, id, bucket."""


def find_sites(
    session: Session, begins: str, order: SiteOrder, skip: int, limit: int
) -> list[SiteFacts]:
    end = skip + limit
    # Somewhat more than a bucket's share, so that one call does for the first pages.
    most = min(MOST, 2 * end // BUCKETS + 8)
    if order is SiteOrder.NAME:
        found = list(islice(_by_name(session, begins.encode(), most), skip, end))
    elif order is SiteOrder.NEXT and not begins:
        found = list(islice(_by_time(session, most), skip, end))
    else:
        found = _weighed(session, begins, order, end)[skip:]
    return _facts(session, [id_ * BUCKETS + bucket for *_, id_, bucket in found])


def _by_name(session: Session, begins: bytes, most: int) -> Iterator[Found]:
    after = b""
    while True:
        buckets: list[list[Found]] = [
            [(0, name, int(name.rpartition(b"\0")[2]), bucket) for name in part]
            for group, answer in session.each("named", begins, after, most)
            for bucket, part in zip(group, answer[3], strict=True)
        ]
        merged, is_all = _merged(buckets, most)
        yield from merged
        if is_all:
            return
        after = merged[-1][1]


def _by_time(session: Session, most: int) -> Iterator[Found]:
    passed = [0] * BUCKETS
    while True:
        groups = session.groups()
        asked = [(group, (most, *(passed[bucket] for bucket in group))) for group in groups]
        buckets: list[list[Found]] = [
            [
                (int(ready_at), id_, int(id_), bucket)
                for id_, ready_at in zip(part[::2], part[1::2], strict=True)
            ]
            for group, answer in zip(groups, session.calls("due", asked), strict=True)
            for bucket, part in zip(group, answer[3], strict=True)
        ]
        merged, is_all = _merged(buckets, most)
        yield from merged
        if is_all:
            return
        for *_, bucket in merged:
            passed[bucket] += 1


def _merged(buckets: Sequence[list[Found]], most: int) -> tuple[list[Found], bool]:
    """In order, up to where a bucket that has more of them was cut; and whether none was."""
    cut = min((part[-1] for part in buckets if len(part) == most), default=None)
    found = sorted(it for part in buckets for it in part if cut is None or it <= cut)
    return found, cut is None


def _weighed(session: Session, begins: str, order: SiteOrder, keep: int) -> list[Found]:
    """The first `keep` of all that fit."""
    first: list[Found] = []
    last = (FAR, FAR)
    afters = dict.fromkeys(range(BUCKETS), b"")
    while afters:
        asked = [
            ([bucket], (bucket, begins, after, order.value, *last))
            for bucket, after in afters.items()
        ]
        rows: list[Found] = []
        for ((bucket,), _), answer in zip(asked, session.calls("weighed", asked), strict=True):
            after, flat = answer[3:]
            for weight, id_ in zip(flat[::2], flat[1::2], strict=True):
                rows.append((int(weight), b"", int(id_), bucket))
            afters[bucket] = after
        first = nsmallest(keep, first + rows)
        if 0 < keep == len(first):
            last = (first[-1][0], first[-1][2])
        afters = {bucket: after for bucket, after in afters.items() if after}
    return first


def _facts(session: Session, handles: Sequence[int]) -> list[SiteFacts]:
    facts: dict[int, SiteFacts] = {}
    for start in range(0, len(handles), FACTS):
        part = handles[start : start + FACTS]
        asked = []
        for group in session.groups(sorted({handle % BUCKETS for handle in part})):
            mine = [handle for handle in part if handle % BUCKETS in group]
            asked.append((group, [len(mine), *mine]))
        for (_, (_, *mine)), answer in zip(asked, session.calls("facts_of", asked), strict=True):
            now_at = int(answer[NOW])
            rows = zip(mine, answer[3], strict=True)
            facts |= {handle: site_facts(row, now_at) for handle, row in rows if row}
    return [facts[handle] for handle in handles if handle in facts]
