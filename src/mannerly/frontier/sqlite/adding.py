"""Add: what is not known yet goes into `seen` and its site's queue.

A batch is sorted by site and hash, so that neighbours in the tables are written together: the
larger the batch, the fewer pages are written per URL. It is cut into slices, each its own
transaction, so that a lease of any process never waits longer than for one of them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mannerly.frontier.contract import Added
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counting import NOBODY, Name, count
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.model import NewUrl

SLICE = 1000
"""URLs per transaction: about 20 ms. A number and not a time, so that the same input is always
cut in the same places."""


class SiteIds:
    """Site ids by key, as far as this process has met them lately. An id never changes.

    Two generations, each bounded: what was not asked for during a whole generation is forgotten.
    """

    GENERATION = 100_000

    def __init__(self) -> None:
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def get(self, key: str) -> int | None:
        site = self._young.get(key)
        if site is None:
            site = self._old.get(key)
            if site is not None:
                self.learn({key: site})
        return site

    def learn(self, ids: dict[str, int]) -> None:
        """Only what was committed: an id that was rolled back may be given to another site."""
        if len(self._young) >= self.GENERATION:
            self._old, self._young = self._young, {}
        self._young.update(ids)


UNBORN = 2**63
"""Sites that do not exist yet have numbers from here on until they get their id."""

Place = tuple[int, int, int]
"""(site, hash, index in the batch): sorts as the tables do. Plain numbers, because building and
sorting anything richer costs as much as the SQL."""


class Batch:
    """One call of `add`, ready to be applied slice by slice."""

    def __init__(
        self, database: Database, ids: SiteIds, urls: Sequence[NewUrl], *, new_sites: bool
    ) -> None:
        """Find the sites and sort. Reads only, without a turn."""
        self._database = database
        self._ids = ids
        self._urls = urls
        self._first_seq: int | None = None
        keys = {url.site for url in urls}
        sites = self._find(keys)
        self._unborn = sorted(keys - sites.keys())
        sites |= {key: number for number, key in enumerate(self._unborn, UNBORN)}
        places = _distinct(sorted((sites[u.site], u.hash, i) for i, u in enumerate(urls)))
        wanted = places if new_sites else [place for place in places if place[0] < UNBORN]
        self.foreign = len(places) - len(wanted)
        self.slices = _slices(wanted)

    def _find(self, keys: set[str]) -> dict[str, int]:
        found = {key: site for key in keys if (site := self._ids.get(key)) is not None}
        missing = keys - found.keys()
        if missing:
            with self._database.reading() as view:
                stored = _find(view, missing)
            self._ids.learn(stored)
            found |= stored
        return found

    def apply(self, part: Sequence[Place]) -> Added:
        """Add one slice, in one transaction."""
        unborn = {self._unborn[place[0] - UNBORN] for place in part if place[0] >= UNBORN}
        with self._database.writing() as transaction:
            first_seq = self._first_seq
            if first_seq is None:
                # Who comes first in the batch is older, so places go by the index in it.
                first_seq = transaction.reserve(len(self._urls))
            born = _bear(transaction, unborn)
            new = self._see(transaction, part, born)
            _enqueue(transaction, self._urls, new, first_seq)
        self._first_seq = first_seq
        self._ids.learn(born)
        return Added(new=len(new), known=len(part) - len(new), foreign=0)

    def _see(
        self, transaction: Transaction, part: Sequence[Place], born: dict[str, int]
    ) -> list[Place]:
        """Enter a slice in `seen`; what was not in it, with the ids of new sites filled in."""
        new = []
        # One statement per URL tells which are new. Reusing its cursor makes that as cheap as
        # many rows per statement; a temporary table or JSON cost a microsecond more per URL.
        cursor = transaction.cursor()
        for site, hash_, index in part:
            known = site if site < UNBORN else born[self._unborn[site - UNBORN]]
            cursor.execute(statements.SEE, (known, hash_))
            if cursor.rowcount:
                new.append((known, hash_, index))
        return new


def _distinct(places: Iterable[Place]) -> list[Place]:
    """Sorted places without repeats of (site, hash); the first one given stays."""
    distinct = []
    last: tuple[int, int] | None = None
    for place in places:
        if place[:2] != last:
            last = place[:2]
            distinct.append(place)
    return distinct


def _slices(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    for start in range(0, len(places), SLICE):
        yield places[start : start + SLICE]


def _find(view: Transaction, keys: Iterable[str]) -> dict[str, int]:
    return dict(view.execute(statements.FIND_SITES, (json.dumps(sorted(keys)),)))


def _bear(transaction: Transaction, keys: set[str]) -> dict[str, int]:
    """Make sites, or find them if another process (or slice) made them since we looked."""
    if not keys:
        return {}
    transaction.executemany(statements.ADD_SITE, [(key,) for key in sorted(keys)])
    born = _find(transaction, keys)
    clocks = [(site, transaction.now.at) for site in born.values()]
    made = transaction.executemany(statements.ADD_CLOCK, clocks).rowcount
    count(transaction, NOBODY, Name.SITES, made)
    return born


def _enqueue(
    transaction: Transaction, urls: Sequence[NewUrl], new: Sequence[Place], first_seq: int
) -> None:
    rows = []
    for site, hash_, index in new:
        _, _, url, depth, priority, source, referrer = urls[index]
        rows.append((site, priority, first_seq + index, hash_, url, depth, source, referrer))
    transaction.executemany(statements.ENQUEUE, rows)
    count(transaction, NOBODY, Name.URLS, len(rows))
    _wake(transaction, Counter(place[0] for place in new))


def _wake(transaction: Transaction, gained: Counter[int]) -> None:
    """Sites that gained URLs have work, unless they are abandoned."""
    idle = transaction.execute(statements.IDLE, (json.dumps(list(gained)),)).fetchall()
    transaction.executemany(statements.WAKE, [(site,) for site, abandoned in idle if not abandoned])
    lost = sum(gained[site] for site, abandoned in idle if abandoned)
    count(transaction, NOBODY, Name.URLS_ABANDONED, lost)
