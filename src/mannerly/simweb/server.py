"""The real server: every host of the web, plain HTTP and HTTPS, on one port.

One protocol object per connection and no task per request: latency is a timer, and a response is
one write. The write buffer's limit is zero, so a write either goes to the kernel at once or pauses
the connection until it has: that moment is the `end` of the request in the access log.
"""

import asyncio
import mmap
import socket
import ssl
import time
from itertools import count
from os import getpid
from typing import Protocol, cast

from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Answer, Behaviour, Kind
from mannerly.simweb.chance import draw
from mannerly.simweb.requests import Request, parse
from mannerly.simweb.responses import encode
from mannerly.simweb.tls import HANDSHAKE, TlsLayer, server_context
from mannerly.simweb.web import Web

MAX_HEAD = 1 << 16
BACKLOG = 8192
FLUSH_EVERY_S = 0.2


class Log(Protocol):
    def append(self, record: AccessRecord) -> None: ...

    def flush(self) -> None: ...


class Attempts:
    """How often each busy page was asked for, in memory that forked processes share.

    A fixed table by hash: two pages in one slot would be busy for a shorter time, which is no harm.
    """

    _SLOTS = 1 << 20

    def __init__(self) -> None:
        self._counts = mmap.mmap(-1, self._SLOTS)

    def next(self, url: str) -> int:
        """0 for the first time, then 1 and so on."""
        slot = draw(0, url.encode()) % self._SLOTS
        before = self._counts[slot]
        self._counts[slot] = min(255, before + 1)
        return before


class Server:
    """Serves one web on one listening socket, until it is closed."""

    def __init__(self, web: Web, log: Log, attempts: Attempts) -> None:
        self.web = web
        self.log = log
        self.tls = server_context(self._speaks_tls)
        self.connections: set[Connection] = set()
        self._attempts = attempts
        self._numbers = count(1)
        self._listener: asyncio.Server | None = None
        self._flushing: asyncio.TimerHandle | None = None

    async def start(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: Connection(self, f"{getpid()}-{next(self._numbers)}"),
            sock=listening,
            backlog=BACKLOG,
        )
        self._flush()

    async def aclose(self) -> None:
        """Stop listening, cut every connection, and write the log to its end."""
        assert self._listener is not None, "aclose without start"
        self._listener.close()
        for connection in list(self.connections):
            connection.abort()
        await asyncio.sleep(0)  # the loop reports the lost connections, and those go to the log
        await self._listener.wait_closed()
        if self._flushing is not None:
            self._flushing.cancel()
        self.log.flush()

    def answer(self, url: str) -> Answer:
        answer = self.web.answer(url)
        if answer.kind is Kind.BUSY and (attempt := self._attempts.next(url)):
            return self.web.answer(url, attempt)
        return answer

    def _speaks_tls(self, name: str) -> bool:
        site = self.web.site_at(name.lower())
        return site is None or site.scheme == "https"

    def _flush(self) -> None:
        self.log.flush()
        self._flushing = asyncio.get_running_loop().call_later(FLUSH_EVERY_S, self._flush)


class Connection(asyncio.Protocol):
    """One connection: requests are answered one after the other."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._name = name
        self._transport: asyncio.Transport | None = None
        self._tls: TlsLayer | None = None
        self._scheme = ""
        self._read = b""
        self._arrived = 0.0
        self._start = 0.0
        self._request: Request | None = None
        """The one that is being answered."""
        self._status = 0
        self._location = ""
        self._sent = 0
        self._whole = False
        """The response that was written last was a whole one."""
        self._keep = True
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(0)
        self._server.connections.add(self)

    def data_received(self, data: bytes) -> None:
        if not self._scheme:
            self._scheme = "http"
            if data[0] == HANDSHAKE:
                self._scheme = "https"
                self._tls = TlsLayer(self._server.tls, self._write)
        if self._tls is not None:
            try:
                data = self._tls.receive(data)
            except ssl.SSLError:
                self._close()
                return
        if data:
            if not self._read:
                self._arrived = time.time()
            self._read += data
            self._take()
        if self._tls is not None and self._tls.ended:
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._request is not None:
            self._record(self._request, whole=False, end=time.time())

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._whole:
            self._finish(time.time())

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _take(self) -> None:
        """Begin with the next request, if one is complete and none is being answered."""
        if self._request is not None:
            return
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            if len(self._read) > MAX_HEAD:
                self._close()
            return
        self._start = time.time()
        request = parse(self._read[:end])
        self._read = self._read[end + 4 :]
        if request is None:
            self._write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            self._close()
            return
        self._request = request
        self._status = self._sent = 0
        self._location = ""
        self._whole = False
        answer = self._server.answer(f"{self._scheme}://{request.host}{request.target}")
        if answer.latency_s > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(answer.latency_s, self._respond, request, answer)
        else:
            self._respond(request, answer)

    def _respond(self, request: Request, answer: Answer) -> None:
        behaviour = answer.behaviour
        if behaviour is Behaviour.STALL:
            return
        if behaviour in {Behaviour.CLOSE, Behaviour.NO_TLS}:
            self._close()
            return
        self._status = answer.status
        self._location = answer.location
        self._keep = request.keep_alive and answer.keep_alive
        head, body = encode(request, answer, keep_alive=self._keep, wall_at=time.time())
        if behaviour is Behaviour.WHOLE:
            self._whole = True
            sealed = self._sealed(head + body)
            # Before it is sent: on a busy machine the other side may have read all of it, and have
            # begun to wait, long before this process runs on.
            sent_at = time.time()
            self._write(sealed)
            if not self._paused:
                self._finish(sent_at)
            return
        self._write(self._sealed(head + body[: len(body) // 2]))
        if behaviour is Behaviour.CUT:
            self._close()

    def _finish(self, sent_at: float) -> None:
        """The response is with the kernel."""
        assert self._request is not None, "finished without a request"
        request, self._request = self._request, None
        self._whole = False
        self._record(request, whole=True, end=sent_at)
        if self._keep:
            self._take()
            return
        if self._tls is not None:
            self._write(self._tls.goodbye())
        self._close()

    def _record(self, request: Request, *, whole: bool, end: float) -> None:
        self._server.log.append(
            AccessRecord(
                arrived=self._arrived,
                start=self._start,
                end=end,
                host=request.host,
                scheme=self._scheme,
                path=request.target,
                status=self._status,
                user_agent=request.user_agent,
                connection=self._name,
                bytes=self._sent,
                sent_whole=whole,
                location=self._location,
            )
        )
        self._arrived = self._start  # of a request that was sent ahead, nobody saw the first byte

    def _sealed(self, data: bytes) -> bytes:
        return data if self._tls is None else self._tls.seal(data)

    def _write(self, data: bytes) -> None:
        assert self._transport is not None, "written before it was connected"
        self._transport.write(data)
        self._sent += len(data)

    def _close(self) -> None:
        assert self._transport is not None, "closed before it was connected"
        self._transport.close()
