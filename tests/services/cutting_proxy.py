"""A TCP proxy in front of a server, that cuts a connection at the worst moment, or falls silent."""

import contextlib
import select
import socket
import threading
from types import TracebackType
from typing import Self


class CuttingProxy:
    """Forwards bytes between clients and `port` of 127.0.0.1, until it is told otherwise."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._closed = threading.Event()
        self._cut_before_answer = b""
        self._cut_at_request = False
        self.silent = False
        """Whatever the server says is kept back, for good."""
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_before_answer(self, mark: bytes) -> None:
        """Cut the connection on which the server next answers something with `mark` in it. The
        server has done what it was asked, and the client will never hear of it."""
        self._cut_before_answer = mark

    def cut_at_request(self) -> None:
        """Cut the connection on which a client next sends something, which is lost."""
        self._cut_at_request = True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self._closed.is_set():
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with client, server, contextlib.suppress(OSError):
            while not self._closed.is_set():
                readable, _, _ = select.select([client, server], [], [], 0.1)
                for source in readable:
                    data = source.recv(65536)
                    if not data or self._is_cut(data, from_server=source is server):
                        return
                    if source is client:
                        server.sendall(data)
                    elif not self.silent:
                        client.sendall(data)

    def _is_cut(self, data: bytes, *, from_server: bool) -> bool:
        if from_server and self._cut_before_answer and self._cut_before_answer in data:
            self._cut_before_answer = b""
        elif not from_server and self._cut_at_request:
            self._cut_at_request = False
        else:
            return False
        self.cuts += 1
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._listener.close()
