"""The transport's promises apart from hostile bytes: addresses, reuse, deadlines, letting go."""

import asyncio
import errno
import gc
import socket
import ssl
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from mannerly.clock import SystemClock
from mannerly.errors import ConfigError, MannerlyError, UrlError
from mannerly.fetch.contract import Channel, Fetched
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpTransport
from mannerly.fetch.response import ResponseReader
from mannerly.model import Outcome
from tests.hostile.script import End, Pause, Script
from tests.unit.fetch.certificates import self_signed
from tests.unit.fetch.scripted_server import NoResolver, serving, transport_to

OK: Script = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
SITE = "http://site.example"
clock = SystemClock()


async def fetch(channel: Channel, url: str = f"{SITE}/", *, within_s: float = 5.0) -> Fetched:
    end_at = clock.now() + within_s
    return await channel.get(url, deadline_at=end_at, start_by_at=end_at, body_limit=100_000)


class Table:
    """A resolver that knows what it is told and counts what it is asked."""

    def __init__(self, **names: Resolved) -> None:
        self.names = {name.replace("_", "."): answer for name, answer in names.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Resolved:
        self.asked.append(host)
        return self.names[host]


def guarded(
    resolver: Table | NoResolver,
    *,
    allow_private: bool = False,
    port: int = 80,
    connect_timeout_s: float = 5.0,
) -> HttpTransport:
    return HttpTransport(
        clock=clock,
        user_agent="test/1",
        contact="a@example.org",
        resolver=resolver,
        allow_private=allow_private,
        ports=frozenset({80, 443, port}),
        connect_timeout_s=connect_timeout_s,
    )


# What is sent ---------------------------------------------------------------------------------


async def test_request_says_who_asks() -> None:
    async with serving(OK) as server, transport_to(server.port) as transport:
        await fetch(transport.open("http://site.example:8080"), "http://site.example:8080/a?b=%20c")
        assert server.requests == [
            b"GET /a?b=%20c HTTP/1.1\r\n"
            b"Host: site.example:8080\r\n"
            b"User-Agent: mannerly-test/1 (+https://example.org/)\r\n"
            b"From: crawl@example.org\r\n"
            b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
            b"Accept-Encoding: gzip, deflate, br, zstd\r\n"
            b"Connection: keep-alive\r\n\r\n"
        ]


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/",
        "http://site.example.evil/",
        "http://site.example",
        "http://site.example/a b",
        "http://site.example/\r\nX: y",
        "http://site.example/\u00e9",
    ],
)
async def test_url_that_is_not_canonical_or_elsewhere_is_our_mistake(url: str) -> None:
    with pytest.raises(UrlError):
        await fetch(guarded(NoResolver()).open(SITE), url)


@pytest.mark.parametrize("origin", ["ftp://a", "http://", "http://a:x", "a.example", "http://a b"])
def test_origin_that_cannot_be_fetched_is_our_mistake(origin: str) -> None:
    with pytest.raises(UrlError):
        guarded(NoResolver()).open(origin)


def test_settings_that_would_break_the_request_are_refused() -> None:
    with pytest.raises(ConfigError, match="User-Agent"):
        HttpTransport(clock=clock, user_agent="a\r\nX: y", contact="", resolver=NoResolver())
    with pytest.raises(ConfigError, match="not an IP address"):
        HttpTransport(
            clock=clock,
            user_agent="a",
            contact="",
            resolver=NoResolver(),
            connect_to=("localhost", 80),
        )


# One connection -------------------------------------------------------------------------------


async def test_robots_and_page_share_a_connection() -> None:
    async with serving(OK) as server, transport_to(server.port) as transport:
        channel = transport.open(SITE)
        first = await fetch(channel, f"{SITE}/robots.txt")
        second = await fetch(channel)
        assert (first.reused, second.reused) == (False, True)
        assert server.connections == transport.open_connections == 1


async def test_connection_closed_in_silence_is_opened_anew() -> None:
    """C09-KEEPALIVE-THEN-SILENT-CLOSE, noticed before the request is written."""
    closing: Script = [*OK, End.CLOSE]
    async with serving(closing) as server, transport_to(server.port) as transport:
        channel = transport.open(SITE)
        for _ in range(3):
            fetched = await fetch(channel)
            assert fetched.failure is None
            assert fetched.body == b"ok"
            await server.all_gone()
        assert len(server.requests) == server.connections == 3


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET])
async def test_connection_closed_on_the_second_request_is_opened_anew_once(end: End) -> None:
    """C09-KEEPALIVE-THEN-SILENT-CLOSE, noticed only by the answer that does not come."""
    async with serving(OK, [end], OK) as server, transport_to(server.port) as transport:
        channel = transport.open(SITE)
        await fetch(channel)
        again = await fetch(channel)
        assert (again.failure, again.body, again.reused) == (None, b"ok", False)
        assert (server.connections, len(server.requests)) == (2, 3)
    async with serving(OK, [end]) as server, transport_to(server.port) as transport:
        channel = transport.open(SITE)
        await fetch(channel)
        again = await fetch(channel)
        assert again.failure is Outcome.BROKEN
        assert (server.connections, len(server.requests)) == (2, 3)


async def test_answer_that_broke_after_its_first_byte_is_not_asked_for_again() -> None:
    async with serving(OK, [b"H", Pause(0.02), End.CLOSE]) as server:
        async with transport_to(server.port) as transport:
            channel = transport.open(SITE)
            await fetch(channel)
            assert (await fetch(channel)).failure is Outcome.BROKEN
        assert len(server.requests) == 2


async def test_bytes_that_come_between_requests_are_nobodys_answer() -> None:
    """C10-PIPELINED-SECOND-RESPONSE, late: still in the kernel when the next request is due."""
    good = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def answer(listener: socket.socket) -> socket.socket:
        accepted, _ = listener.accept()
        accepted.recv(10_000)
        accepted.send(good)
        return accepted

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        async with transport_to(listener.getsockname()[1]) as transport:
            channel = transport.open(SITE)
            first, accepted = await asyncio.gather(
                fetch(channel), asyncio.to_thread(answer, listener)
            )
            another = asyncio.create_task(asyncio.to_thread(answer, listener))
            await asyncio.sleep(0)
            # From here to the check inside `get` the event loop does not turn, so it cannot read.
            accepted.send(good.replace(b"ok", b"NO"))
            second = await fetch(channel)
            (await another).close()
            accepted.close()
    assert (first.body, second.body, second.reused) == (b"ok", b"ok", False)


# Time -----------------------------------------------------------------------------------------


async def test_request_is_not_written_after_start_by() -> None:
    async with serving(OK) as server, transport_to(server.port) as transport:
        channel = transport.open(SITE)
        now = clock.now()
        fetched = await channel.get(
            f"{SITE}/", deadline_at=now + 5, start_by_at=now - 0.001, body_limit=10
        )
        assert fetched.failure is Outcome.NOT_SENT
        assert fetched.started_at == 0
        assert server.requests == []


async def test_start_by_is_checked_after_connecting() -> None:
    """The name takes 0.2 s to resolve; by then it is too late."""

    class Slow:
        async def resolve(self, host: str) -> Resolved:
            await asyncio.sleep(0.2)
            return Resolved(("127.0.0.1",))

    async with serving(OK) as server:
        transport = HttpTransport(
            clock=clock,
            user_agent="t",
            contact="",
            resolver=Slow(),
            allow_private=True,
            ports=frozenset({server.port}),
        )
        origin = f"http://site.example:{server.port}"
        now = clock.now()
        fetched = await transport.open(origin).get(
            f"{origin}/", deadline_at=now + 5, start_by_at=now + 0.1, body_limit=10
        )
        assert fetched.failure is Outcome.NOT_SENT
        assert fetched.address == "127.0.0.1"
        assert server.requests == []
        await transport.aclose()


async def test_slow_resolver_counts_against_the_deadline() -> None:
    class Never:
        async def resolve(self, host: str) -> Resolved:
            await asyncio.Event().wait()
            raise AssertionError

    transport = HttpTransport(clock=clock, user_agent="t", contact="", resolver=Never())
    begun_at = clock.now()
    fetched = await fetch(transport.open(SITE), within_s=0.1)
    assert (fetched.failure, fetched.detail) == (Outcome.TIMED_OUT, "not connected")
    assert clock.now() - begun_at < 1


async def test_deadline_in_the_past_opens_nothing() -> None:
    async with serving(OK) as server, transport_to(server.port) as transport:
        assert (await fetch(transport.open(SITE), within_s=-1)).failure is Outcome.TIMED_OUT
        assert server.connections == transport.open_connections == 0


# Letting go -----------------------------------------------------------------------------------


async def test_cancelled_get_closes_its_socket() -> None:
    async with serving([End.HOLD]) as server, transport_to(server.port) as transport:
        task = asyncio.create_task(fetch(transport.open(SITE)))
        await server.requested(1)
        assert transport.open_connections == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.all_gone()
        assert transport.open_connections == 0


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_request_that_is_given_up_is_taken_back(run: Callable[..., None]) -> None:
    """The server sees a reset, not an end: the kernel delivers nothing of it later either."""

    def asked(listener: socket.socket) -> socket.socket:
        connection, _ = listener.accept()
        assert connection.recv(10_000).startswith(b"GET / ")
        return connection

    async def give_up(listener: socket.socket) -> None:
        async with transport_to(listener.getsockname()[1]) as transport:
            asking = asyncio.create_task(fetch(transport.open(SITE)))
            connection = await asyncio.to_thread(asked, listener)
            asking.cancel()
            await asyncio.wait([asking])
        with connection, pytest.raises(ConnectionResetError):
            connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        run(give_up(listener))


async def test_aclose_ends_what_is_under_way() -> None:
    async with serving([End.HOLD]) as server, transport_to(server.port) as transport:
        tasks = [asyncio.create_task(fetch(transport.open(SITE))) for _ in range(20)]
        await server.requested(20)
        await transport.aclose()
        assert {(await task).failure for task in tasks} == {Outcome.BROKEN}
        assert transport.open_connections == 0
        assert (await fetch(transport.open(SITE))).failure is Outcome.BROKEN


def test_a_time_out_in_the_moment_of_connecting_leaves_nothing_open() -> None:
    """As after a pause of the whole process: the sockets are connected and the time is up, both
    seen at once. uvloop closes such a socket without telling anybody."""

    async def visit(port: int) -> None:
        async with transport_to(port) as transport:
            for _ in range(20):
                late = [
                    asyncio.create_task(fetch(transport.open(SITE), within_s=0.02))
                    for _ in range(5)
                ]
                await asyncio.sleep(0)
                time.sleep(0.03)  # noqa: ASYNC251 - the pause is what this is about
                for fetched in await asyncio.gather(*late):
                    assert fetched.failure is Outcome.TIMED_OUT
            assert transport.open_connections == 0

    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        uvloop.run(asyncio.wait_for(visit(silent.getsockname()[1]), 20))


async def test_memory_of_a_response_is_freed_without_the_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parser refers to its reader and back; a forgotten cycle would keep every body."""
    readers: list[weakref.ref[ResponseReader]] = []

    class Watched(ResponseReader):
        __slots__ = ("__weakref__",)

        def __init__(self, *, header_limit: int, body_limit: int) -> None:
            super().__init__(header_limit=header_limit, body_limit=body_limit)
            readers.append(weakref.ref(self))

    monkeypatch.setattr("mannerly.fetch.http.ResponseReader", Watched)
    odd: Script = [b"HTTP/1.1 200 OK\r\nodd\r\n\r\n", End.HOLD]
    junk: Script = [b"junk", End.HOLD]
    scripts: list[Script] = [OK, [End.CLOSE], [End.RESET], [End.HOLD], odd, junk]
    gc.disable()
    try:
        for script in scripts:
            async with serving(script) as server, transport_to(server.port) as transport:
                await fetch(transport.open(SITE), within_s=0.1)
    finally:
        gc.enable()
    assert len(readers) == 6
    assert [reader() for reader in readers] == [None] * 6


# Addresses ------------------------------------------------------------------------------------


async def test_private_address_of_a_name_is_refused_and_never_connected_to() -> None:
    async with serving(OK) as server:
        names = Table(site_example=Resolved(("127.0.0.1", "10.0.0.1", "::1")))
        transport = guarded(names, port=server.port)
        origin = f"http://site.example:{server.port}"
        fetched = await fetch(transport.open(origin), f"{origin}/")
        assert fetched.failure is Outcome.ADDRESS_REFUSED
        assert "127.0.0.1 is loopback" in fetched.detail
        assert server.connections == 0


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "017700000001", "127.1",
     "127.0.0.1.", "0x7f.0.0.0x1", "[fe80::1%25eth0]", "[::1", "1.2.3.4.5", "foo.0x"],
)  # fmt: skip
async def test_address_as_host_is_judged_and_never_looked_up(host: str) -> None:
    async with serving(OK) as server:
        transport = guarded(NoResolver(), port=server.port)
        origin = f"http://{host}:{server.port}"
        fetched = await fetch(transport.open(origin), f"{origin}/")
        assert fetched.failure is Outcome.ADDRESS_REFUSED
        assert server.connections == 0


class RecordingLoop(asyncio.SelectorEventLoop):
    """Notes where a connection would go, and goes nowhere: no test may leave the machine."""

    def __init__(self, code: int = errno.ECONNREFUSED) -> None:
        super().__init__()
        self._code = code
        self.connected_to: list[tuple[object, object]] = []

    async def create_connection(self, *args: Any, **_: Any) -> Any:
        self.connected_to.append((args[1], args[2]))
        raise OSError(self._code, "as told")


def test_only_judged_literals_reach_connect_and_rebinding_changes_nothing() -> None:
    """A name that was public when first asked for and is private now: each connection is judged
    by the address it will use, and the name itself never gets as far."""
    names = Table(site_example=Resolved(("127.0.0.1", "93.184.216.34", "2606:4700::1111")))
    loop = RecordingLoop()

    async def visit() -> list[Outcome | None]:
        channel = guarded(names).open(SITE)
        first = await fetch(channel)
        names.names["site.example"] = Resolved(("169.254.169.254",))
        return [first.failure, (await fetch(channel)).failure]

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        outcomes = runner.run(visit())
    assert outcomes == [Outcome.CONNECT_FAILED, Outcome.ADDRESS_REFUSED]
    assert loop.connected_to == [("93.184.216.34", 80), ("2606:4700::1111", 80)]


def test_lack_of_descriptors_is_our_error_and_no_outcome_of_the_site() -> None:
    names = Table(site_example=Resolved(("93.184.216.34",)))
    with (
        asyncio.Runner(loop_factory=lambda: RecordingLoop(errno.EMFILE)) as runner,
        pytest.raises(MannerlyError, match="out of file descriptors"),
    ):
        runner.run(fetch(guarded(names).open(SITE)))


def test_many_addresses_are_not_all_tried() -> None:
    names = Table(site_example=Resolved(tuple(f"93.184.216.{i}" for i in range(100))))
    loop = RecordingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(fetch(guarded(names).open(SITE))).failure is Outcome.CONNECT_FAILED
    assert len(loop.connected_to) == 4


async def test_next_address_is_tried_and_refused_ones_are_passed_over() -> None:
    async with serving(OK) as server:
        # Nothing listens on 127.0.0.2 and 127.0.0.3 at that port.
        names = Table(site_example=Resolved(("127.0.0.2", "127.0.0.3", "127.0.0.1")))
        transport = guarded(names, allow_private=True, port=server.port)
        origin = f"http://site.example:{server.port}"
        channel = transport.open(origin)
        fetched = await fetch(channel, f"{origin}/")
        assert (fetched.failure, fetched.address) == (None, "127.0.0.1")
        assert names.asked == ["site.example"]
        channel.close()
        await transport.aclose()


async def test_refused_connection_names_the_address() -> None:
    names = Table(site_example=Resolved(("127.0.0.2",)))
    fetched = await fetch(guarded(names, allow_private=True).open(SITE))
    assert fetched.failure is Outcome.CONNECT_FAILED
    assert fetched.detail == "127.0.0.2: Connection refused"


async def test_port_outside_the_list_is_refused_before_dns() -> None:
    fetched = await fetch(guarded(NoResolver()).open(f"{SITE}:22"), f"{SITE}:22/")
    assert fetched.failure is Outcome.ADDRESS_REFUSED
    assert fetched.detail == "port 22 is not allowed"


@pytest.mark.parametrize("failure", [Outcome.NO_SUCH_NAME, Outcome.DNS_TROUBLE])
async def test_what_dns_says_is_the_outcome(failure: Outcome) -> None:
    names = Table(site_example=Resolved((), failure, "words"))
    fetched = await fetch(guarded(names).open(SITE))
    assert (fetched.failure, fetched.detail) == (failure, "words")


# TLS ------------------------------------------------------------------------------------------


async def test_tls_facts_reuse_and_server_name(tmp_path: Path) -> None:
    context = self_signed(tmp_path, "other.example")
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    async with serving(OK, tls=context) as server, transport_to(server.port) as transport:
        channel = transport.open("https://site.example")
        first = await fetch(channel, "https://site.example/")
        second = await fetch(channel, "https://site.example/2")
        assert first.tls == second.tls
        assert first.tls is not None
        assert first.tls.version == "TLSv1.3"
        assert first.tls.cipher
        assert (first.tls.verified, first.tls.problem) == (False, "not checked")
        assert (second.body, second.reused) == (b"ok", True)
        assert names == ["site.example"]


async def test_certificate_is_checked_on_demand(tmp_path: Path) -> None:
    context = self_signed(tmp_path, "site.example")
    async with (
        serving(OK, tls=context) as server,
        transport_to(server.port, verify_tls=True) as transport,
    ):
        fetched = await fetch(transport.open("https://site.example"), "https://site.example/")
    assert fetched.failure is Outcome.TLS_FAILED
    assert "self-signed certificate" in fetched.detail
    assert server.requests == []


async def test_body_to_the_end_of_a_tls_connection_without_farewell(tmp_path: Path) -> None:
    """Many servers just close. It is the end of the body, as without TLS."""
    context = self_signed(tmp_path, "site.example")
    to_eof: Script = [b"HTTP/1.1 200 OK\r\n\r\nall of it", Pause(0.02), End.CLOSE]
    async with serving(to_eof, tls=context) as server, transport_to(server.port) as transport:
        fetched = await fetch(transport.open("https://site.example"), "https://site.example/")
        assert (fetched.failure, fetched.body) == (None, b"all of it")


@pytest.mark.parametrize(
    "greeting", [[b"HTTP/1.1 400 Bad Request\r\n\r\n", End.CLOSE], [End.CLOSE], [End.RESET]]
)
async def test_failed_handshake(greeting: Script) -> None:
    async with serving(OK, greeting=greeting) as server, transport_to(server.port) as transport:
        fetched = await fetch(transport.open("https://site.example"), "https://site.example/")
        assert fetched.failure is Outcome.TLS_FAILED
        assert fetched.detail.startswith("127.0.0.1: ")


async def test_handshake_that_never_ends_is_late() -> None:
    async with serving(OK, greeting=[End.HOLD]) as server, transport_to(server.port) as transport:
        channel = transport.open("https://site.example")
        fetched = await fetch(channel, "https://site.example/", within_s=0.2)
        assert fetched.failure is Outcome.TIMED_OUT
        await server.all_gone()


async def test_tls_1_2_and_a_host_with_its_final_dot(tmp_path: Path) -> None:
    context = self_signed(tmp_path, "site.example")
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    async with serving(OK, tls=context) as server, transport_to(server.port) as transport:
        fetched = await fetch(transport.open("https://site.example."), "https://site.example./")
        assert fetched.failure is None
        assert fetched.tls is not None
        assert fetched.tls.version == "TLSv1.2"


@pytest.mark.parametrize("host", ["a..example", "x" * 64 + ".example"])
async def test_name_that_tls_cannot_carry(host: str, tmp_path: Path) -> None:
    context = self_signed(tmp_path, "site.example")
    async with serving(OK, tls=context) as server, transport_to(server.port) as transport:
        fetched = await fetch(transport.open(f"https://{host}"), f"https://{host}/")
        assert fetched.failure is Outcome.TLS_FAILED
