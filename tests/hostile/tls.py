"""What can go wrong before, in and around TLS."""

from collections.abc import Callable

from tests.hostile.script import End, Endless, Pause, Script
from tests.hostile.site import (
    BROKEN,
    CUT,
    LATE,
    NO_ROBOTS,
    PAGE,
    TLS_FAILED,
    UNREACHABLE,
    Expected,
    Site,
    response,
)

RECORD = b"\x16\x03\x03\x40\x00"
"""The head of a handshake record of 16 KiB."""
HELLO = RECORD + b"\x02\x00\x00\x46\x03\x03"
"""A server's first message begins like this."""
SMUGGLED = response(b"<p>SMUGGLED")


def sites() -> list[Site]:
    return [
        _handshake("tls-close", [End.CLOSE], TLS_FAILED),
        _handshake("tls-reset", [End.RESET], TLS_FAILED),
        _handshake("tls-silence", [End.HOLD], UNREACHABLE),
        _handshake("tls-drip", [HELLO, Endless(b"\0", 0.05)], UNREACHABLE),
        _handshake("tls-plain", [b"HTTP/1.1 400 Bad Request\r\n\r\n", End.HOLD], TLS_FAILED),
        _handshake("tls-garbage", [bytes(range(256)) * 64, End.HOLD], TLS_FAILED),
        _handshake("tls-alert", [b"\x15\x03\x03\x00\x02\x02\x28", End.HOLD], TLS_FAILED),
        _handshake("tls-endless", [Endless(HELLO + b"\0" * 16_378)], TLS_FAILED),
        _handshake("tls-half", [HELLO, Pause(0.05), End.CLOSE], TLS_FAILED),
        _inside("tls-endless-body", [b"HTTP/1.1 200 OK\r\n\r\n", Endless(b"text " * 4000)], CUT),
        _inside("tls-stall", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", End.HOLD], LATE),
        _inside("tls-short", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", End.RESET], BROKEN),
        # It passes for the answer to robots.txt or breaks the connection; both are the server's own
        # doing, and only its own.
        Site("tls-before-the-request", _answer(PAGE),
             {"/": Expected("fetched|broken|robots_unreachable")}, scheme="https",
             greeting=SMUGGLED, most_requests=3),
    ]  # fmt: skip


def _handshake(name: str, hello: Script, expected: Expected) -> Site:
    return Site(name, lambda _: [], {"/": expected}, scheme="https", hello=hello)


def _inside(name: str, page: Script, expected: Expected) -> Site:
    return Site(name, _answer(page), {"/": expected}, scheme="https")


def _answer(page: Script) -> Callable[[str], Script]:
    return lambda path: NO_ROBOTS if path == "/robots.txt" else page
