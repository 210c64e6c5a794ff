"""What is measured at one size of the frontier."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.frontier.cost import Cost, durations_ms
from benchmarks.frontier.engines import Engine
from benchmarks.frontier.workload import Discovery, fill
from mannerly.frontier.contract import Frontier
from mannerly.model import Commit, Lease, Outcome, Released, Settled

Figures = dict[str, object]


@dataclass(slots=True)
class Shape:
    """How much of everything."""

    sites: int
    add_batch: int = 100_000
    add_rounds: int = 3
    lease_batch: int = 500
    lease_rounds: int = 100
    busy_rounds: int = 400
    """At most so many leases while the other process adds."""
    busy_batches: int = 10


class Measurement:
    """One frontier that grows from size to size, as one writer of it."""

    def __init__(self, engine: Engine, frontier: Frontier, writer: int, shape: Shape) -> None:
        self._engine = engine
        self._frontier = frontier
        self._writer = writer
        self._shape = shape
        self._sequence = 0
        self._filled = 0
        """URLs of each site that fills have made."""
        self._stream = 0

    async def at(self, size: int) -> Figures:
        """Grow to `size` pending URLs and measure. Leases first, since adding makes it grow on."""
        figures: Figures = {"fill": await self._fill(size)}
        settling = Cost(self._engine.server_cpu_s)
        with settling.spent():
            self._engine.settle()
        figures["settle_s"] = round(sum(settling.calls_s), 1)
        figures["pending"] = (await self._frontier.stats()).urls_pending
        figures["bytes_per_url"] = await self._bytes_per_url()
        figures |= await self._lease_and_commit(self._shape.lease_rounds)
        for name in ("links", "uniform"):
            figures[f"add_{name}"], figures[f"add_{name}_known"] = await self._add(name)
        figures["while_adding"] = await self._while_adding()
        stats = Cost(self._engine.server_cpu_s)
        with stats.spent():
            after = await self._frontier.stats()
        figures["stats"] = durations_ms(stats.calls_s)
        figures["pending_after"] = after.urls_pending
        return figures

    async def _fill(self, size: int) -> Figures:
        pending = (await self._frontier.stats()).urls_pending
        urls_a_site = max(0, round((size - pending) / self._shape.sites))
        cost = Cost(self._engine.server_cpu_s)
        added = 0
        if self._filled:
            with cost.spent():
                added = self._engine.load(self._filled, urls_a_site)
        else:
            for batch in fill(self._shape.sites, 0, urls_a_site):
                with cost.spent():
                    added += (await self._frontier.add(batch)).new
        self._filled += urls_a_site
        return {"urls": added, **cost.per(max(1, added))}

    async def _bytes_per_url(self) -> float:
        known = (await self._frontier.stats()).urls_known
        return round(self._engine.disk_bytes() / known, 1)

    async def _add(self, name: str) -> tuple[Figures, Figures]:
        """A few batches of new URLs, and each of them again."""
        self._stream += 1
        discovery = Discovery(self._shape.sites, self._shape.add_batch, self._stream)
        batches = discovery.links() if name == "links" else discovery.uniform()
        new, again = Cost(self._engine.server_cpu_s), Cost(self._engine.server_cpu_s)
        urls = repeated = 0
        for _ in range(self._shape.add_rounds):
            batch = next(batches)
            with new.spent():
                urls += (await self._frontier.add(batch)).new
            with again.spent():
                repeated += (await self._frontier.add(batch)).known
        return {"urls": urls, **new.per(urls)}, {"urls": repeated, **again.per(repeated)}

    async def _lease_and_commit(self, rounds: int) -> Figures:
        leasing, committing = Cost(self._engine.server_cpu_s), Cost(self._engine.server_cpu_s)
        pages = 0
        for _ in range(rounds):
            pages += await self._visit(leasing, committing)
        return {"pages": pages, "lease": leasing.per(pages), "commit": committing.per(pages)}

    async def _visit(self, leasing: Cost, committing: Cost) -> int:
        """Lease a batch of sites, settle a URL of each and release them."""
        with leasing.spent():
            leased = await self._frontier.lease(
                self._writer, self._shape.lease_batch, ttl_s=600, urls_per_site=1
            )
        self._sequence += 1
        commit = _visited(self._sequence, leased.leases)
        with committing.spent():
            committed = await self._frontier.commit(self._writer, commit)
        assert not committed.refused
        return len(leased.leases)

    async def _while_adding(self) -> Figures:
        """The same while another process adds without pause. CPU is that of both, so it is not
        told; what counts is how long a lease takes then."""
        leasing, committing = Cost(self._engine.server_cpu_s), Cost(self._engine.server_cpu_s)
        pending = (await self._frontier.stats()).urls_pending
        pages = rounds = 0
        self._stream += 1
        with _adding(self._engine, self._shape, self._stream) as adder:
            start = time.perf_counter()
            while rounds < self._shape.busy_rounds and adder.poll() is None:
                pages += await self._visit(leasing, committing)
                rounds += 1
            took_s = time.perf_counter() - start
            told, _ = adder.communicate()
        return {
            "pending": pending,
            "pages_a_second": round(pages / took_s),
            "lease": durations_ms(leasing.calls_s),
            "commit": durations_ms(committing.calls_s),
            "adder": json.loads(told.splitlines()[-1]),
        }


def _visited(sequence: int, leases: list[Lease]) -> Commit:
    commit = Commit(sequence)
    for lease in leases:
        url = lease.urls[0]
        commit.settled.append(
            Settled(lease.handle, lease.token, url.priority, url.seq, url.hash, Outcome.FETCHED)
        )
        commit.released.append(Released(lease.handle, lease.token, 0.0, 0, False))
    return commit


@contextmanager
def _adding(engine: Engine, shape: Shape, stream: int) -> Iterator["subprocess.Popen[str]"]:
    """The adder, begun. `communicate` closes its standard input, and so ends it."""
    numbers = (shape.sites, shape.add_batch, stream, shape.busy_batches)
    command = [sys.executable, "-m", "benchmarks.frontier.adder", engine.name, engine.address]
    with subprocess.Popen(
        command + [str(number) for number in numbers],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as adder:
        assert adder.stdin is not None
        assert adder.stdout is not None
        try:
            assert adder.stdout.readline() == "ready\n"
            adder.stdin.write("go\n")
            adder.stdin.flush()
            yield adder
        finally:
            if adder.poll() is None:
                adder.kill()
