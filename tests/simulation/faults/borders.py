"""Where a crawler touches the frontier and the network: the real engine and the simulated web, with
a step before and after everything, and a record of what was done."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from mannerly.fetch import guard
from mannerly.fetch.contract import Admit, Channel, Fetched, anywhere
from mannerly.frontier.contract import Added, Committed, Leased, WriterState
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit, Lease, NewUrl, Outcome
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Answer, Behaviour, Kind
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import split
from tests.simulation.faults import plan
from tests.simulation.faults.world import Accepted, LeaseGiven, Retired, ServerClock

if TYPE_CHECKING:
    from tests.simulation.faults.process import Process

T = TypeVar("T")
Note = Callable[[Any], None]

_NOTE: ContextVar[Note] = ContextVar("note", default=lambda _: None)
"""What is to be kept of the work that the frontier is about to do. Called in the moment in which it
is done: the one who asked for it may not live to see the answer."""


class BorderExecutor:
    """Runs the work inline, one after the other, with a step before and after."""

    def __init__(self, process: "Process", name: str) -> None:
        self._process = process
        self._name = name
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        async with self._turn:
            await self._process.reach(f"before {self._name}")
            done = work()
            _NOTE.get()(done)
            await self._process.reach(f"after {self._name}")
            return done

    def pressed(self) -> bool:
        return False

    def close(self) -> None:
        pass


class BorderFrontier(SqliteFrontier):
    """The SQLite engine, as one process reaches it."""

    def __init__(self, process: "Process") -> None:
        world = process.world
        super().__init__(
            world.root / "frontier.db",
            clock=world.clock,
            executor=BorderExecutor(process, "sql"),
            random=process.chance,
            synchronous="NORMAL",  # a power cut is played, and spares what was committed
            boot_id=world.boot_id,
        )
        self._process = process
        self._world = world

    async def __aexit__(self, *_: object) -> None:
        # Not by the executor: what goes wrong after it would leave it open here and closed there.
        await self._process.reach("before sql")
        self.close_at_once()

    def close_at_once(self) -> None:
        """What the kernel does for a dead process."""
        database, self._database = self._database, None
        if database is not None:
            database.close()

    async def enlist(self, label: str) -> int:
        writer = await self._cross("enlist", super().enlist(label))
        self._world.writers[writer] = self._process.name
        return writer

    async def writer_state(self, writer: int) -> WriterState | None:
        return await self._cross("writer state", super().writer_state(writer))

    async def retire(self, writer: int, rest_s: float) -> int:
        def note(_: int) -> None:
            self._world.seen.append(Retired(writer, self._world.now()))

        return await self._cross("retire", super().retire(writer, rest_s), note)

    async def add(self, urls: Sequence[NewUrl], *, new_sites: bool = True) -> Added:
        return await self._cross("add", super().add(urls, new_sites=new_sites))

    async def lease(self, writer: int, want: int, *, ttl_s: float, urls_per_site: int) -> Leased:
        def note(leased: Leased) -> None:
            for lease in leased.leases:
                self._given(lease, writer, ttl_s)

        work = super().lease(writer, want, ttl_s=ttl_s, urls_per_site=urls_per_site)
        return await self._cross("lease", work, note)

    async def claim(self, writer: int, site: str, *, ttl_s: float) -> Lease | None:
        def note(lease: Lease | None) -> None:
            if lease is not None:
                self._given(lease, writer, ttl_s)

        return await self._cross("claim", super().claim(writer, site, ttl_s=ttl_s), note)

    async def commit(self, writer: int, commit: Commit) -> Committed:
        def note(committed: Committed) -> None:
            done = [it for it in self._world.seen if isinstance(it, Accepted)]
            if not any((it.writer, it.commit.sequence) == (writer, commit.sequence) for it in done):
                self._world.seen.append(
                    Accepted(writer, self._world.now(), commit, committed.refused)
                )

        return await self._cross("commit", super().commit(writer, commit), note)

    def _given(self, lease: Lease, writer: int, ttl_s: float) -> None:
        now = self._world.now()
        self._world.seen.append(LeaseGiven(lease.handle, lease.token, writer, now, now + ttl_s))

    async def _cross(
        self, verb: str, work: Coroutine[Any, Any, T], note: Note = lambda _: None
    ) -> T:
        try:
            await self._process.reach(f"before {verb}")
        except BaseException:
            work.close()
            raise
        before = _NOTE.set(note)
        try:
            done = await work
        finally:
            _NOTE.reset(before)
        await self._process.reach(f"after {verb}")
        return done


class BorderTransport(SimTransport):
    """The simulated web, as one process reaches it."""

    def __init__(self, process: "Process") -> None:
        world = process.world
        super().__init__(world.web, ServerClock(world), world.log, user_agent=process.name)
        self.process = process
        self.cuts: set[str] = set()
        """URLs whose next answer is cut off."""
        self._attempts = world.busy

    def open(self, origin: str, admit: Admit = anywhere) -> Channel:  # type: ignore[override]
        return BorderChannel(self, origin, super().open(origin, admit))

    def connect(self) -> str:
        return f"{self.process.name} {super().connect()}"

    def answer(self, url: str) -> Answer:
        _, host, path = split(url)
        answer = super().answer(url)
        if url in self.process.world.moved_robots:
            target = self.process.world.moved_robots[url]
            latency_s = answer.latency_s
            answer = Answer(Kind.ROBOTS, 302, location=target, extra=(("Location", target),))
            answer.latency_s = latency_s
        if path == "/robots.txt" and self.process.world.robots_out(host):
            answer = Answer(Kind.ROBOTS, 503, latency_s=answer.latency_s)
        if url in self.cuts:
            self.cuts.remove(url)
            answer.behaviour = Behaviour.CUT
        return answer


class BorderChannel:
    def __init__(self, transport: BorderTransport, origin: str, inner: Channel) -> None:
        self._transport = transport
        self._inner = inner
        self._host = split(origin + "/")[1]

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        process = self._transport.process
        fault = await process.reach("before request")
        if fault is not None and fault.kind is plan.Kind.CUT:
            self._transport.cuts.add(url)
        address = guard.literal(self._host)
        if address is not None:
            return self._directly(url, guard.refusal(address))
        # The servers go on also while the process is stopped: what they sent waits for it.
        fetched = await asyncio.create_task(
            self._inner.get(
                url, deadline_at=deadline_at, start_by_at=start_by_at, body_limit=body_limit
            ),
            context=Context(),
        )
        await process.reach("after answer")
        return fetched

    def _directly(self, url: str, refusal: str) -> Fetched:
        """An address in place of a name. (The names of the simulated web lead to addresses that the
        guard refuses, so it is not shown those.) Nobody is there, but whoever tries is seen."""
        now = self._transport.clock.now()
        if refusal:
            return Fetched(url, Outcome.ADDRESS_REFUSED, refusal, ended_at=now)
        scheme, host, path = split(url)
        at = self._transport.clock.wall()
        self._transport.log.append(
            AccessRecord(at, at, at, host, scheme, path, 0, self._transport.user_agent, "", 0,
                         sent_whole=False)
        )  # fmt: skip
        return Fetched(url, Outcome.CONNECT_FAILED, ended_at=now)

    def close(self) -> None:
        self._inner.close()
