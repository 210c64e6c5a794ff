"""The transport on real sockets: HTTP/1.1, one request at a time on one connection."""

import asyncio
from typing import Final

from mannerly.clock import Clock
from mannerly.errors import ConfigError, UrlError
from mannerly.fetch.connect import NOT_ADMITTED, Connector, FetchFailure
from mannerly.fetch.contract import Admit, Fetched, anywhere
from mannerly.fetch.dns import Resolver
from mannerly.fetch.protocol import Connection
from mannerly.fetch.response import ResponseReader
from mannerly.model import Outcome

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ACCEPT: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_ENCODINGS: Final = "gzip, deflate, br, zstd"
_PARTIAL: Final = 206


class HttpTransport:
    """Fulfils `mannerly.fetch.contract.Transport`. The resolver stays its maker's to close.

    `connect_to` sends every request to one IP address and port, whatever its URL says, with Host
    and SNI kept; it is exempt from the address guard because the user named it.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        user_agent: str,
        contact: str,
        resolver: Resolver,
        allow_private: bool = False,
        ports: frozenset[int] = frozenset({80, 443}),
        connect_to: tuple[str, int] | None = None,
        verify_tls: bool = False,
        accept_language: str = "",
        connect_timeout_s: float = 10.0,
        header_limit: int = 64 * 1024,
    ) -> None:
        self._clock = clock
        self._header_limit = header_limit
        self._request_tail = _request_tail(user_agent, contact, accept_language)
        self._connector = Connector(
            resolver, allow_private, ports, connect_to, verify_tls, connect_timeout_s
        )

    @property
    def open_connections(self) -> int:
        """Sockets that are open now."""
        return len(self._connector.opened)

    def open(self, origin: str, admit: Admit = anywhere) -> "HttpChannel":
        return HttpChannel(
            origin, admit, self._connector, self._clock, self._request_tail, self._header_limit
        )

    async def aclose(self) -> None:
        """Close everything that is still open; a `get` under way answers BROKEN."""
        await self._connector.aclose()


class HttpChannel:
    """To one origin; at most one connection at a time."""

    __slots__ = (
        "_admit",
        "_clock",
        "_connection",
        "_connector",
        "_header_limit",
        "_host",
        "_netloc",
        "_origin",
        "_port",
        "_request_tail",
        "_secure",
    )

    def __init__(
        self,
        origin: str,
        admit: Admit,
        connector: Connector,
        clock: Clock,
        request_tail: bytes,
        header_limit: int,
    ) -> None:
        scheme, _, netloc = origin.partition("://")
        host, colon, port = netloc.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = netloc, ""
        if (
            scheme not in _DEFAULT_PORTS
            or not _is_clean(host)
            or not (port.isdecimal() or not port)
        ):
            raise UrlError(f"not an origin that can be fetched: {origin!r}")
        self._origin = origin
        self._admit = admit
        self._netloc = netloc
        self._host = host
        self._port = int(port) if port else _DEFAULT_PORTS[scheme]
        self._secure = scheme == "https"
        self._connector = connector
        self._clock = clock
        self._request_tail = request_tail
        self._header_limit = header_limit
        self._connection: Connection | None = None

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        request = self._request(url)
        fetched = Fetched(url)
        left_s = deadline_at - self._clock.now()
        settled = False
        try:
            if left_s <= 0:
                # The timer would only fire at the first wait, with a connection half open.
                raise TimeoutError
            # It cancels whatever step is waiting.
            with self._connector.deadlines.within(left_s):
                await self._exchange(fetched, request, start_by_at, body_limit)
            settled = True
        except TimeoutError:
            fetched.failure, fetched.timed_out = Outcome.TIMED_OUT, True
            fetched.detail = "no whole response in time" if fetched.started_at else "not connected"
        except FetchFailure as failure:
            fetched.failure, fetched.detail = failure.outcome, failure.detail
            fetched.timed_out = failure.timed_out
        finally:
            if not settled:
                self.close()
        fetched.ended_at = self._clock.now()
        return fetched

    def close(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    def _request(self, url: str) -> bytes:
        target = url[len(self._origin) :]
        # A canonical URL has no blanks or controls; one that had could carry headers of its own.
        if not url.startswith(self._origin) or target[:1] != "/" or not _is_clean(target):
            raise UrlError(f"not a canonical URL of {self._origin}: {url!r}")
        head = f"GET {target} HTTP/1.1\r\nHost: {self._netloc}\r\n"
        return head.encode("ascii") + self._request_tail

    async def _exchange(
        self, fetched: Fetched, request: bytes, start_by_at: float, body_limit: int
    ) -> None:
        """Ask on the open connection, or on a new one if that is gone before a byte came back."""
        connection = self._connection
        if connection is not None and connection.fit():
            wait_s = self._connector.wait_for(connection.address, self._admit)
            if wait_s is None:
                raise FetchFailure(Outcome.NOT_SENT, NOT_ADMITTED)
            if wait_s:
                await asyncio.sleep(wait_s)
            reader = ResponseReader(header_limit=self._header_limit, body_limit=body_limit)
            await self._ask(connection, fetched, request, reader, start_by_at)
            if reader.started:
                self._take(connection, fetched, reader)
                return
        self.close()
        self._connection = connection = await self._connector.connect(
            self._host, self._port, self._admit, secure=self._secure
        )
        reader = ResponseReader(header_limit=self._header_limit, body_limit=body_limit)
        await self._ask(connection, fetched, request, reader, start_by_at)
        self._take(connection, fetched, reader)

    def _ask(
        self,
        connection: Connection,
        fetched: Fetched,
        request: bytes,
        reader: ResponseReader,
        start_by_at: float,
    ) -> asyncio.Future[None]:
        """Send the request. Done when `reader` has ended."""
        fetched.address = connection.address
        fetched.tls = connection.tls
        fetched.reused = connection.used
        if not connection.used:
            fetched.dns_s, fetched.connect_s = connection.dns_s, connection.connect_s
        answered = connection.ask(request, reader, self._clock, start_by_at)
        if answered is None:
            raise FetchFailure(Outcome.NOT_SENT, "the lease is too old to start a request")
        fetched.started_at = connection.asked_at
        fetched.request = request
        return answered

    def _take(self, connection: Connection, fetched: Fetched, reader: ResponseReader) -> None:
        fetched.first_byte_s = connection.first_byte_s
        if reader.problem:
            raise FetchFailure(Outcome.BROKEN, reader.problem)
        if not reader.reusable:
            self.close()
        fetched.status = reader.status
        fetched.http_version = reader.http_version
        fetched.reason = reader.reason
        fetched.headers = reader.headers
        fetched.body = bytes(reader.body)
        fetched.truncated = reader.truncated or reader.status == _PARTIAL


def _is_clean(text: str) -> bool:
    """Printable ASCII without blanks, and something."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _request_tail(user_agent: str, contact: str, accept_language: str) -> bytes:
    """Every header but Host, and the blank line."""
    fields = {
        "User-Agent": user_agent,
        "From": contact,
        "Accept": _ACCEPT,
        "Accept-Encoding": _ENCODINGS,
        "Accept-Language": accept_language,
        "Connection": "keep-alive",
    }
    for name, value in fields.items():
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"{name} can only hold printable ASCII: {value!r}")
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"{lines}\r\n".encode("ascii")
