"""The front of a site's queue: up to where it is settled.

A site's URLs are settled from the head of its queue on, nearly always. If each were deleted then,
every visit would write a page of the queue for it, and at forty URLs a site no two sites share one.
So the clock's row, which a visit writes anyway, says up to which place the queue is settled. Rows
at or before that place are litter: no reader looks at them. They are deleted when there are
`LITTER` of them, when nothing else is left in the queue, and before a row comes to a place at or
before the front (a better priority than the one being served, or an older URL from the spill).

Where there is no litter there is no front, so `litter > 0` says whether a site has one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counts import NO_FRONT, Counts
from mannerly.frontier.sqlite.database import Transaction
from mannerly.model import Settled

LITTER = 16
"""So many rows are deleted at once: about half a page. A site holds up to so many more rows than
it has URLs waiting."""

Place = tuple[int, int, int, int]
"""(site, priority, seq, hash)."""


def dequeue(
    transaction: Transaction, parts: Iterable[Settled], counts: Mapping[int, Counts]
) -> None:
    """Take settled URLs, sorted by place, out of their queues. `FrontierMisuseError` if one is not
    at its place."""
    of_site: dict[int, list[Place]] = {}
    for site, _, priority, seq, hash_, _ in parts:
        place = (site, priority, seq, hash_)
        if site in of_site:
            of_site[site].append(place)
        else:
            of_site[site] = [place]
    # Of a queue that becomes empty nothing shall stay, so the rows are deleted at once.
    last = [site for site, places in of_site.items() if len(places) == counts[site].pending]
    deleted = [place for site in last for place in of_site.pop(site)]
    swept = [counts[site] for site in last if counts[site].litter]
    heads = _heads(transaction, of_site, counts)
    for site, places in of_site.items():
        after = counts[site]
        after.pending -= len(places)
        if heads.get(site) == places:
            _, after.front_priority, after.front_seq, _ = places[-1]
            after.litter += len(places)
            if after.litter >= LITTER:
                swept.append(after)
        else:
            deleted += places
    for site, priority, seq, _ in deleted:
        require_live(counts[site], priority, seq)
    for site in last:
        counts[site].pending = 0
    exactly(len(deleted), transaction.executemany(statements.DEQUEUE, deleted).rowcount)
    sweep(transaction, swept)


def _heads(
    transaction: Transaction, of_site: Mapping[int, list[Place]], counts: Mapping[int, Counts]
) -> dict[int, list[Place]]:
    """The rows of each site that wait up to the last place given."""
    if not of_site:
        return {}
    wanted = [
        (site, counts[site].front_priority, counts[site].front_seq, places[-1][1], places[-1][2])
        for site, places in of_site.items()
    ]
    rows = transaction.execute(statements.UP_TO, (json.dumps(wanted),))
    return {site: list(group) for site, group in groupby(rows, itemgetter(0))}


def require_live(counts: Counts, priority: int, seq: int) -> None:
    """A row behind the front may still be there, but it is settled."""
    if (priority, seq) <= counts.front:
        exactly(1, 0)


def exactly(expected: int, rowcount: int) -> None:
    """A live lease's URLs are where they were when it was given, unless it moved them itself."""
    if expected != max(0, rowcount):
        raise FrontierMisuseError(
            "a commit settles or defers a URL that is not at its place in the queue (twice, or "
            "after it was deferred); nothing of it was applied"
        )


def make_way(transaction: Transaction, counts: Counts, priority: int, seq: int) -> bool:
    """A row is to come to this place: there must be no front behind it. Whether the front moved,
    so that `counts` are to be written."""
    if not counts.litter or (priority, seq) > counts.front:
        return False
    sweep(transaction, [counts])
    return True


def sweep(transaction: Transaction, sites: Sequence[Counts]) -> None:
    """Delete the litter of these queues. Their counts are to be written after it."""
    transaction.executemany(statements.SWEEP, [(it.site, *it.front) for it in sites])
    for counts in sites:
        counts.front_priority, counts.front_seq = NO_FRONT
        counts.litter = 0
