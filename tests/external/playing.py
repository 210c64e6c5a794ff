"""A web of named hosts that behave as a case says, for the real program: a server on 127.0.0.1 that
keeps a log of what it was asked, and a real dnsmasq that leads all names there."""

import contextlib
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from mannerly.simweb.tls import HANDSHAKE, server_context

RULES = b"User-agent: *\nDisallow: /closed\n"
PAGE = b"<!doctype html><title>A page</title><p>Some words.</p>"


class Asked(NamedTuple):
    """One request as the server saw it."""

    start: float
    end: float
    """When the answer had been written, or the connection was gone."""
    scheme: str
    host: str
    port: int
    path: str
    user_agent: str
    address: str
    """Of the server: where the crawler has connected to."""
    sent: int
    """Bytes that were written."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"


class Asking:
    """A request that is being answered, and the ways to do so."""

    def __init__(self, connection: socket.socket, path: str, host: str, times: int) -> None:
        self.connection = connection
        self.path = path
        self.host = host
        self.times = times
        """How often this URL was asked for before."""
        self.sent = 0

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)
        self.sent += len(data)

    def answer(self, status: int, body: bytes = b"", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status} So", f"Content-Length: {len(body)}", *headers]
        if not any(line.lower().startswith("content-type") for line in headers):
            lines.append("Content-Type: text/html" if body == PAGE else "Content-Type: text/plain")
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def redirect(self, location: str, status: int = 302) -> None:
        self.answer(status, b"", f"Location: {location}")

    def reset(self) -> None:
        """Close so that the other side sees a reset, not an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def silence(self) -> None:
        """Until the other side has had enough."""
        with contextlib.suppress(OSError):
            while self.connection.recv(1000):
                pass


Play = Callable[[Asking], None]


def page(asking: Asking) -> None:
    asking.answer(200, PAGE)


@dataclass
class Host:
    """How one host behaves: how it answers for each path, the rest being plain pages."""

    plays: dict[str, Play] = field(default_factory=dict)

    def play(self, asking: Asking) -> None:
        self.plays.get(asking.path.partition("?")[0], page)(asking)


class Players:
    """The server. Each connection has a thread of its own; http and https share the ports."""

    def __init__(self, hosts: dict[str, Host], listening: list[socket.socket]) -> None:
        """`hosts` by name, with `:port` where the ports of one name differ, and `https://` in
        front where the schemes do."""
        self.hosts = hosts
        self.asked: list[Asked] = []
        self._times: dict[str, int] = {}
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._context = server_context(lambda name: "tls-bad" not in name)
        self._listening = listening
        for listener in listening:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def of(self, host: str) -> list[Asked]:
        """What a host was asked, in order."""
        with self._lock:
            return sorted(one for one in self.asked if one.host == host)

    def wait_until(self, enough: Callable[[], bool], timeout_s: float = 60) -> None:
        """Until the log says so. `enough` is asked under the lock: it reads `asked`."""
        with self._changed:
            assert self._changed.wait_for(enough, timeout_s), "it never came"

    def close(self) -> None:
        for listener in self._listening:
            listener.close()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            first = connection.recv(1, socket.MSG_PEEK)
            secure = first == bytes([HANDSHAKE])
            if secure:
                connection = self._context.wrap_socket(connection, server_side=True)
            buffer = b""
            with connection:
                while True:
                    while b"\r\n\r\n" not in buffer:
                        data = connection.recv(65536)
                        if not data:
                            return
                        buffer += data
                    head, _, buffer = buffer.partition(b"\r\n\r\n")
                    self._answer(connection, head.decode("latin-1"), secure=secure)

    def _answer(self, connection: socket.socket, head: str, *, secure: bool) -> None:
        start = time.time()
        request, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
        }
        path = request.split(" ")[1]
        scheme = "https" if secure else "http"
        host = headers["host"].partition(":")[0]
        address, port = connection.getsockname()[:2]
        url = f"{scheme}://{host}:{port}{path}"
        with self._lock:
            times = self._times[url] = self._times.get(url, -1) + 1
        asking = Asking(connection, path, host, times)
        try:
            self._host(scheme, host, port).play(asking)
        finally:
            self._note(
                Asked(start, time.time(), scheme, host, port, path, headers.get("user-agent", ""),
                      address, asking.sent)
            )  # fmt: skip

    def _host(self, scheme: str, host: str, port: int) -> Host:
        for name in (f"{scheme}://{host}", f"{host}:{port}", host):
            if name in self.hosts:
                return self.hosts[name]
        return Host()

    def _note(self, asked: Asked) -> None:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()


def listening(address: str = "127.0.0.1", port: int = 0) -> socket.socket:
    return socket.create_server((address, port), backlog=200)


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


@contextlib.contextmanager
def names(*records: str, address: str = "127.0.0.1") -> Iterator[str]:
    """A dnsmasq that knows every name under .test as `address`; gives where it listens."""
    program = shutil.which("dnsmasq", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    assert program, "dnsmasq is missing: apt-get install dnsmasq-base"
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [program, "--no-daemon", "--conf-file=/dev/null", "--no-hosts",
                   "--no-resolv", f"--port={port}", "--listen-address=127.0.0.1",
                   "--bind-interfaces", "--pid-file", "--log-facility=-",
                   f"--address=/test/{address}", *records]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                told = ""
                for line in process.stderr:
                    told += line
                    if "started" in line or "in use" in line:
                        break
                if "started" in told:
                    yield f"127.0.0.1:{port}"
                    return
                assert "in use" in told, told
            finally:
                process.terminate()


@contextlib.contextmanager
def failing_dns() -> Iterator[int]:
    """A name server that answers everything with SERVFAIL, for dnsmasq to ask; gives its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def answer() -> None:
            with contextlib.suppress(OSError):  # closed
                while True:
                    query, client = server.recvfrom(4096)
                    flags = struct.pack(">H", 0x8182)  # a response, recursion, SERVFAIL
                    server.sendto(query[:2] + flags + query[4:], client)

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]
