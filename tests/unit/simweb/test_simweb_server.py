"""The real server, over real sockets: what the web says is what a client gets."""

import asyncio
import gzip
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mannerly.simweb import AccessRecord, Answer, Behaviour, Kind, Web, preset
from mannerly.simweb.access import read_log
from mannerly.simweb.requests import parse
from mannerly.simweb.serve import listen
from mannerly.simweb.server import Attempts, Server
from mannerly.simweb.web import split

SPEC = preset("hostile", seed=7, sites=150, pages_mean=20, pages_max=400, latency_s=0, slow_sites=0)
WEB = Web(SPEC)
PAGES = [
    url
    for index in range(150)
    for url in WEB.pages.urls(WEB.site(index), range(WEB.site(index).pages))
]


def page_where(test: Callable[[Answer], bool], scheme: str = "http") -> str:
    return next(url for url in PAGES if url.startswith(scheme + ":") and test(WEB.answer(url)))


@dataclass
class MemoryLog:
    records: list[AccessRecord] = field(default_factory=list)
    appended: asyncio.Event = field(default_factory=asyncio.Event)

    def append(self, record: AccessRecord) -> None:
        self.records.append(record)
        self.appended.set()

    def flush(self) -> None:
        pass

    async def next(self) -> AccessRecord:
        """The latest record, once there is one that was not waited for yet."""
        async with asyncio.timeout(5):
            await self.appended.wait()
        self.appended.clear()
        return self.records[-1]


@asynccontextmanager
async def serving(web: Web = WEB) -> AsyncIterator[tuple[int, MemoryLog]]:
    log = MemoryLog()
    (listening,) = listen("127.0.0.1", 0, 1)
    server = Server(web, log, Attempts())
    await server.start(listening)
    try:
        yield listening.getsockname()[1], log
    finally:
        await server.aclose()


class Client:
    """A connection that reads exactly one response at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, port: int, url: str) -> "Client":
        scheme, host, _ = split(url)
        context = None
        if scheme == "https":
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        name = host if context else None
        return cls(
            *await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
        )

    def ask(self, url: str, *headers: str) -> None:
        _, host, path = split(url)
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "User-Agent: tester", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode())

    async def get(self, url: str, *headers: str) -> tuple[int, dict[str, str], bytes]:
        self.ask(url, *headers)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:-2])
        if fields.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(int(fields["Content-Length"]))
        return int(head[0].split(" ")[1]), fields, body

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError, ssl.SSLError):  # the server may have been first
            await self.writer.wait_closed()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_both_schemes_on_one_port_give_the_bytes_of_the_web(scheme: str) -> None:
    urls = [
        page_where(lambda a: a.kind is Kind.PAGE and a.keep_alive and not a.chunked, scheme),
        page_where(lambda a: a.kind is Kind.PAGE and a.keep_alive and a.chunked, scheme),
    ]
    async with serving() as (port, log):
        for url in urls:
            client = await Client.to(port, url)
            answer = WEB.answer(url)
            status, fields, body = await client.get(url)
            assert (status, body) == (200, answer.body)
            assert "Content-Encoding" not in fields
            status, fields, body = await client.get(url, "Accept-Encoding: br, gzip")
            assert fields["Content-Encoding"] == "gzip"
            assert gzip.decompress(body) == answer.body
            await client.close()
            first, second = log.records[-2:]
            assert first.connection == second.connection
            assert first.url == url
            assert first.user_agent == "tester"
            assert first.arrived <= first.start <= first.end <= second.start
            assert first.bytes > len(answer.body)
            assert (first.status, first.sent_whole) == (200, True)


async def test_requests_that_were_sent_ahead_are_answered_in_turn() -> None:
    url = page_where(lambda a: a.kind is Kind.PAGE and a.keep_alive and not a.chunked)
    async with serving() as (port, log):
        client = await Client.to(port, url)
        client.ask(url)
        client.ask(url + "-not")
        await client.reader.readuntil(b"\r\n\r\n")
        await client.reader.readexactly(len(WEB.answer(url).body))
        assert b" 404 " in await client.reader.readuntil(b"\r\n\r\n")
        await client.close()
        assert [record.status for record in log.records] == [200, 404]


async def test_every_kind_of_answer_is_served_as_the_web_says() -> None:
    seen = set()
    async with serving() as (port, _):
        for url in PAGES:
            answer = WEB.answer(url)
            form = (answer.kind, answer.status, answer.content_type)
            if answer.behaviour is not Behaviour.WHOLE or form in seen or answer.kind is Kind.BUSY:
                continue
            seen.add(form)
            client = await Client.to(port, url)
            status, fields, body = await client.get(url)
            assert (status, body) == (answer.status, answer.body)
            assert fields["Content-Type"] == answer.content_type
            if answer.location:
                assert answer.location.endswith(fields["Location"])
            assert ("Connection" in fields) == (not answer.keep_alive)
            await client.close()
    assert len(seen) > 25


async def test_busy_pages_answer_in_the_end() -> None:
    url = page_where(lambda a: a.kind is Kind.BUSY)
    async with serving() as (port, _):
        statuses = []
        for _ in range(4):
            client = await Client.to(port, url)
            status, fields, _ = await client.get(url)
            assert (status == 200) or "Retry-After" in fields
            statuses.append(status)
            await client.close()
    assert statuses[0] in {429, 503}
    assert statuses[-1] == 200


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", [Kind.CUT, Kind.CLOSED])
async def test_sites_that_close(kind: Kind, scheme: str) -> None:
    url = page_where(lambda a: a.kind is kind, scheme)
    async with serving() as (port, log):
        client = await Client.to(port, url)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)) as caught:
            await client.get(url)
        record = await log.next()
        assert not record.sent_whole
        if kind is Kind.CUT and isinstance(caught.value, asyncio.IncompleteReadError):
            assert 0 < len(caught.value.partial) < len(WEB.answer(url).body)
        await client.close()


@pytest.mark.parametrize("kind", [Kind.STALLED, Kind.STOPPED])
async def test_sites_that_stall_until_the_client_gives_up(kind: Kind) -> None:
    url = page_where(lambda a: a.kind is kind)
    async with serving() as (port, log):
        client = await Client.to(port, url)
        client.ask(url)
        if kind is Kind.STOPPED:
            await client.reader.readuntil(b"\r\n\r\n")
            await client.reader.readexactly(len(WEB.answer(url).body) // 2)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.reader.readexactly(1)
        assert log.records == []
        await client.close()
        record = await log.next()
        assert not record.sent_whole
        assert record.end - record.start >= 0.19  # timers may be early by their resolution


async def test_a_site_without_tls_refuses_the_handshake() -> None:
    site = next(WEB.site(index) for index in range(150) if WEB.site(index).scheme == "http")
    async with serving() as (port, log):
        with pytest.raises(ssl.SSLError):
            await Client.to(port, f"https://{site.host}/")
        assert log.records == []


async def test_the_end_is_when_the_kernel_has_the_last_byte() -> None:
    web = Web(preset("plain", sites=1, https=0, body_mean=30_000_000, body_max=30_000_000))
    url = web.home(0)
    size = len(web.answer(url).body)
    async with serving(web) as (port, log):
        client = await Client.to(port, url)
        client.ask(url)
        await client.reader.readuntil(b"\r\n\r\n")
        assert log.records == []  # 30 MB do not fit into the kernel's buffers
        await client.reader.readexactly(size)
        record = await log.next()
        assert record.sent_whole
        assert record.bytes > size
        await client.close()

        client = await Client.to(port, url)
        client.ask(url)
        await client.reader.readuntil(b"\r\n\r\n")
        client.writer.transport.abort()
        record = await log.next()
        assert (record.status, record.sent_whole) == (200, False)


async def test_latency_is_waited_for() -> None:
    web = Web(preset("plain", sites=20, https=0, latency_s=0.2))
    url = next(web.home(at) for at in range(20) if web.answer(web.home(at)).latency_s > 0.1)
    async with serving(web) as (port, log):
        client = await Client.to(port, url)
        await client.get(url)
        await client.close()
    (record,) = log.records
    assert record.end - record.start >= web.answer(url).latency_s


async def test_what_is_not_http_is_refused() -> None:
    async with serving() as (port, _):
        for data in (
            b"hello\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01garbage",
            b"x" * 70_000,
        ):
            client = await Client.to(port, "http://a.test/")
            client.writer.write(data)
            async with asyncio.timeout(5):
                try:
                    answer = await client.reader.read()
                except ConnectionError:
                    answer = b""
            assert b"200" not in answer
            await client.close()


def test_requests_are_read() -> None:
    request = parse(b"GET /a?b HTTP/1.1\r\nHOST:  A.Test:8080\r\nAccept-Encoding: gzip")
    assert request is not None
    assert (request.target, request.host, request.gzip) == ("/a?b", "a.test", True)
    assert request.keep_alive
    old = parse(b"GET / HTTP/1.0\r\nHost: a")
    assert old is not None
    assert not old.keep_alive
    assert parse(b"GET / HTTP/2\r\nHost: a") is None


COMMAND = [sys.executable, "-c", "from mannerly.cli.simweb import simweb; simweb()"]


@contextmanager
def started(*options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The server as a process of its own, and its port. Killed at the end if it still runs."""
    command = [*COMMAND, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            assert ready.startswith("simweb ready on 127.0.0.1:")
            yield server, int(ready.split(":")[1].split(" ")[0])
        finally:
            server.kill()


@pytest.mark.parametrize("processes", [1, 2])
def test_the_command_serves_logs_and_ends(processes: int, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    options = ["--seed", "3", "--sites", "50", "--preset", "plain"]
    seeds = subprocess.run(
        [*COMMAND, "seeds", *options, "--count", "20"], capture_output=True, text=True, check=True
    ).stdout.split()
    web = Web(preset("plain", seed=3, sites=50))
    assert seeds == [web.home(index) for index in range(20)]
    options += ["--processes", str(processes), "--access-log", str(log)]

    async def visit_all(port: int) -> None:
        for url in seeds:
            client = await Client.to(port, url)
            status, _, body = await client.get(url)
            assert (status, body) == (200, web.answer(url).body)
            await client.close()

    with started(*options) as (server, port):
        started_at = time.time()
        asyncio.run(visit_all(port))
        while len(list(read_log(log))) < len(seeds):
            assert time.time() - started_at < 10, "the log is flushed while the server runs"
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=10)
        assert server.returncode == 0
    records = list(read_log(log))
    assert [record.url for record in records] == seeds
    assert len({record.connection.split("-")[0] for record in records}) <= processes
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


def test_children_do_not_outlive_a_killed_server() -> None:
    with started("--processes", "3", "--sites", "5") as (server, port):
        os.kill(server.pid, signal.SIGKILL)
        # The children hold the pipe too: it ends when the last of them is gone.
        server.communicate(timeout=10)
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0
