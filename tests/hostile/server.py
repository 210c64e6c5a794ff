"""One server for all sites, hostile and ordinary, http and https on one port; its own process.

    python -m tests.hostile.server LOG

prints its port, and writes a line of JSON to LOG for each request when it comes and for each
connection when it is over. The host decides what is played: of TLS clients it is known from their
first message, of the others from their request.
"""

import asyncio
import contextlib
import json
import os
import signal
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TextIO

import uvloop

from tests.hostile import catalogue, ordinary, sitemaps
from tests.hostile.script import play
from tests.hostile.site import NO_ROBOTS, Site
from tests.unit.fetch.certificates import self_signed

TLS_HANDSHAKE = 0x16
GONE = (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError)


class Server:
    def __init__(self, log: TextIO) -> None:
        self._log = log
        everything = [*ordinary.sites(), *catalogue.sites(), *sitemaps.sites()]
        self._sites = {site.host: site for site in everything}
        self._secure = {h: s for h, s in self._sites.items() if s.scheme == "https"}
        self._inner_ports: dict[str, int] = {}

    async def start(self, folder: Path) -> int:
        """Listen; each site that really speaks TLS does so behind a port of its own."""
        for host, site in self._secure.items():
            if not site.hello:
                inner = await _listen(self._conversation(site), self_signed(folder, host))
                self._inner_ports[host] = inner
        return await _listen(self._receive)

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(1)
        if first[0] != TLS_HANDSHAKE:
            await self._converse(None, first, reader, writer)
            return
        hello = first + await reader.read(8192)
        host = next((host for host in self._secure if host.encode() in hello), "")
        if host in self._inner_ports:
            await _relay(hello, reader, writer, self._inner_ports[host])
        elif host:
            connection = Connection(self._log, host)
            try:
                await play(self._sites[host].hello, reader, writer, connection.count)
            finally:
                connection.over()

    def _site_of(self, host: str) -> Site | None:
        """A site may have any number of subdomains."""
        return self._sites.get(host) or self._sites.get(".".join(host.split(".")[-2:]))

    def _conversation(
        self, site: Site
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        return lambda reader, writer: self._converse(site, b"", reader, writer)

    async def _converse(
        self,
        site: Site | None,
        first: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        connection = Connection(self._log, site.host if site else "")
        try:
            if site and not await play(site.greeting, reader, writer, connection.count):
                return
            while True:
                head = first + await reader.readuntil(b"\r\n\r\n")
                first = b""
                host, path = connection.request(head)
                asked = site or self._site_of(host)
                script = asked.answer(path) if asked else NO_ROBOTS
                if not await play(script, reader, writer, connection.count):
                    return
        finally:
            connection.over()


class Connection:
    """What the log tells of a connection."""

    def __init__(self, log: TextIO, host: str) -> None:
        self._log = log
        self._host = host
        self._began_at = time.monotonic()
        self._sent = 0

    def count(self, sent: int) -> None:
        self._sent += sent

    def request(self, head: bytes) -> tuple[str, str]:
        lines = head.decode("latin-1").lower().split("\r\n")
        path = head.decode("latin-1").split(" ")[1]
        self._host = next(line[6:].strip() for line in lines if line.startswith("host:"))
        cookie = any(line.startswith("cookie") for line in lines)
        self._write(kind="request", at=time.monotonic(), path=path, cookie=cookie)
        return self._host, path

    def over(self) -> None:
        open_s = time.monotonic() - self._began_at
        self._write(kind="connection", open_s=open_s, sent=self._sent)

    def _write(self, **fields: object) -> None:
        self._log.write(json.dumps({"host": self._host, **fields}) + "\n")


async def _relay(
    hello: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
) -> None:
    """Carry bytes to and from a port of ours until one side is gone."""
    inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(*GONE):
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        target.transport.abort()

    inner_writer.write(hello)
    await asyncio.gather(carry(reader, inner_writer), carry(inner_reader, writer))


async def _listen(
    converse: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    tls: ssl.SSLContext | None = None,
) -> int:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(*GONE):
                await converse(reader, writer)
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls, backlog=1024)
    _LISTENING.append(server)
    port: int = server.sockets[0].getsockname()[1]
    return port


_LISTENING: list[asyncio.Server] = []
"""A server that nobody holds is closed."""


async def serve(log: TextIO) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    with tempfile.TemporaryDirectory() as folder:
        port = await Server(log).start(Path(folder))
    print(port, flush=True)
    await stop.wait()
    # Scripts that never end would be cancelled one by one, each with a complaint.
    log.flush()
    os._exit(0)


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", buffering=1) as log_file:
        uvloop.run(serve(log_file))
