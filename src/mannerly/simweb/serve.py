"""Runs the server: sockets, processes, signals."""

import asyncio
import multiprocessing
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import uvloop

from mannerly.errors import UsageError
from mannerly.simweb.access import AccessFile, AccessRecord
from mannerly.simweb.server import BACKLOG, Attempts, Server
from mannerly.simweb.web import Web


class NoLog:
    """For when nobody asked for one."""

    def append(self, record: AccessRecord) -> None:
        pass

    def flush(self) -> None:
        pass


def serve(
    web: Web,
    host: str,
    port: int,
    processes: int,
    access_log: Path | None,
    ready: Callable[[int], None],
) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is called with the port once connections are taken."""
    raise_descriptor_limit()
    web.warm_up()  # before forking, so that the processes share it
    sockets = listen(host, port, processes)
    attempts = Attempts()
    context = multiprocessing.get_context("fork")
    children = [
        context.Process(target=_serve_one, args=(web, sockets, number, access_log, attempts))
        for number in range(1, processes)
    ]
    for child in children:
        child.start()
    bound: int = sockets[0].getsockname()[1]
    _serve_one(web, sockets, 0, access_log, attempts, lambda: ready(bound))
    for child in children:
        child.terminate()
    for child in children:
        child.join()


def listen(host: str, port: int, count: int) -> list[socket.socket]:
    """Sockets on one port, between which the kernel spreads connections. Port 0: any free one."""
    sockets: list[socket.socket] = []
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(count):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if count > 1:
            # Alone, no other process may take the port by mistake.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            listening.bind((host, sockets[0].getsockname()[1] if sockets else port))
        except OSError as exc:
            raise UsageError(f"cannot listen on {host}:{port}: {exc.strerror}") from exc
        listening.listen(BACKLOG)
        listening.setblocking(False)
        sockets.append(listening)
    return sockets


def raise_descriptor_limit() -> None:
    """As many connections as the system grants."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _serve_one(
    web: Web,
    sockets: list[socket.socket],
    number: int,
    access_log: Path | None,
    attempts: Attempts,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """One process's share: its own socket, and none of the others'."""
    for other, listening in enumerate(sockets):
        if other != number:
            listening.close()
    log = AccessFile(access_log) if access_log is not None else None
    try:
        uvloop.run(_run(Server(web, log or NoLog(), attempts), sockets[number], ready))
    finally:
        if log is not None:
            log.close()


async def _run(server: Server, listening: socket.socket, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    parent = multiprocessing.parent_process()
    if parent is not None:
        # If the first process is killed, the others must not live on.
        loop.add_reader(parent.sentinel, stopped.set)
    await server.start(listening)
    ready()
    await stopped.wait()
    await server.aclose()
