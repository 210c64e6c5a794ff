"""A server that misbehaves by script, one script per request."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import cast

from mannerly.clock import SystemClock
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpTransport
from tests.hostile.script import Script, play


@dataclass
class ScriptedServer:
    scripts: list[Script]
    """One per request, over all connections; the last one stays."""
    greeting: Script = field(default_factory=list)
    """Played when a connection is made, before anything is read."""
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    sent_bytes: int = 0
    _handlers: set[asyncio.Task[None]] = field(default_factory=set)
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def requested(self, count: int) -> None:
        """So many requests have come."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.requests) >= count)

    async def all_gone(self) -> None:
        """Every client has closed its connections."""
        if self._handlers:
            _, late = await asyncio.wait(self._handlers, timeout=5)
            assert not late, "a connection was left open"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._handlers.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await self._converse(reader, writer)
        finally:
            writer.transport.abort()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()
            self._handlers.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not await self._play(self.greeting, reader, writer):
            return
        while True:
            try:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            except asyncio.IncompleteReadError:
                return
            async with self._came:
                self._came.notify_all()
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            if not await self._play(script, reader, writer):
                return

    async def _play(
        self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        return await play(script, reader, writer, self._count)

    def _count(self, sent: int) -> None:
        self.sent_bytes += sent


@contextlib.asynccontextmanager
async def serving(
    *scripts: Script, greeting: Script | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedServer]:
    """A server on a free port of the loopback. On leaving, every connection must be closed."""
    scripted = ScriptedServer(list(scripts), greeting or [])
    server = await asyncio.start_server(scripted.handle, "127.0.0.1", 0, ssl=tls)
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield scripted
        await scripted.all_gone()
    finally:
        server.close()


class NoResolver:
    """For tests in which no name may be looked up."""

    async def resolve(self, host: str) -> Resolved:
        raise AssertionError(f"{host} was looked up")


@contextlib.asynccontextmanager
async def transport_to(
    port: int, *, verify_tls: bool = False, header_limit: int = 64 * 1024
) -> AsyncIterator[HttpTransport]:
    """A transport that takes everything to the loopback; closed, and found empty, on leaving."""
    transport = HttpTransport(
        clock=SystemClock(),
        user_agent="mannerly-test/1 (+https://example.org/)",
        contact="crawl@example.org",
        resolver=NoResolver(),
        connect_to=("127.0.0.1", port),
        verify_tls=verify_tls,
        header_limit=header_limit,
    )
    try:
        yield transport
    finally:
        await transport.aclose()
        assert transport.open_connections == 0
