"""Addresses that whoever opened the channel admits, or does not; with real sockets."""

import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from mannerly.clock import SystemClock
from mannerly.fetch.dns import Resolved
from mannerly.fetch.http import HttpChannel
from mannerly.model import Outcome
from tests.unit.fetch.scripted_server import serving, transport_to
from tests.unit.fetch.test_transport import OK, Table, fetch, guarded

HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
clock = SystemClock()


class Desk:
    """Admits by a table and notes who asked; who is not in it is turned away."""

    def __init__(self, waits_s: dict[str, float]) -> None:
        self.waits_s = waits_s
        self.asked: list[str] = []

    def __call__(self, address: str) -> float | None:
        self.asked.append(address)
        return self.waits_s.get(address)


@asynccontextmanager
async def opened(
    port: int, desk: Desk, *addresses: str, connect_timeout_s: float = 5.0
) -> AsyncIterator[tuple[HttpChannel, str]]:
    """A channel to a host with these addresses, and its origin."""
    names = Table(site_example=Resolved(addresses))
    transport = guarded(names, allow_private=True, port=port, connect_timeout_s=connect_timeout_s)
    origin = f"http://site.example:{port}"
    try:
        yield transport.open(origin, desk), origin
    finally:
        await transport.aclose()


async def test_who_is_turned_away_sends_nothing_and_does_not_connect() -> None:
    async with serving(OK) as server:
        desk = Desk({})
        async with opened(server.port, desk, HERE) as (channel, origin):
            fetched = await fetch(channel, f"{origin}/")
        assert (fetched.failure, fetched.started_at) == (Outcome.NOT_SENT, 0)
        assert (server.connections, desk.asked) == (0, [HERE])


async def test_another_address_of_the_host_is_taken() -> None:
    async with serving(OK) as server:
        desk = Desk({HERE: 0.0})
        async with opened(server.port, desk, ELSEWHERE, HERE) as (channel, origin):
            fetched = await fetch(channel, f"{origin}/")
        assert (fetched.status, fetched.address) == (200, HERE)
        assert desk.asked == [ELSEWHERE, HERE]


async def test_an_address_that_failed_is_told_of_rather_than_one_that_was_not_tried() -> None:
    async with serving(OK) as server:
        # Nobody listens there.
        async with opened(server.port, Desk({ELSEWHERE: 0.0}), ELSEWHERE, HERE) as (it, origin):
            fetched = await fetch(it, f"{origin}/")
        assert fetched.failure is Outcome.CONNECT_FAILED
        assert not fetched.timed_out
        assert server.connections == 0


async def test_a_wait_is_waited_for() -> None:
    async with serving(OK) as server:
        async with opened(server.port, Desk({HERE: 0.3}), HERE) as (channel, origin):
            asked_at = clock.now()
            fetched = await fetch(channel, f"{origin}/")
        assert fetched.status == 200
        assert fetched.started_at - asked_at >= 0.3


async def test_a_wait_counts_against_the_deadline() -> None:
    async with serving(OK) as server:
        async with opened(server.port, Desk({HERE: 30.0}), HERE) as (channel, origin):
            fetched = await fetch(channel, f"{origin}/", within_s=0.2)
        assert (fetched.failure, fetched.timed_out) == (Outcome.TIMED_OUT, True)
        assert server.connections == 0


async def test_a_connection_that_is_open_is_asked_for_too() -> None:
    async with serving(OK) as server:
        desk = Desk({HERE: 0.0})
        async with opened(server.port, desk, HERE) as (channel, origin):
            assert (await fetch(channel, f"{origin}/")).status == 200
            assert (await fetch(channel, f"{origin}/")).reused
            desk.waits_s.clear()
            assert (await fetch(channel, f"{origin}/")).failure is Outcome.NOT_SENT
        assert (len(server.requests), desk.asked) == (2, [HERE] * 3)


async def test_nobody_is_asked_where_the_user_named_the_address() -> None:
    async with serving(OK) as server, transport_to(server.port) as transport:
        desk = Desk({})
        channel = transport.open("http://site.example", desk)
        for _ in range(2):
            assert (await fetch(channel, "http://site.example/")).status == 200
        assert desk.asked == []
        channel.close()


async def test_a_connection_that_timed_out_says_so() -> None:
    """The queue of a listener that accepts nobody is full: no connection is made."""
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.create_server((HERE, 0), backlog=0))
        port = listener.getsockname()[1]
        for _ in range(4):
            client = sockets.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((HERE, port))
        desk = Desk({HERE: 0.0})
        async with opened(port, desk, HERE, connect_timeout_s=0.2) as (channel, origin):
            fetched = await fetch(channel, f"{origin}/")
    assert (fetched.failure, fetched.timed_out) == (Outcome.CONNECT_FAILED, True)
