"""Any sequence of verbs, on two handles, does what the model of the contract does."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mannerly.frontier.contract import Committed, Frontier
from mannerly.model import (
    Commit,
    Deferred,
    Lease,
    NewUrl,
    Outcome,
    Priority,
    Released,
    Settled,
)
from tests.conformance.frontier import engines
from tests.conformance.frontier.model import Model, Writer
from tests.conformance.frontier.shapes import url

URLS = st.builds(
    url,
    st.sampled_from(["a.example", "b.example", "c.example", "d.example"]),
    st.integers(1, 9),
    st.sampled_from([Priority.NEXT, Priority.SEED, Priority.LINK]),
)
RESTS = st.sampled_from([0.0, 15.0, 45.0])
DEEDS = st.sampled_from(["settle", "settle", "defer", "leave"])
ENDS = st.sampled_from(["keep", "release", "release", "release", "abandon"])
WHICH = st.integers(0, 1000)

IN_MEMORY = "/dev/shm"
"""Hundreds of crawls are made; what a disk does is tested elsewhere."""


class FrontierMachine(RuleBasedStateMachine):
    """Drives an engine and the model side by side."""

    engine_name = ""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(
            dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None
        )
        self.engine = engines.make(self.engine_name, Path(self._folder.name))
        self.model = Model()
        self.runner = asyncio.Runner()
        self.run = self.runner.run
        self.stack = AsyncExitStack()
        self.handles: list[Frontier] = []
        self.given: list[tuple[Lease, list[int]]] = []
        """Every lease ever given, with the indexes of its URLs that nothing was done with."""
        self.names: dict[int, str] = {}
        self.last: dict[int, Commit] = {}

    @initialize()
    def open(self) -> None:
        async def open_two() -> None:
            self.stack = AsyncExitStack()
            self.handles = [await self.stack.enter_async_context(self.engine.open()) for _ in "12"]

        self.run(open_two())

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()
        self._folder.cleanup()

    def handle(self, which: int) -> Frontier:
        return self.handles[which % 2]

    def writer(self, which: int) -> int:
        return sorted(self.model.writers)[which % len(self.model.writers)]

    @rule()
    def reopen(self) -> None:
        self.run(self.stack.aclose())
        self.open()

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
        for lease in leases:
            site = self.model.sites[lease.site]
            assert lease.token != 0
            assert lease.failures == site.failures
            assert [it._replace(seq=0) for it in lease.urls] == [
                it._replace(seq=0) for it in site.queue[:count]
            ]
            self.names[lease.handle] = lease.site
            self.given.append((lease, list(range(len(lease.urls)))))
        self.model.lease(writer, leases, ttl_s, want)
        if want > len(leases) or leases:
            assert next_ready_in_s == pytest.approx(self.model.next_ready_in_s(), abs=4)

    @precondition(lambda self: self.given)
    @rule(
        which=WHICH,
        leases=st.lists(WHICH, min_size=1, max_size=3),
        deeds=st.lists(DEEDS, min_size=9, max_size=9),
        end=ENDS,
        rest_s=RESTS,
        outcome=st.sampled_from([Outcome.FETCHED, Outcome.DISALLOWED, Outcome.TIMED_OUT]),
    )
    def commit(
        self,
        which: int,
        leases: list[int],
        deeds: list[str],
        end: str,
        rest_s: float,
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
                failures = which % 4
                commit.released.append(Released(*key, rest_s, failures, end == "abandon"))
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

    @invariant()
    def counts_agree(self) -> None:
        for handle in self.handles:
            assert self.run(handle.stats()) == self.model.stats()

    @invariant()
    def writers_agree(self) -> None:
        for key, writer in self.model.writers.items():
            state = self.run(self.handles[0].writer_state(key))
            assert state == (writer.sequence, writer.refused)


def test_any_sequence_of_verbs_does_what_the_contract_says(engine_name: str) -> None:
    machine = type("Machine", (FrontierMachine,), {"engine_name": engine_name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
