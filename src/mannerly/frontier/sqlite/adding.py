"""Add: what is not known yet goes into `seen` and its site's queue, or over the cap into its spill.

A batch is grouped by site and sorted by site and hash, so that neighbours in the tables are written
together: the larger the batch, the fewer pages are written per URL. It is cut into slices; a
transaction takes as many as it can until somebody waits, so that a lease of any process never
waits longer than for one of them. Only the last transaction is synced to disk: it takes with it all
that is in the log before it.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from mannerly.errors import FrontierError
from mannerly.frontier import caps
from mannerly.frontier.contract import Added
from mannerly.frontier.site_ids import SiteIds
from mannerly.frontier.sqlite import statements
from mannerly.frontier.sqlite.counts import Counts, counts_of
from mannerly.frontier.sqlite.database import Database, Transaction
from mannerly.frontier.sqlite.front import make_way
from mannerly.frontier.sqlite.spill import drop
from mannerly.frontier.sqlite.tally import NOBODY, Name, count
from mannerly.model import Caps, DropCause, NewUrl, SiteState

SLICE = 500
"""URLs that are added between two looks whether anybody waits: about 10 ms. A number and not a
time, so that the same input is always cut in the same places."""

SLICES = 8
"""So many are added in one transaction if nobody waits: half of what a commit costs is the same
however much it writes."""


Members = dict[int, int]
"""URLs of one site: index in the batch by hash."""
Group = tuple[int, str, Members]
"""The id (0: not made yet), the key and the URLs of a site. Plain, because there may be as many
groups as URLs."""
Place = tuple[int, int, int]
"""(site, hash, index in the batch): sorts as the tables do."""


class Batch:
    """One call of `add`, ready to be applied slice by slice."""

    def __init__(
        self,
        database: Database,
        ids: SiteIds,
        limits: Caps,
        urls: Sequence[NewUrl],
        *,
        new_sites: bool,
    ) -> None:
        """Find the sites and sort. Reads only, without a turn."""
        self._database = database
        self._ids = ids
        self._limits = limits
        self._urls = urls
        self._first_seq: int | None = None
        members = _by_site(urls)
        found = self._find(members)
        groups = [(site, key, members[key]) for site, key in sorted(found)]
        unborn = sorted(members.keys() - {key for _, key in found})
        self.foreign = 0
        if new_sites:
            groups += [(0, key, members[key]) for key in unborn]
        else:
            self.foreign = sum(len(members[key]) for key in unborn)
        self._slices = deque(_slices(groups, urls))
        self._synced = False
        self._failed = False
        self.pieces = len(self._slices)
        """How many pieces of work it is at most."""

    def _find(self, keys: Iterable[str]) -> list[tuple[int, str]]:
        get = self._ids.get
        found, missing = [], []
        for key in keys:
            site = get(key)
            if site:
                found.append((site, key))
            else:
                missing.append(key)
        if missing:
            with self._database.reading("find sites") as view:
                stored = _find(view, missing)
            self._ids.learn(stored)
            found += [(site, key) for key, site in stored.items()]
        return found

    def apply(self, pressed: Callable[[], bool]) -> Added:
        """Add what is left, in one transaction: as much of it as time allows, at least a slice."""
        if not self._slices:
            return NOTHING
        if self._failed:
            # Each further piece would try the same again, and keep whoever resends it waiting.
            raise FrontierError("another part of this add failed; send it again")
        try:
            return self._apply_some(pressed)
        except BaseException:
            self._failed = True
            self._ids.forget()
            raise

    def _apply_some(self, pressed: Callable[[], bool]) -> Added:
        durable = len(self._slices) <= SLICES
        done: list[Added] = []
        born: dict[str, int] = {}
        with self._database.writing("add", durable=durable, slices=SLICES) as transaction:
            changes = transaction.changes()
            first_seq = self._first_seq
            if first_seq is None:
                # Who comes first in the batch is older, so places go by the index in it.
                first_seq = transaction.reserve(len(self._urls))
            for part in islice(self._slices, SLICES):
                if done and (pressed() or self._database.wanted()):
                    break
                done.append(self._apply(transaction, part, first_seq, born))
            wrote = transaction.changes() != changes or self._first_seq is None
        for _ in done:
            self._slices.popleft()
        self._first_seq = first_seq
        self._ids.learn(born)
        # What is known may have been written a moment ago by somebody who has not synced it yet, so
        # an add that writes nothing in its last transaction is synced, too.
        self._synced = durable if wrote else self._synced
        if not self._slices and not self._synced:
            self._database.sync()
        return total(done)

    def _apply(
        self,
        transaction: Transaction,
        part: Sequence[Group],
        first_seq: int,
        born: dict[str, int],
    ) -> Added:
        born |= make_sites(transaction, [key for site, key, _ in part if not site])
        groups = {site or born[key]: members for site, key, members in part}
        work = _Slice(transaction, self._limits, self._urls, first_seq, groups)
        work.apply()
        known = sum(map(len, groups.values())) - work.new - work.spilt - work.dropped
        return Added(new=work.new, known=known, foreign=0, spilt=work.spilt, dropped=work.dropped)


NOTHING = Added(0, 0, 0)


def total(parts: Iterable[Added]) -> Added:
    return Added(*map(sum, zip(NOTHING, *parts, strict=True)))


class _Slice:
    """The work of one transaction."""

    def __init__(
        self,
        transaction: Transaction,
        limits: Caps,
        urls: Sequence[NewUrl],
        first_seq: int,
        groups: dict[int, Members],
    ) -> None:
        self._transaction = transaction
        self._limits = limits
        self._urls = urls
        self._first_seq = first_seq
        self._groups = groups
        self.new = self.spilt = self.dropped = 0

    def apply(self) -> None:
        roomy: list[Place] = []
        fresh: list[Place] = []
        abandoned = set()
        squeezed = []
        rows = counts_of(self._transaction, self._groups)
        if len(rows) != len(self._groups):
            raise FrontierError("the crawl was cleared by another process; send it again")
        for row in rows:
            site, state, pending, pages, spilt, *_, litter = row
            members = self._groups[site]
            if litter:
                self._make_way(Counts(*row), members)
            excluded = state == SiteState.EXCLUDED
            room = 0 if excluded else caps.room(self._limits, pending=pending, pages=pages)
            if state == SiteState.ABANDONED:
                abandoned.add(site)
            if spilt or len(members) > room:
                after = Counts(*row)
                fresh += self._squeeze(after, members, room)
                squeezed.append((after.spilt, after.dropped, site))
            else:
                roomy += [(site, hash_, index) for hash_, index in members.items()]
        roomy.sort()
        fresh += _see(self._transaction, roomy)
        self._enqueue(fresh, abandoned)
        self._transaction.executemany(statements.RECOUNT_SPILT, squeezed)

    def _make_way(self, counts: Counts, members: Members) -> None:
        """Of these, too: those that are known, which are not looked up for it."""
        indexes = members.values()
        priority = min(self._urls[index].priority for index in indexes)
        if make_way(self._transaction, counts, priority, self._first_seq + min(indexes)):
            self._transaction.execute(statements.FORGET_FRONT, (*counts.front, counts.site))

    def _squeeze(self, now: Counts, members: Members, room: int) -> list[Place]:
        """Add to a site that is, or becomes, too full: the first get the room that is left.

        What is known or spilt is looked up first, because nothing spilt may be in `seen`.
        """
        urls, cursor = self._urls, self._transaction.cursor()
        waiting = []
        for hash_, index in sorted(members.items()):
            place = (now.site, hash_)
            if cursor.execute(statements.KNOWN, place).fetchone():
                continue
            if now.spilt and cursor.execute(statements.SPILT, place).fetchone():
                self.spilt += 1
            else:
                waiting.append((urls[index].priority, index, hash_))
        waiting.sort()
        taken = [(now.site, hash_, index) for _, index, hash_ in waiting[:room]]
        taken.sort()
        self._transaction.executemany(statements.SEE, [place[:2] for place in taken])
        spill_room, cause = self._beyond_the_queue(now)
        spilt = [(now.site, hash_, index) for _, index, hash_ in waiting[room : room + spill_room]]
        self._transaction.executemany(statements.SPILL, self._rows(spilt))
        count(self._transaction, NOBODY, Name.URLS_SPILT, len(spilt))
        self.spilt += len(spilt)
        now.spilt += len(spilt)
        dropped = len(waiting) - len(taken) - len(spilt)
        self.dropped += dropped
        drop(self._transaction, now, dropped, cause)
        return taken

    def _beyond_the_queue(self, now: Counts) -> tuple[int, DropCause]:
        """The room in the site's spill, and why what finds none is dropped."""
        if now.state == SiteState.EXCLUDED:
            return 0, DropCause.EXCLUDED
        room = caps.spill_room(self._limits, pages=now.pages, spilt=now.spilt)
        return room, caps.drop_cause(self._limits, pages=now.pages)

    def _rows(self, places: Iterable[Place]) -> list[tuple[int | str, ...]]:
        """Rows of `queue` or `spill`."""
        urls, first_seq = self._urls, self._first_seq
        rows: list[tuple[int | str, ...]] = []
        for site, hash_, index in places:
            _, _, url, depth, priority, source, referrer = urls[index]
            rows.append((site, priority, first_seq + index, hash_, url, depth, source, referrer))
        return rows

    def _enqueue(self, fresh: list[Place], abandoned: set[int]) -> None:
        """Sites that gain URLs have work, unless they are abandoned."""
        self.new = len(fresh)
        self._transaction.executemany(statements.ENQUEUE, self._rows(fresh))
        count(self._transaction, NOBODY, Name.URLS, len(fresh))
        gained = Counter([place[0] for place in fresh])
        self._transaction.executemany(statements.GAIN, [(it, site) for site, it in gained.items()])
        lost = sum(gained[site] for site in abandoned)
        count(self._transaction, NOBODY, Name.URLS_ABANDONED, lost)


def _by_site(urls: Sequence[NewUrl]) -> dict[str, Members]:
    """The URLs of each site, without repeats; the first one given stays."""
    members: dict[str, Members] = {}
    for index, url in enumerate(urls):
        key = url[0]
        if key in members:
            members[key].setdefault(url[1], index)
        else:
            members[key] = {url[1]: index}
    return members


def _slices(groups: Iterable[Group], urls: Sequence[NewUrl]) -> Iterator[list[Group]]:
    part: list[Group] = []
    size = 0
    for group in groups:
        for piece in _pieces(group, urls):
            if size + len(piece[2]) > SLICE and part:
                yield part
                part, size = [], 0
            part.append(piece)
            size += len(piece[2])
    if part:
        yield part


def _pieces(group: Group, urls: Sequence[NewUrl]) -> Iterator[Group]:
    """A group that is too large for one slice is cut so that the first by priority and place come
    first: if there is not room for all, they get it."""
    site, key, members = group
    if len(members) <= SLICE:
        yield group
        return
    ordered = sorted(members.items(), key=lambda it: (urls[it[1]].priority, it[1]))
    for start in range(0, len(ordered), SLICE):
        yield site, key, dict(ordered[start : start + SLICE])


def _find(view: Transaction, keys: Iterable[str]) -> dict[str, int]:
    return dict(view.execute(statements.FIND_SITES, (json.dumps(sorted(keys)),)))


def make_sites(transaction: Transaction, keys: list[str]) -> dict[str, int]:
    """Make sites, or find them if another process (or slice) made them since we looked."""
    if not keys:
        return {}
    transaction.executemany(statements.ADD_SITE, [(key,) for key in keys])
    born = _find(transaction, keys)
    clocks = [(site, transaction.now.at) for site in born.values()]
    made = transaction.executemany(statements.ADD_CLOCK, clocks).rowcount
    count(transaction, NOBODY, Name.SITES, made)
    return born


def _see(transaction: Transaction, places: list[Place]) -> list[Place]:
    """Enter sorted places in `seen`; those that were not in it."""
    rows = statements.SEE_MANY_ROWS
    new: set[tuple[int, int]] = set()
    for start in range(0, len(places), rows):
        pairs = [place[:2] for place in places[start : start + rows]]
        # The last ones stand in for those that are missing: a repeat is not new.
        pairs += pairs[-1:] * (rows - len(pairs))
        new.update(transaction.execute(statements.SEE_MANY, [*chain.from_iterable(pairs)]))
    if len(new) == len(places):
        return places
    return [place for place in places if place[:2] in new]
