"""The dashboard's server over real sockets: what is sent to it is bounded and answered."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import pytest

from mannerly.dashboard.http import MOST_CONNECTIONS, Answer, HttpServer, Request, plain


async def echo(request: Request) -> Answer:
    if request.path == "/stream":
        return Answer(HTTPStatus.OK, "text/plain", numbers())
    text = f"{request.method} {request.path} {sorted(request.query.items())} {len(request.body)}"
    return plain(HTTPStatus.OK, text)


async def numbers() -> AsyncIterator[bytes]:
    for number in range(3):
        yield f"{number}\n".encode()


async def talk(*pieces: bytes) -> bytes:
    """Send these to a server of our own; all that it answers."""
    server = HttpServer(echo)
    port = await server.listen("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()
        await server.aclose(1.0)


async def test_two_requests_on_one_connection() -> None:
    server = HttpServer(echo)
    port = await server.listen("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for word in (b"one", b"two"):
        writer.write(b"GET /%b?x=1&y=%%C3%%A4 HTTP/1.1\r\nHost: h\r\n\r\n" % word)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"GET /%b [('x', '1'), ('y', '\xc3\xa4')] 0" % word in await reader.readline()
    writer.close()
    await server.aclose(1.0)


async def test_a_body_in_pieces() -> None:
    head = b"POST /seeds HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 10\r\n\r\n"
    assert b"POST /seeds [] 10" in await talk(head[:30], head[30:], b"12345", b"67890")


async def test_a_stream_ends_with_its_connection() -> None:
    answer = await talk(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n0\n1\n2\n")


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([b"this is not HTTP\r\n\r\n"], b"400"),
        ([b"GET /" + 40_000 * b"x" + b" HTTP/1.1\r\nHost: h\r\n\r\n"], b"413"),
        ([b"GET / HTTP/1.1\r\n" + 3000 * b"X-Header: some value\r\n"], b"413"),
        ([b"POST / HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n", 2_000_000 * b"x"], b"413"),
        ([2 * b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"], b"413"),
    ],
)
async def test_what_is_too_large_or_no_http_is_answered_and_closed(
    pieces: list[bytes], status: bytes
) -> None:
    try:
        answer = await talk(*pieces)
    except ConnectionError:
        return  # it was closed while we were still sending, which is as good
    assert answer.split(b" ")[1] == status


async def test_connections_are_bounded() -> None:
    server = HttpServer(echo)
    port = await server.listen("127.0.0.1", 0)
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS + 1)]
    async with asyncio.timeout(10):
        assert await opened[-1][0].read() == b""
    opened[0][1].write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (await opened[0][0].readline()).startswith(b"HTTP/1.1 200")
    for _, writer in opened:
        writer.close()
    await server.aclose(1.0)
