"""Add: what is not known yet goes into `seen` and its site's queue, or its spill.

A batch is sorted by site, then by who gets the room that is left there. It is cut into slices, each
its own transaction and its own piece of work, so that a lease of this process comes in between and
no other process waits for more than one slice. Two round trips a slice: lock the sites and see
what is new; write.

What is known is looked for before anything is locked: most links of a page are, and a site that
gains nothing is not locked at all.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mannerly.errors import FrontierError
from mannerly.frontier import caps as deciding
from mannerly.frontier.contract import Added
from mannerly.frontier.postgres import budgets, statements
from mannerly.frontier.postgres.arrays import Ints, Texts, columns
from mannerly.frontier.postgres.budgets import Budget
from mannerly.frontier.postgres.counting import Counts, Name
from mannerly.frontier.postgres.session import Answer, Session, Transaction
from mannerly.frontier.postgres.sites import bear, find, require_all
from mannerly.frontier.postgres.trouble import AGAIN
from mannerly.frontier.site_ids import SiteIds
from mannerly.model import Caps, DropCause, NewUrl, SiteState

SLICE = 1000
"""URLs a transaction: about 30 ms, of which locks are held for 20."""

PLACES = 2**20
"""Places in queues that one number of the sequence stands for."""

Place = tuple[int, int, int, int]
"""(site, priority, index in the batch, hash): sorts as room is given away. Plain numbers, because
building and sorting anything richer costs as much as the SQL."""


class Batch:
    """One call of `add`, ready to be applied slice by slice."""

    def __init__(
        self,
        session: Session,
        ids: SiteIds,
        caps: Caps,
        urls: Sequence[NewUrl],
        *,
        new_sites: bool,
    ) -> None:
        """Find the sites, make the new ones, and sort."""
        self._session = session
        self._ids = ids
        self._caps = caps
        self._urls = urls
        self._failed = False
        keys = {url.site for url in urls}
        sites = find(session, ids, keys)
        if new_sites and len(sites) < len(keys):
            sites |= bear(session, ids, keys - sites.keys())
        places: dict[tuple[int, int], Place] = {}
        foreign: set[tuple[str, int]] = set()
        for index, (key, hash_, _, _, priority, _, _) in enumerate(urls):
            site = sites.get(key)
            if site is None:
                foreign.add((key, hash_))
            elif (site, hash_) not in places:
                places[site, hash_] = (site, priority, index, hash_)
        self.foreign = len(foreign)
        self.slices = list(_slices(sorted(places.values())))
        self._first_seqs = self._reserve() if places else []

    def _reserve(self) -> list[int]:
        """The first place for each stretch of the batch: who comes first in it is older."""
        numbers = range(0, len(self._urls), PLACES)
        with self._session.writing() as transaction, transaction.round():
            answers = [transaction.send(statements.NEXT_PLACE) for _ in numbers]
            transaction.commit()
        return [answer.fetchall()[0][0] * PLACES for answer in answers]

    def apply(self, part: Sequence[Place]) -> Added:
        """Add one slice, in one transaction."""
        if self._failed:
            raise FrontierError(f"{self._session.where}: another part of this add failed; resend")
        try:
            return self._apply(part)
        except FrontierError as exc:
            # The slices behind it would only wait for the same trouble, one after the other.
            self._failed = not isinstance(exc.__cause__, AGAIN)
            raise

    def _apply(self, part: Sequence[Place]) -> Added:
        with self._session.reading() as view, view.round():
            known = view.send(statements.KNOWN, *_keys(part))
            view.commit()
        found = _without(part, known)
        if not found:
            return Added(0, len(part), 0)
        slice_ = _Slice(self._caps)
        with self._session.writing() as transaction:
            self._look(transaction, found, slice_)
            with transaction.round():
                slice_.send(transaction, self._urls, self._first_seqs)
                transaction.commit()
        slice_.known += len(part) - len(found)
        return slice_.added()

    def _look(self, transaction: Transaction, part: Sequence[Place], slice_: "_Slice") -> None:
        """Lock the sites, and decide on what is still not known then."""
        sites = sorted({place[0] for place in part})
        with transaction.round():
            answer = transaction.send(statements.LOCK_SITES, Ints(sites))
            known = transaction.send(statements.KNOWN, *_keys(part))
        slice_.budgets = locked = budgets.locked(answer)
        require_all(self._session, self._ids, sites, locked)
        new = _without(part, known)
        slice_.known = len(part) - len(new)
        suspects = [place for place in new if locked[place[0]].spilt]
        if suspects:
            with transaction.round():
                spilt = transaction.send(statements.SPILT, *_keys(suspects))
            fresh = set(_without(suspects, spilt))
            slice_.spilt_before = len(suspects) - len(fresh)
            new = [place for place in new if not locked[place[0]].spilt or place in fresh]
        slice_.decide(new)


class _Slice:
    """What becomes of the URLs of one slice."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._counts = Counts()
        self._dropped = 0
        self._queued: list[Place] = []
        self._spilt: list[Place] = []
        self.budgets: budgets.Budgets = {}
        self.known = 0
        self.spilt_before = 0

    def added(self) -> Added:
        spilt = len(self._spilt) + self.spilt_before
        return Added(len(self._queued), self.known, 0, spilt, self._dropped)

    def decide(self, new: Sequence[Place]) -> None:
        by_site: dict[int, list[Place]] = defaultdict(list)
        for place in new:
            by_site[place[0]].append(place)
        for site, places in by_site.items():
            self._decide(self.budgets[site], places)

    def _decide(self, budget: Budget, places: list[Place]) -> None:
        """`places` come in the order in which they get the room."""
        if budget.state == SiteState.EXCLUDED:
            self._drop(budget, len(places), DropCause.EXCLUDED)
            return
        caps, pages = self._caps, budget.pages
        room = deciding.room(caps, pending=budget.pending, pages=pages)
        queued, rest = places[:room], places[room:]
        budget.pending += len(queued)
        self._queued += queued
        if budget.state == SiteState.ABANDONED:
            self._counts.add(Name.URLS_ABANDONED, len(queued))
        if rest:
            spill_room = deciding.spill_room(caps, pages=pages, spilt=budget.spilt)
            spilt, rest = rest[:spill_room], rest[spill_room:]
            budget.spilt += len(spilt)
            self._spilt += spilt
            full = deciding.is_full(caps, pages=pages)
            self._drop(budget, len(rest), DropCause.SITE_FULL if full else DropCause.SPILL_FULL)

    def _drop(self, budget: Budget, count: int, cause: DropCause) -> None:
        budget.dropped += count
        self._dropped += count
        self._counts.add(Name.DROPPED, count, cause)

    def send(
        self, transaction: Transaction, urls: Sequence[NewUrl], first_seqs: Sequence[int]
    ) -> None:
        """Within a round."""
        gains = [(it.site, it.pending, it.spilt, it.dropped) for it in self.budgets.values()]
        transaction.send(statements.GAIN, *columns(gains, 4))
        if self._queued:
            transaction.send(statements.SEE, *_keys(self._queued))
            transaction.send(statements.ENQUEUE, *_rows(self._queued, urls, first_seqs))
            gained = {place[0] for place in self._queued}
            awake = [it for it in gained if self.budgets[it].state == SiteState.OPEN]
            transaction.send(statements.WAKE, Ints(awake))
        if self._spilt:
            transaction.send(statements.SPILL, *_rows(self._spilt, urls, first_seqs))
        self._counts.add(Name.URLS, len(self._queued))
        self._counts.add(Name.URLS_SPILT, len(self._spilt))
        self._counts.send(transaction)


def _slices(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    for start in range(0, len(places), SLICE):
        yield places[start : start + SLICE]


def _keys(places: Sequence[Place]) -> tuple[Ints, Ints]:
    sites, _, _, hashes = zip(*places, strict=True)
    return Ints(sites), Ints(hashes)


def _without(places: Sequence[Place], answer: Answer) -> list[Place]:
    """Places without those whose numbers (from 1) were answered."""
    gone = {number for (number,) in answer.fetchall()}
    if not gone:
        return list(places)
    return [place for number, place in enumerate(places, 1) if number not in gone]


def _rows(
    places: Sequence[Place], urls: Sequence[NewUrl], first_seqs: Sequence[int]
) -> tuple[Ints | Texts, ...]:
    """Columns of `queue` and `spill`."""
    sites, priorities, indexes, hashes = zip(*places, strict=True)
    given = [urls[index] for index in indexes]
    _, _, texts, depths, _, sources, referrers = zip(*given, strict=True)
    seqs = [first_seqs[index // PLACES] + index % PLACES for index in indexes]
    return (
        Ints(sites),
        Ints(priorities),
        Ints(seqs),
        Ints(hashes),
        Ints(depths),
        Ints(sources),
        Ints(referrers),
        Texts(texts),
    )
