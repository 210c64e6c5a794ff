"""Any sequence of verbs, on two handles, does what the model of the contract does."""

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mannerly.frontier.conformance.engine import MakeEngine
from mannerly.frontier.conformance.model import Model, Writer
from mannerly.frontier.conformance.shapes import everything, url
from mannerly.frontier.contract import Committed, Frontier, Kind
from mannerly.model import (
    Caps,
    Commit,
    Deferred,
    Lease,
    NewUrl,
    Outcome,
    Priority,
    Released,
    Settled,
    SiteState,
)

EXAMPLES = 30
STEPS = 30
PHASES = {Phase.reuse, Phase.generate} | ({Phase.shrink} if os.getenv("SHRINK") else set())
"""Shortening a sequence that fails takes minutes: only with SHRINK=1 in the environment."""

SITES = ["a.example", "b.example", "c.example", "d.example"]
URLS = st.builds(
    url,
    st.sampled_from(SITES),
    st.integers(1, 9),
    st.sampled_from([Priority.NEXT, Priority.SEED, Priority.LINK]),
)
CAPS = st.sampled_from(
    [
        Caps(),
        Caps(pending=3, spilt=4, pages=0),
        Caps(pending=4, spilt=0, pages=5),
        Caps(pending=0, spilt=2, pages=3),
    ]
)
RESTS = st.sampled_from([0.0, 15.0, 45.0])
DEEDS = st.sampled_from(["settle", "settle", "settle", "defer", "leave"])
ENDS = st.sampled_from(["keep", "release", "release", "release", "abandon"])
OUTCOMES = [Outcome.FETCHED, Outcome.FETCHED, Outcome.DISALLOWED, Outcome.TIMED_OUT]
WHICH = st.integers(0, 1000)

IN_MEMORY = "/dev/shm"
"""Hundreds of crawls are made; what a disk does is tested elsewhere."""


class FrontierMachine(RuleBasedStateMachine):
    """Drives an engine and the model side by side."""

    make_engine: ClassVar[MakeEngine]

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(
            dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None
        )
        self.engine = type(self).make_engine(Path(self._folder.name))
        self.runner = asyncio.Runner()
        self.run = self.runner.run
        self.stack = AsyncExitStack()
        self.model = Model(Caps())
        self.handles: list[Frontier] = []
        self.given: list[tuple[Lease, list[int]]] = []
        """Every lease ever given, with the indexes of its URLs that nothing was done with."""
        self.names: dict[int, str] = {}
        self.last: dict[int, Commit] = {}
        self.steps = 0

    @initialize(caps=CAPS)
    def begin(self, caps: Caps) -> None:
        self.model = Model(caps)
        self.run(self._open())

    async def _open(self) -> None:
        self.stack = AsyncExitStack()
        self.handles = [
            await self.stack.enter_async_context(self.engine.open(caps=self.model.caps))
            for _ in "12"
        ]

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()
        self.engine.close()
        self._folder.cleanup()

    def handle(self, which: int) -> Frontier:
        return self.handles[which % 2]

    def writer(self, which: int) -> int:
        return sorted(self.model.writers)[which % len(self.model.writers)]

    @rule()
    def reopen(self) -> None:
        self.run(self.stack.aclose())
        self.run(self._open())

    @rule(seconds=st.sampled_from([10, 20, 50]))
    def advance(self, seconds: int) -> None:
        self.run(self.engine.advance(seconds))
        self.model.now_at += seconds

    @precondition(lambda self: len(self.model.writers) < 4)
    @rule(which=WHICH)
    def enlist(self, which: int) -> None:
        writer = self.run(self.handle(which).enlist("a writer"))
        assert writer > 0
        assert writer not in self.model.writers
        self.model.writers[writer] = Writer()

    @rule(which=WHICH, urls=st.lists(URLS, max_size=8), new_sites=st.booleans())
    def add(self, which: int, urls: list[NewUrl], new_sites: bool) -> None:
        added = self.run(self.handle(which).add(urls, new_sites=new_sites))
        assert added == self.model.add(urls, new_sites=new_sites)

    @precondition(lambda self: any(it.enlisted for it in self.model.writers.values()))
    @rule(which=WHICH, want=st.integers(0, 5), ttl_s=st.sampled_from([25, 65]), urls=WHICH)
    def lease(self, which: int, want: int, ttl_s: int, urls: int) -> None:
        enlisted = sorted(key for key, it in self.model.writers.items() if it.enlisted)
        writer = enlisted[which % len(enlisted)]
        count = urls % 3 + 1
        could = len(self.model.ready())
        verb = self.handle(which).lease(writer, want, ttl_s=ttl_s, urls_per_site=count)
        leases, next_ready_in_s = self.run(verb)
        assert len(leases) == min(want, could)
        self.model.lease(writer, leases, ttl_s, want)
        for lease in leases:
            site = self.model.sites[lease.site]
            assert lease.token != 0
            assert lease.failures == site.failures
            assert [it._replace(seq=0) for it in lease.urls] == [
                it._replace(seq=0) for it in site.queue[:count]
            ]
            self.names[lease.handle] = lease.site
            self.given.append((lease, list(range(len(lease.urls)))))
        if not self.model.unnoticed():
            assert next_ready_in_s == pytest.approx(self.model.next_ready_in_s(), abs=4)

    @precondition(lambda self: any(it.enlisted for it in self.model.writers.values()))
    @rule(which=WHICH, site=st.sampled_from(SITES), ttl_s=st.sampled_from([25, 65]))
    def claim(self, which: int, site: str, ttl_s: int) -> None:
        enlisted = sorted(key for key, it in self.model.writers.items() if it.enlisted)
        writer = enlisted[which % len(enlisted)]
        lease = self.run(self.handle(which).claim(writer, site, ttl_s=ttl_s))
        assert (lease is not None) == self.model.may_claim(site)
        if lease is not None:
            assert (lease.urls, lease.failures) == ([], self.model.sites[site].failures)
            self.names[lease.handle] = lease.site
            self.given.append((lease, []))
            self.model.claim(writer, lease, ttl_s)

    @precondition(lambda self: self.given)
    @rule(
        which=WHICH,
        leases=st.lists(WHICH, min_size=1, max_size=3),
        deeds=st.lists(DEEDS, min_size=9, max_size=9),
        end=ENDS,
        rest_s=RESTS,
        delay_s=st.sampled_from([0.0, 0.0, 25.0]),
        outcome=st.sampled_from(OUTCOMES),
    )
    def commit(
        self,
        which: int,
        leases: list[int],
        deeds: list[str],
        end: str,
        rest_s: float,
        delay_s: float,
        outcome: Outcome,
    ) -> None:
        writer = self.writer(which)
        commit = Commit(self.model.writers[writer].sequence + 1)
        told = Commit(commit.sequence)
        deed = iter(deeds)
        # Recent leases more often: most of the old ones are stale.
        for back in {-1 - number % min(6, len(self.given)) for number in leases}:
            lease, untouched = self.given[back]
            key = (lease.handle, lease.token)
            for index in list(untouched):
                queued, what = lease.urls[index], next(deed)
                place = (queued.priority, queued.seq)
                if what == "settle":
                    commit.settled.append(Settled(*key, *place, queued.hash, outcome))
                elif what == "defer":
                    later = (Priority.RETRY, queued.tries + 1)
                    commit.deferred.append(Deferred(*key, *place, *later))
                    # The model knows URLs by hash, not by place.
                    told.deferred.append(Deferred(*key, queued.priority, queued.hash, *later))
                if what != "leave":
                    untouched.remove(index)
            if end != "keep":
                abandoned = end == "abandon"
                commit.released.append(Released(*key, rest_s, which % 4, abandoned, delay_s))
        told.settled, told.released = commit.settled, commit.released
        answer = self.run(self.handle(which).commit(writer, commit))
        assert answer == Committed(self.model.commit(writer, told, self.names))
        self.last[writer] = commit

    @precondition(lambda self: self.last)
    @rule(which=WHICH)
    def commit_again(self, which: int) -> None:
        writer = sorted(self.last)[which % len(self.last)]
        answer = self.run(self.handle(which).commit(writer, self.last[writer]))
        assert answer == Committed(self.model.writers[writer].refused)

    @precondition(lambda self: self.model.writers)
    @rule(which=WHICH, rest_s=RESTS)
    def retire(self, which: int, rest_s: float) -> None:
        writer = self.writer(which)
        answer = self.run(self.handle(which).retire(writer, rest_s))
        assert answer == self.model.retire(writer, rest_s)

    @precondition(lambda self: self.model.leases > 1)
    @rule(which=WHICH, sites=st.lists(st.sampled_from([*SITES, "e.example"]), max_size=2))
    def exclude(self, which: int, sites: list[str]) -> None:
        """Not too early: an excluded site says nothing any more."""
        answer = self.run(self.handle(which).exclude(sites))
        assert answer == self.model.exclude(sites)

    @rule(which=WHICH, site=st.sampled_from(SITES), number=st.integers(1, 9))
    def explain(self, which: int, site: str, number: int) -> None:
        facts = self.run(self.handle(which).explain(site, number))
        known = self.model.sites.get(site)
        assert (facts.site is None) == (known is None)
        if known is None or facts.site is None or known.state is SiteState.EXCLUDED:
            return
        expected = self.model.explain(site, number)
        assert facts.queued is None or facts.queued.hash == number
        assert (facts.state, facts.outcome) == (expected.state, expected.outcome)
        assert (facts.queued is None) == (expected.queued is None)
        counts = (len(known.queue), len(known.spill), known.pages, known.dropped)
        assert facts.site[-4:] == counts
        assert facts.site.state is known.state
        assert (facts.site.failures, facts.site.delay_s) == (known.failures, known.delay_s)

    @rule(which=WHICH, limit=st.integers(1, 5))
    def list_all(self, which: int, limit: int) -> None:
        listed = self.run(everything(self.handle(which), Kind.PENDING, limit))
        open_sites = {
            name: site
            for name, site in self.model.sites.items()
            if site.state is not SiteState.EXCLUDED
        }
        queues = {name: [it.hash for it in site.queue] for name, site in open_sites.items()}
        for name, queue in queues.items():
            assert [it.hash for it in listed if it.site == name] == queue
        assert len(listed) == sum(len(queue) for queue in queues.values())

    @invariant()
    def counts_agree(self) -> None:
        expected = self.model.stats()
        doubtful = len(self.model.unnoticed())
        self.steps += 1
        stats = self.run(self.handle(self.steps).stats())
        assert expected.sites_ready - doubtful <= stats.sites_ready <= expected.sites_ready
        stats.sites_ready = expected.sites_ready
        assert stats == expected

    @precondition(lambda self: self.model.writers)
    @invariant()
    def writers_agree(self) -> None:
        key = self.writer(self.steps)
        writer = self.model.writers[key]
        state = self.run(self.handle(self.steps).writer_state(key))
        assert state == (writer.sequence, writer.refused)


def test_any_sequence_of_verbs_does_what_the_contract_says(make_engine: MakeEngine) -> None:
    machine = type("Machine", (FrontierMachine,), {"make_engine": staticmethod(make_engine)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            phases=PHASES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
