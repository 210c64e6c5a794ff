"""The contract as a small program: slow, in memory, for one process. Engines must equal it."""

from collections import Counter
from dataclasses import dataclass, field

from mannerly.frontier.contract import Added
from mannerly.model import Commit, FrontierStats, Lease, NewUrl, Outcome, QueuedUrl


@dataclass
class Site:
    ready_at: float
    token: int = 0
    holder: int = 0
    has_work: bool = False
    abandoned: bool = False
    failures: int = 0
    queue: list[QueuedUrl] = field(default_factory=list)
    """Sorted by priority; `seq` is the model's own."""

    def enqueue(self, queued: QueuedUrl) -> None:
        self.queue.append(queued)
        self.queue.sort(key=lambda it: (it.priority, it.seq))


@dataclass
class Writer:
    sequence: int = 0
    refused: frozenset[int] = frozenset()
    enlisted: bool = True


class Model:
    def __init__(self) -> None:
        self.now_at = 0.0
        self.sites: dict[str, Site] = {}
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.writers: dict[int, Writer] = {}
        self.leases = 0
        self.refused = 0
        self._seq = 0

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def add(self, urls: list[NewUrl], *, new_sites: bool) -> Added:
        counts: Counter[str] = Counter()
        known_before = set(self.outcomes)
        existing = set(self.sites)
        for key, given in {it[:2]: it for it in reversed(urls)}.items():
            if key in known_before:
                counts["known"] += 1
            elif given.site not in existing and not new_sites:
                counts["foreign"] += 1
            else:
                counts["new"] += 1
        for given in urls:
            if given[:2] in self.outcomes or (given.site not in existing and not new_sites):
                continue
            site = self.sites.setdefault(given.site, Site(self.now_at))
            self.outcomes[given[:2]] = Outcome.PENDING
            _, hash_, text, depth, priority, source, referrer = given
            place = self._next_seq()
            site.enqueue(QueuedUrl(text, hash_, depth, priority, place, source, referrer, 0))
            site.has_work = not site.abandoned
        return Added(counts["new"], counts["known"], counts["foreign"])

    def ready(self) -> list[tuple[float, str]]:
        """Sites that may be leased now, longest ready first."""
        return sorted(
            (site.ready_at, key)
            for key, site in self.sites.items()
            if site.has_work and site.queue and site.ready_at <= self.now_at
        )

    def lease(self, writer: int, taken: list[Lease], ttl_s: float, want: int) -> None:
        """The engine leased these; where several were ready equally long, the choice was its."""
        ready = self.ready()
        ages = [at for at, _ in ready[: len(taken)]]
        assert sorted(self.sites[lease.site].ready_at for lease in taken) == ages
        for lease in taken:
            site = self.sites[lease.site]
            site.ready_at, site.token, site.holder = self.now_at + ttl_s, lease.token, writer
        self.leases += len(taken)
        if len(taken) < want:
            # Everybody ready was looked at, so sites without work were noticed.
            for site in self.sites.values():
                if site.ready_at <= self.now_at:
                    site.has_work = site.has_work and bool(site.queue)

    def commit(self, writer: int, commit: Commit, names: dict[int, str]) -> frozenset[int]:
        state = self.writers[writer]
        given = {
            it[:2] for parts in (commit.settled, commit.deferred, commit.released) for it in parts
        }
        stale = frozenset(
            token for handle, token in given if self._at(handle, names).token != token
        )
        for it in commit.settled:
            if it.token not in stale:
                name = names[it.handle]
                site = self.sites[name]
                site.queue = [queued for queued in site.queue if queued.hash != it.hash]
                self.outcomes[name, it.hash] = it.outcome
        for place in commit.deferred:
            if place.token not in stale:
                self._defer(self._at(place.handle, names), place.seq, place.new_priority)
        for release in commit.released:
            if release.token not in stale:
                site = self._at(release.handle, names)
                site.ready_at = self.now_at + release.rest_s
                site.token = site.holder = 0
                site.failures = release.failures
                site.abandoned = release.abandoned
                site.has_work = bool(site.queue) and not site.abandoned
        state.sequence, state.refused = commit.sequence, stale
        self.refused += len(stale)
        return stale

    def _at(self, handle: int, names: dict[int, str]) -> Site:
        return self.sites[names[handle]]

    def _defer(self, site: Site, hash_: int, priority: int) -> None:
        """Here `seq` of the model is looked up by hash: an engine's places are its own."""
        (old,) = [queued for queued in site.queue if queued.hash == hash_]
        site.queue.remove(old)
        place = self._next_seq()
        site.enqueue(old._replace(priority=priority, seq=place, tries=old.tries + 1))

    def retire(self, writer: int, rest_s: float) -> int:
        held = [site for site in self.sites.values() if site.holder == writer]
        for site in held:
            site.ready_at = min(site.ready_at, self.now_at + rest_s)
            site.token = site.holder = 0
            site.has_work = bool(site.queue)
        self.writers[writer].enlisted = False
        return len(held)

    def next_ready_in_s(self) -> float | None:
        times = [site.ready_at for site in self.sites.values() if site.has_work]
        return max(0.0, min(times) - self.now_at) if times else None

    def stats(self) -> FrontierStats:
        sites = self.sites.values()
        ready = sum(site.has_work and site.ready_at <= self.now_at for site in sites)
        outcomes = Counter(self.outcomes.values())
        pending = outcomes.pop(Outcome.PENDING, 0)
        return FrontierStats(
            sites=len(sites),
            sites_ready=ready,
            sites_waiting=sum(site.has_work for site in sites) - ready,
            sites_abandoned=sum(site.abandoned for site in sites),
            urls_known=len(self.outcomes),
            urls_pending=pending,
            urls_abandoned=sum(len(site.queue) for site in sites if site.abandoned),
            settled=dict(outcomes),
            leases=self.leases,
            refused=self.refused,
            writers=sum(writer.enlisted for writer in self.writers.values()),
        )
