"""The contract as a small program: slow, in memory, for one process. Engines must equal it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from mannerly.frontier import caps as deciding
from mannerly.frontier.contract import Added, Excluded
from mannerly.model import (
    Caps,
    Commit,
    DropCause,
    FrontierStats,
    Lease,
    NewUrl,
    Outcome,
    QueuedUrl,
    SiteState,
    UrlFacts,
    UrlState,
)


def _in_order(urls: list[QueuedUrl]) -> list[QueuedUrl]:
    return sorted(urls, key=lambda it: (it.priority, it.seq))


@dataclass
class Site:
    ready_at: float
    token: int = 0
    holder: int = 0
    has_work: bool = False
    state: SiteState = SiteState.OPEN
    failures: int = 0
    delay_s: float = 0.0
    pages: int = 0
    dropped: int = 0
    queue: list[QueuedUrl] = field(default_factory=list)
    """In order; `seq` is the model's own."""
    spill: list[QueuedUrl] = field(default_factory=list)
    """The same. What comes back keeps its place: older goes first."""

    @property
    def waits(self) -> bool:
        """There is, or may be, something to lease it for."""
        return self.state is SiteState.OPEN and bool(self.queue or self.spill)


@dataclass
class Writer:
    sequence: int = 0
    refused: frozenset[int] = frozenset()
    enlisted: bool = True


class Model:
    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.now_at = 0.0
        self.sites: dict[str, Site] = {}
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.writers: dict[int, Writer] = {}
        self.drops: Counter[DropCause] = Counter()
        self.leases = self.refused = self.urls_excluded = 0
        self._seq = 0

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def add(self, urls: list[NewUrl], *, new_sites: bool) -> Added:
        counts: Counter[str] = Counter()
        by_site: dict[str, list[QueuedUrl]] = defaultdict(list)
        for given in {it[:2]: it for it in reversed(urls)}.values():
            if given[:2] in self.outcomes:
                counts["known"] += 1
            elif given.site not in self.sites and not new_sites:
                counts["foreign"] += 1
            else:
                _, hash_, text, depth, priority, source, referrer = given
                place = self._seq + 1 + urls.index(given)
                by_site[given.site].append(
                    QueuedUrl(text, hash_, depth, priority, place, source, referrer, 0)
                )
        for name, found in by_site.items():
            site = self.sites.setdefault(name, Site(self.now_at))
            for queued in _in_order(found):
                counts[self._take(name, site, queued)] += 1
        self._seq += len(urls)
        return Added(*(counts[name] for name in Added._fields))

    def _take(self, name: str, site: Site, queued: QueuedUrl) -> str:
        if queued.hash in {it.hash for it in site.spill}:
            return "spilt"
        if site.state is SiteState.EXCLUDED:
            self._drop(site, 1, DropCause.EXCLUDED)
            return "dropped"
        pending, pages, spilt = len(site.queue), site.pages, len(site.spill)
        if deciding.room(self.caps, pending=pending, pages=pages):
            self._enqueue(name, site, queued)
            site.has_work = site.state is SiteState.OPEN
            return "new"
        if deciding.spill_room(self.caps, pages=pages, spilt=spilt):
            site.spill = _in_order([*site.spill, queued])
            return "spilt"
        self._drop(site, 1, deciding.drop_cause(self.caps, pages=pages))
        return "dropped"

    def _enqueue(self, name: str, site: Site, queued: QueuedUrl) -> None:
        self.outcomes[name, queued.hash] = Outcome.PENDING
        site.queue = _in_order([*site.queue, queued])

    def _drop(self, site: Site, count: int, cause: DropCause) -> None:
        site.dropped += count
        if count:
            self.drops[cause] += count

    def _refill(self, name: str, site: Site) -> None:
        """Bring back from the spill what there is room for, or drop it if the site is full."""
        if deciding.is_full(self.caps, pages=site.pages):
            self._drop(site, len(site.spill), DropCause.SITE_FULL)
            site.spill = []
        back = deciding.coming_back(
            self.caps, pending=len(site.queue), pages=site.pages, spilt=len(site.spill)
        )
        for queued in site.spill[:back]:
            self._enqueue(name, site, queued)
        site.spill = site.spill[back:]

    def ready(self) -> list[tuple[float, str]]:
        """Sites that may be leased now, longest ready first."""
        return sorted(
            (site.ready_at, key)
            for key, site in self.sites.items()
            if site.has_work and site.waits and site.ready_at <= self.now_at
        )

    def unnoticed(self) -> list[Site]:
        """Sites that are ready without work: their holder settled all and never released them.
        Whether a lease came across them is the engine's affair, until one looks at all."""
        return [
            site
            for site in self.sites.values()
            if site.has_work and not site.waits and site.ready_at <= self.now_at
        ]

    def lease(self, writer: int, taken: list[Lease], ttl_s: float, want: int) -> None:
        """The engine leased these; where several were ready equally long, the choice was its."""
        ages = [at for at, _ in self.ready()[: len(taken)]]
        assert sorted(self.sites[lease.site].ready_at for lease in taken) == ages
        for lease in taken:
            site = self.sites[lease.site]
            if not site.queue:
                self._refill(lease.site, site)
            site.ready_at, site.token, site.holder = self.now_at + ttl_s, lease.token, writer
        self.leases += len(taken)
        if len(taken) < want:
            for site in self.unnoticed():
                site.has_work = False

    def may_claim(self, name: str) -> bool:
        site = self.sites.setdefault(name, Site(self.now_at))
        return site.state is not SiteState.EXCLUDED and site.ready_at <= self.now_at

    def claim(self, writer: int, lease: Lease, ttl_s: float) -> None:
        site = self.sites[lease.site]
        site.ready_at, site.token, site.holder = self.now_at + ttl_s, lease.token, writer
        self.leases += 1

    def commit(self, writer: int, commit: Commit, names: dict[int, str]) -> frozenset[int]:
        """Deferred parts carry a URL's hash for its `seq`: an engine's places are its own."""
        given = {
            it[:2] for parts in (commit.settled, commit.deferred, commit.released) for it in parts
        }
        stale = frozenset(
            token for handle, token in given if self.sites[names[handle]].token != token
        )
        for it in commit.settled:
            if it.token not in stale:
                self._settle(names[it.handle], it.hash, it.outcome)
        for part in commit.deferred:
            if part.token not in stale:
                self._defer(self.sites[names[part.handle]], part.seq, part.new_priority)
        for release in commit.released:
            if release.token not in stale:
                name = names[release.handle]
                site = self.sites[name]
                site.ready_at = self.now_at + release.rest_s
                site.token = site.holder = 0
                site.failures = release.failures
                site.delay_s = release.delay_s or site.delay_s
                if release.abandoned:
                    site.state = SiteState.ABANDONED
                elif site.state is SiteState.OPEN:
                    self._refill(name, site)
                site.has_work = site.waits
        state = self.writers[writer]
        state.sequence, state.refused = commit.sequence, stale
        self.refused += len(stale)
        return stale

    def _settle(self, name: str, hash_: int, outcome: Outcome) -> None:
        site = self.sites[name]
        site.queue = [queued for queued in site.queue if queued.hash != hash_]
        site.pages += outcome is Outcome.FETCHED
        self.outcomes[name, hash_] = outcome

    def _defer(self, site: Site, hash_: int, priority: int) -> None:
        (old,) = [queued for queued in site.queue if queued.hash == hash_]
        later = old._replace(priority=priority, seq=self._next_seq(), tries=old.tries + 1)
        site.queue = _in_order([*(it for it in site.queue if it is not old), later])

    def retire(self, writer: int, rest_s: float) -> int:
        held = [site for site in self.sites.values() if site.holder == writer]
        for site in held:
            site.ready_at = min(site.ready_at, self.now_at + max(rest_s, site.delay_s))
            site.token = site.holder = 0
            site.has_work = site.waits
        self.writers[writer].enlisted = False
        return len(held)

    def exclude(self, names: list[str]) -> Excluded:
        sites = urls = 0
        for name in set(names):
            site = self.sites.setdefault(name, Site(self.now_at))
            if site.state is SiteState.EXCLUDED:
                continue
            sites += 1
            urls += len(site.queue) + len(site.spill)
            site.state, site.has_work = SiteState.EXCLUDED, False
            site.token = site.holder = 0
        self.urls_excluded += urls
        return Excluded(sites, urls)

    def next_ready_in_s(self) -> float | None:
        times = [site.ready_at for site in self.sites.values() if site.has_work]
        return max(0.0, min(times) - self.now_at) if times else None

    def explain(self, name: str, hash_: int) -> UrlFacts:
        """Without the facts of the site."""
        site = self.sites.get(name, Site(0))
        outcome = self.outcomes.get((name, hash_))
        if outcome is not None and outcome is not Outcome.PENDING:
            return UrlFacts(None, UrlState.SETTLED, outcome, None, 0)
        for state, urls in ((UrlState.PENDING, site.queue), (UrlState.SPILT, site.spill)):
            for place, queued in enumerate(urls):
                if queued.hash == hash_:
                    return UrlFacts(None, state, Outcome.PENDING, queued, place)
        return UrlFacts(None, UrlState.UNKNOWN, Outcome.PENDING, None, 0)

    def stats(self) -> FrontierStats:
        sites = self.sites.values()
        open_or_left = [site for site in sites if site.state is not SiteState.EXCLUDED]
        left = [site for site in sites if site.state is SiteState.ABANDONED]
        ready = sum(site.has_work and site.ready_at <= self.now_at for site in sites)
        settled = Counter(self.outcomes.values())
        settled.pop(Outcome.PENDING, None)
        return FrontierStats(
            sites=len(sites),
            sites_ready=ready,
            sites_waiting=sum(site.has_work for site in sites) - ready,
            sites_abandoned=len(left),
            urls_known=len(self.outcomes),
            urls_pending=sum(len(site.queue) for site in open_or_left),
            urls_abandoned=sum(len(site.queue) for site in left),
            urls_spilt=sum(len(site.spill) for site in open_or_left),
            sites_excluded=sum(site.state is SiteState.EXCLUDED for site in sites),
            urls_excluded=self.urls_excluded,
            dropped=dict(self.drops),
            settled=dict(settled),
            leases=self.leases,
            refused=self.refused,
            writers=sum(writer.enlisted for writer in self.writers.values()),
        )
