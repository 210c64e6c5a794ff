"""A request leaves with the call that checked the lease, not at the end of the event loop's turn.

A process that is stopped between the two, or whose turn takes long, would send it late: into the
visit of whoever holds the site by then.
"""

import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from mannerly.clock import SystemClock
from tests.unit.fetch.certificates import self_signed
from tests.unit.fetch.scripted_server import transport_to

TURN_S = 0.5
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Listener(threading.Thread):
    """Answers on one connection, in a thread of its own, and notes when each request came."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        super().__init__(daemon=True)
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.came_at: list[float] = []

    def run(self) -> None:
        opened, _ = self._socket.accept()
        self._socket.close()
        if self._context is not None:
            opened = self._context.wrap_socket(opened, server_side=True)
        with opened, suppress(OSError):
            while opened.recv(65536):
                self.came_at.append(time.monotonic())
                opened.sendall(OK)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_request_does_not_wait_for_the_end_of_the_turn(scheme: str, tmp_path: Path) -> None:
    context = self_signed(tmp_path, "site.example") if scheme == "https" else None
    listener = Listener(context)
    listener.start()
    turn_ended_at = uvloop.run(ask_within_a_turn(listener, scheme))
    _, second_at = listener.came_at
    assert second_at < turn_ended_at - TURN_S / 2


async def ask_within_a_turn(listener: Listener, scheme: str) -> float:
    """Ask twice; the second time the turn goes on for long after the request was made."""
    end_at = SystemClock().now() + 10
    turn_ended_at: list[float] = []

    def linger() -> None:
        time.sleep(TURN_S)
        turn_ended_at.append(time.monotonic())

    async with transport_to(listener.port) as transport:
        channel = transport.open(f"{scheme}://site.example")

        async def get() -> bytes:
            fetched = await channel.get(
                f"{scheme}://site.example/", deadline_at=end_at, start_by_at=end_at, body_limit=99
            )
            return fetched.body

        assert await get() == b"ok"
        asking = asyncio.create_task(get())
        asyncio.get_running_loop().call_soon(linger)
        assert await asking == b"ok"
    return turn_ended_at[0]
