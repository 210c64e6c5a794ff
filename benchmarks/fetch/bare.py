"""What a request costs at the least on this stack: asyncio.Protocol and httptools on uvloop, and
nothing else. No guard, no bounds, no deadline, no fence, no head that needs mending."""

import asyncio
import ssl
from typing import cast

from httptools import HttpResponseParser

from benchmarks.fetch.server import PATH

REQUEST = (
    f"GET {PATH} HTTP/1.1\r\nHost: site.example\r\nUser-Agent: bare/1\r\n"
    "Accept-Encoding: gzip\r\n\r\n"
).encode()


class Bare(asyncio.Protocol):
    """One connection; `ask` gives the body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def ask(self) -> "asyncio.Future[bytes]":
        self.body = bytearray()
        self.headers: list[tuple[bytes, bytes]] = []
        self.parser = HttpResponseParser(self)
        self.answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.transport.write(REQUEST)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, piece: bytes) -> None:
        self.body += piece

    def on_message_complete(self) -> None:
        self.answered.set_result(bytes(self.body))


async def connected(port: int, context: ssl.SSLContext | None) -> Bare:
    _, made = await asyncio.get_running_loop().create_connection(
        Bare,
        "127.0.0.1",
        port,
        ssl=context,
        server_hostname="site.example" if context else None,
    )
    return made
