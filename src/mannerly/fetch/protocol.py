"""One connection on asyncio: request bytes out, a response in, one exchange at a time."""

import asyncio
import select
import socket
import struct
from contextlib import suppress
from typing import cast

from mannerly.clock import Clock
from mannerly.fetch.contract import TlsFacts
from mannerly.fetch.response import ResponseReader

_DROP_AND_RESET = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Registers itself in `opened` while its socket is open."""

    __slots__ = (
        "_gone",
        "_loop",
        "_opened",
        "_poll",
        "_reader",
        "_transport",
        "_waiter",
        "_written_at",
        "address",
        "asked_at",
        "connect_s",
        "dns_s",
        "first_byte_s",
        "tls",
        "used",
    )

    def __init__(self, opened: set["Connection"]) -> None:
        self._opened = opened
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._gone: asyncio.Future[None] | None = None
        self._poll: select.poll | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._written_at = 0.0
        self.asked_at = 0.0
        """When the last request was sent, by the clock that allowed it."""
        self.dns_s = self.connect_s = 0.0
        """What it took to have this connection; taken by the first exchange."""
        self.first_byte_s = 0.0
        """Of the last exchange: from the request to the first byte of the response."""
        self.address = ""
        """The peer's, as the socket itself says."""
        self.tls: TlsFacts | None = None
        self.used = False
        """It has carried a request."""

    def ask(
        self, request: bytes, reader: ResponseReader, clock: Clock, start_by_at: float
    ) -> asyncio.Future[None] | None:
        """Write `request`; the future is done when `reader` has ended (or is cancelled). None:
        nothing was written, since it is later than `start_by_at`.

        Whatever can be done before the clock is read is done before. A process that is stopped
        between that and the write, and runs again when somebody else holds the site, would still
        send: so there is one call in between, and no more.
        """
        waiter = self._loop.create_future()
        self.first_byte_s = 0.0
        transport = self._transport
        write = None if transport is None else transport.write
        now = clock.now()
        if now > start_by_at:
            return None
        if write is not None:
            write(request)
        self.asked_at = now
        self._written_at = self._loop.time()
        self._reader = reader
        self._waiter = waiter
        self.used = True
        if write is None:
            self._settle("closed before the request")
        return waiter

    def fit(self) -> bool:
        """May it carry another request? Not if closed, nor if anything is there to be read: that
        is the end of the connection, or bytes that would pass for the next response."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        if self._poll is None:
            # Kept, since it is asked before every request but the first. Errors and the end are
            # told whatever one registers for.
            self._poll = select.poll()
            opened = cast("socket.socket", transport.get_extra_info("socket"))
            self._poll.register(opened.fileno(), select.POLLIN | select.POLLPRI)
        return not self._poll.poll(0)

    def abort(self) -> None:
        """Close at once. `close` would hold the descriptor for the TLS farewell of a peer that may
        never answer. May be called twice."""
        if self._transport is not None:
            if self._reader is not None and not self._reader.started:
                self._take_back(self._transport)
            self._transport.abort()

    def _take_back(self, transport: asyncio.Transport) -> None:
        """Nothing of the request is to be delivered from now on. Where the network was away, the
        kernel would go on sending it for a minute or two after we have closed, and the server would
        be asked in the middle of whatever the site's next holder does."""
        opened = cast("socket.socket", transport.get_extra_info("socket"))
        with suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP_AND_RESET)

    def forget(self) -> None:
        """It never came to be. A time-out that strikes just when the socket is connected makes
        uvloop close it without a word: `connection_lost` would never come, and the connection would
        count as open for ever."""
        self.abort()
        self._opened.discard(self)

    def shut(self) -> asyncio.Future[None]:
        """Close at once; the future is done when the socket is closed."""
        self._gone = self._loop.create_future()
        self.abort()
        return self._gone

    # Called by the event loop -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._opened.add(self)
        peer = transport.get_extra_info("peername")
        # None where the peer was gone before anybody could ask.
        self.address = peer[0] if peer else ""

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            # Nothing was asked: whatever this is, it must not become the next answer.
            self.abort()
            return
        if not reader.started:
            self.first_byte_s = self._loop.time() - self._written_at
        if reader.feed(data):
            self._settle("")

    def eof_received(self) -> None:
        if self._reader is not None:
            self._reader.feed_eof()
            self._settle("")
        self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._opened.discard(self)
        if self._reader is not None:
            self._settle(f"connection lost: {exc or 'closed'}")
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)

    def _settle(self, lost: str) -> None:
        reader, waiter = self._reader, self._waiter
        self._reader = self._waiter = None
        assert reader is not None
        assert waiter is not None
        if lost:
            reader.fail(lost)
        if not waiter.done():
            waiter.set_result(None)
