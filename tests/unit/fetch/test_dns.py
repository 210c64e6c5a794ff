"""The resolver against a real dnsmasq."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from mannerly.clock import SystemClock
from mannerly.fetch.dns import CaresResolver, Resolved
from mannerly.model import Outcome

RECORDS = [
    "--local=/example/",
    "--host-record=one.example,192.0.2.1",
    "--host-record=two.example,192.0.2.1,2001:db8::1",
    "--host-record=six.example,2001:db8::6",
    "--host-record=brief.example,192.0.2.9,5",
    "--host-record=long.example,192.0.2.8,86400",
    "--cname=alias.example,one.example",
    "--txt-record=text.example,hello",
    "--address=/gone.example/",
]


class HandClock:
    """Boot time that a test moves by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    def wall(self) -> float:
        return self.at


@dataclass
class Dnsmasq:
    address: str
    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    def queries(self, name: str) -> list[str]:
        """The kinds that were asked for `name`, in order."""
        asked = [line for line in self.lines if f"] {name} from " in line]
        return [line.partition("query[")[2].partition("]")[0] for line in asked]

    async def read_until(self, *words: str) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line.decode())
            if any(word in self.lines[-1] for word in words):
                return
        raise AssertionError("dnsmasq ended: " + "".join(self.lines))


async def start_dnsmasq() -> Dnsmasq:
    program = shutil.which("dnsmasq", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    assert program, "dnsmasq is missing: apt-get install dnsmasq-base"
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        program, "--keep-in-foreground", "--conf-file=/dev/null", "--no-hosts", "--no-resolv",
        f"--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--pid-file",
        "--log-queries", "--log-facility=-", "--local-ttl=100", *RECORDS,
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    server = Dnsmasq(f"127.0.0.1:{port}", process)
    await asyncio.wait_for(server.read_until("started", "in use"), 10)
    return server


def free_port() -> int:
    """Free for datagrams; dnsmasq wants it for streams too, and may find it taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def dnsmasq() -> AsyncIterator[Dnsmasq]:
    server = await start_dnsmasq()
    while "in use" in server.lines[-1]:
        await server.process.wait()
        server = await start_dnsmasq()
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.process.terminate()
        await server.process.wait()


@contextlib.asynccontextmanager
async def resolving(
    *servers: str,
    clock: HandClock | None = None,
    ipv6: bool = False,
    in_flight: int = 8,
    cache_size: int = 100,
    timeout_s: float = 5.0,
) -> AsyncIterator[CaresResolver]:
    resolver = CaresResolver(
        clock=clock or SystemClock(),
        servers=servers,
        ipv6=ipv6,
        in_flight=in_flight,
        cache_size=cache_size,
        timeout_s=timeout_s,
        tries=1,
    )
    try:
        yield resolver
    finally:
        await resolver.aclose()


async def asked_for(server: Dnsmasq, resolver: CaresResolver, name: str) -> list[str]:
    """What the server was asked, read up to a query that marks the place."""
    mark = f"mark{resolver.queries}.example"
    await resolver.resolve(mark)
    await asyncio.wait_for(server.read_until(f"] {mark}"), 10)
    return server.queries(name)


@pytest.mark.parametrize(
    ("name", "ipv6", "expected"),
    [
        ("one.example", False, Resolved(("192.0.2.1",))),
        ("ONE.example.", False, Resolved(("192.0.2.1",))),
        ("alias.example", False, Resolved(("192.0.2.1",))),
        ("two.example", True, Resolved(("192.0.2.1",))),
        ("six.example", True, Resolved(("2001:db8::6",))),
    ],
)
async def test_addresses(name: str, ipv6: bool, expected: Resolved) -> None:
    async with dnsmasq() as server, resolving(server.address, ipv6=ipv6) as resolver:
        assert await resolver.resolve(name) == expected


async def test_kinds_of_failure_are_told_apart() -> None:
    async with dnsmasq() as server, resolving(server.address) as resolver:
        for name in ("gone.example", "text.example", "six.example"):
            answer = await resolver.resolve(name)
            assert (answer.addresses, answer.failure) == ((), Outcome.NO_SUCH_NAME), name
            assert answer.detail
        # It has nobody to ask, and refuses.
        refused = await resolver.resolve("unknown.test")
        assert (refused.addresses, refused.failure) == ((), Outcome.DNS_TROUBLE)


async def test_silent_and_absent_servers_are_trouble() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        async with resolving(address, timeout_s=0.2) as resolver:
            answer = await resolver.resolve("one.example")
    assert answer.failure is Outcome.DNS_TROUBLE
    assert answer.detail
    async with resolving(f"127.0.0.1:{free_port()}") as resolver:
        assert (await resolver.resolve("one.example")).failure is Outcome.DNS_TROUBLE


@pytest.mark.parametrize(
    "name", ["", "a..b", "x" * 64 + ".example", "a." * 130, "a b.example", "é"]
)
async def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        async with resolving(f"127.0.0.1:{silent.getsockname()[1]}") as resolver:
            assert (await resolver.resolve(name)).failure is Outcome.NO_SUCH_NAME
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.recv(1)


async def test_look_ups_of_one_name_are_shared_and_remembered() -> None:
    async with dnsmasq() as server, resolving(server.address) as resolver:
        answers = await asyncio.gather(*(resolver.resolve("one.example") for _ in range(50)))
        assert set(answers) == {Resolved(("192.0.2.1",))}
        await resolver.resolve("one.example")
        assert await asked_for(server, resolver, "one.example") == ["A"]


async def test_one_who_gives_up_takes_nothing_from_the_others() -> None:
    async with dnsmasq() as server, resolving(server.address) as resolver:
        first = asyncio.create_task(resolver.resolve("one.example"))
        second = asyncio.create_task(resolver.resolve("one.example"))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == Resolved(("192.0.2.1",))
        with pytest.raises(asyncio.CancelledError):
            await first


@pytest.mark.parametrize(
    ("name", "kept_s", "forgotten_s"),
    [
        ("one.example", 99, 101),
        ("brief.example", 59, 61),
        ("long.example", 3599, 3601),
        ("gone.example", 299, 301),
        ("unknown.test", 9, 11),
    ],
)
async def test_answers_are_kept_for_their_time(name: str, kept_s: int, forgotten_s: int) -> None:
    """The server's time within a floor and a ceiling; failures for a time of their own."""
    clock = HandClock()
    async with dnsmasq() as server, resolving(server.address, clock=clock) as resolver:
        queries = []
        for pause_s in (0, kept_s, forgotten_s - kept_s):
            clock.at += pause_s
            await resolver.resolve(name)
            queries.append(resolver.queries)
        assert queries == [1, 1, 2]


async def test_cache_is_bounded_and_the_longest_unused_goes() -> None:
    async with dnsmasq() as server, resolving(server.address, cache_size=2) as resolver:
        queries = []
        for name in ("one", "two", "one", "six", "one", "two"):
            await resolver.resolve(f"{name}.example")
            queries.append(resolver.queries)
        assert queries == [1, 2, 2, 3, 3, 4]


async def test_cache_of_the_library_is_emptied_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seen by the server: a name that the library knows by heart is asked for again."""
    clock = HandClock()
    async with dnsmasq() as server, resolving(server.address, clock=clock) as resolver:

        async def ask() -> int:
            clock.at += 4000
            await resolver.resolve("long.example")
            return len(await asked_for(server, resolver, "long.example"))

        assert [await ask() for _ in range(3)] == [1, 1, 1]
        monkeypatch.setattr("mannerly.fetch.dns.FLUSH_AFTER", 1)
        # It happens on the library's thread, so the very next question may be too early.
        async with asyncio.timeout(10):
            while await ask() < 2:
                pass


async def test_number_of_look_ups_under_way_is_bounded() -> None:
    """A server that answers nothing: only so many queries may reach it at once."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.setblocking(False)
        loop = asyncio.get_running_loop()
        async with resolving(
            f"127.0.0.1:{silent.getsockname()[1]}", in_flight=3, timeout_s=0.2
        ) as resolver:
            tasks = [asyncio.create_task(resolver.resolve(f"n{i}.example")) for i in range(6)]
            began_at = loop.time()
            for _ in range(3):
                await loop.sock_recv(silent, 1000)
            await loop.sock_recv(silent, 1000)
            # The fourth came only when one of the first three had been given up.
            assert loop.time() - began_at >= 0.15
            answers = await asyncio.gather(*tasks)
        assert {answer.failure for answer in answers} == {Outcome.DNS_TROUBLE}


async def test_closing_ends_those_who_wait() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        async with resolving(f"127.0.0.1:{silent.getsockname()[1]}") as resolver:
            waiting = asyncio.create_task(resolver.resolve("one.example"))
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await waiting
