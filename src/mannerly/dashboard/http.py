"""As much of an HTTP server as a dashboard needs: requests of bounded size, answers in one piece or
as a stream of lines, connections kept open for a while. On httptools and asyncio, which are here
anyway; a framework would be larger than everything that it serves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, unquote

import httptools

MOST_HEADER_BYTES = 32 * 1024
MOST_BODY_BYTES = 1024 * 1024
MOST_CONNECTIONS = 64
IDLE_S = 75.0


@dataclass(slots=True)
class Request:
    method: str = ""
    path: str = ""
    query: dict[str, str] = field(default_factory=dict)
    """The last value of each name."""
    headers: dict[str, str] = field(default_factory=dict)
    """Names in lower case; of one that was sent twice, the last."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    status: HTTPStatus
    content_type: str
    body: bytes | AsyncIterator[bytes]
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Request], Awaitable[Answer]]


def plain(status: HTTPStatus, text: str) -> Answer:
    return Answer(status, "text/plain; charset=utf-8", f"{text}\n".encode())


class _Incoming:
    """What httptools calls while it reads one request."""

    def __init__(self) -> None:
        self.request = Request()
        self.target = b""
        self.complete = False
        self.keep_alive = True
        self.too_large = False
        self._size = 0

    @property
    def over(self) -> bool:
        """Nothing more of it is to be read."""
        return self.complete or self.too_large

    def on_url(self, part: bytes) -> None:
        # A second request behind the first is not waited for by any browser: it ends the first.
        self.too_large = self.too_large or self.complete
        self.target += part
        self._measure(len(part), MOST_HEADER_BYTES)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._measure(len(name) + len(value), MOST_HEADER_BYTES)
        self.request.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._size = 0

    def on_body(self, part: bytes) -> None:
        self._measure(len(part), MOST_BODY_BYTES)
        self.request.body += part

    def on_message_complete(self) -> None:
        self.complete = True

    def _measure(self, more: int, most: int) -> None:
        self._size += more
        self.too_large = self.too_large or self._size > most


class HttpServer:
    """Serves one handler on one address until it is closed."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, host: str, port: int) -> int:
        """The port, also where any was asked for. `OSError` if it cannot be had."""
        self._server = await asyncio.start_server(self._accept, host, port, limit=2**16)
        return int(self._server.sockets[0].getsockname()[1])

    async def aclose(self, grace_s: float) -> None:
        """Streams get a moment to say goodbye."""
        if self._server is not None:
            self._server.close()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace_s)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= MOST_CONNECTIONS:
            writer.close()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # who asked is gone, or we are: there is nobody to tell
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            incoming = await _read(reader)
            if incoming is None:
                return
            keep_alive = incoming.keep_alive
            if incoming.too_large:
                answer = plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
                keep_alive = False
            elif not incoming.complete:
                answer, keep_alive = plain(HTTPStatus.BAD_REQUEST, "not HTTP"), False
            else:
                answer = await self._handler(incoming.request)
            if not isinstance(answer.body, bytes):
                await _stream(writer, answer, answer.body)
                return
            writer.write(_head(answer, len(answer.body), keep_alive=keep_alive) + answer.body)
            await writer.drain()
            if not keep_alive:
                return


async def _read(reader: asyncio.StreamReader) -> _Incoming | None:
    """One request; None if the other side has closed."""
    incoming = _Incoming()
    parser = httptools.HttpRequestParser(incoming)
    async with asyncio.timeout(IDLE_S):
        while not incoming.over:
            data = await reader.read(2**16)
            if not data:
                return None
            try:
                parser.feed_data(data)
                if incoming.complete:
                    _finish(incoming, parser)
            except httptools.HttpParserError:
                incoming.complete = False
                return incoming
    return incoming


def _finish(incoming: _Incoming, parser: "httptools.HttpRequestParser") -> None:
    target = httptools.parse_url(incoming.target)
    request = incoming.request
    request.method = parser.get_method().decode("ascii")
    request.path = unquote((target.path or b"/").decode("latin-1"))
    found = parse_qs((target.query or b"").decode("latin-1"), keep_blank_values=True)
    request.query = {name: values[-1] for name, values in found.items()}
    incoming.keep_alive = request.headers.get("connection", "").lower() != "close"


async def _stream(
    writer: asyncio.StreamWriter, answer: Answer, pieces: AsyncIterator[bytes]
) -> None:
    """Until it ends or nobody reads it; its end is the connection's."""
    writer.write(_head(answer, None, keep_alive=False))
    async for piece in pieces:
        writer.write(piece)
        await writer.drain()


def _head(answer: Answer, length: int | None, *, keep_alive: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
        f"Content-Type: {answer.content_type}",
        f"Connection: {'keep-alive' if keep_alive else 'close'}",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
