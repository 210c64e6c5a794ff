"""The same web without sockets: a transport on virtual time, for simulations.

What the real server does on the wire happens here to the values of the transport contract. Bodies
are sent without content coding; nothing is rendered that nobody reads.
"""

import asyncio
from collections import Counter
from typing import Protocol

from mannerly.clock import Clock
from mannerly.fetch.contract import Admit, Fetched, TlsFacts, anywhere
from mannerly.model import Outcome
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Answer, Behaviour, Kind
from mannerly.simweb.web import Web, split

_TLS = TlsFacts("TLSv1.3", "TLS_AES_256_GCM_SHA384", verified=False, problem="self-signed")


class Records(Protocol):
    """Where access records go: a list will do."""

    def append(self, record: AccessRecord, /) -> None: ...


class SimTransport:
    """A `Transport` to the simulated web. Connections cost no time, responses their latency."""

    def __init__(
        self, web: Web, clock: Clock, log: Records, *, user_agent: str = "mannerly"
    ) -> None:
        self.web = web
        self.clock = clock
        self.log = log
        self.user_agent = user_agent
        self._attempts: Counter[str] = Counter()
        self._connections = 0

    def open(self, origin: str, admit: Admit = anywhere) -> "SimChannel":
        return SimChannel(self, origin, admit)

    async def aclose(self) -> None:
        """Nothing is ever left open."""

    def connect(self) -> str:
        """A name for a new connection."""
        self._connections += 1
        return f"sim-{self._connections}"

    def answer(self, url: str) -> Answer:
        answer = self.web.answer(url)
        if answer.kind is not Kind.BUSY:
            return answer
        attempt = self._attempts[url]
        self._attempts[url] += 1
        return self.web.answer(url, attempt)


class SimChannel:
    """A `Channel` to one origin."""

    def __init__(self, transport: SimTransport, origin: str, admit: Admit) -> None:
        self._transport = transport
        self._origin = origin
        self._admit = admit
        self._connection = ""
        self._served = 0

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        assert url.startswith(self._origin + "/"), f"{url} is not of {self._origin}"
        clock = self._transport.clock
        fetched = Fetched(url)
        now = clock.now()
        if now >= deadline_at:
            _fail(fetched, Outcome.TIMED_OUT, "no time left")
        elif self._connected(fetched):
            wait_s = self._admit(fetched.address)
            if wait_s is not None and wait_s > 0:
                await asyncio.sleep(wait_s)
            if wait_s is None:
                _fail(fetched, Outcome.NOT_SENT, "not admitted now")
            elif clock.now() > start_by_at:
                _fail(fetched, Outcome.NOT_SENT, "too late to start")
            else:
                await self._exchange(fetched, deadline_at, body_limit)
        fetched.ended_at = clock.now()
        if fetched.failure is not None or fetched.truncated:
            self.close()
        return fetched

    def close(self) -> None:
        self._connection = ""
        self._served = 0

    def _connected(self, fetched: Fetched) -> bool:
        """Is there a connection, or can there be one? If not, the failure says why."""
        scheme, host, _ = split(fetched.url)
        site = self._transport.web.site_at(host)
        if site is None:
            _fail(fetched, Outcome.NO_SUCH_NAME, f"{host} does not exist")
            return False
        fetched.address = site.address
        if scheme == "https" != site.scheme:
            _fail(fetched, Outcome.TLS_FAILED, "the server does not know the name")
            return False
        if not self._connection:
            self._connection = self._transport.connect()
        if scheme == "https":
            fetched.tls = _TLS
        return True

    async def _exchange(self, fetched: Fetched, deadline_at: float, body_limit: int) -> None:
        """Send the request and read what comes, until the deadline."""
        clock = self._transport.clock
        fetched.started_at = clock.now()
        fetched.request = _request(fetched.url, self._transport.user_agent)
        fetched.reused = self._served > 0
        connection, start = self._connection, clock.wall()
        sent = 0
        location = ""
        whole = False
        try:
            answer = self._transport.answer(fetched.url)
            ends_at = clock.now() + answer.latency_s
            silent = answer.behaviour in {Behaviour.STALL, Behaviour.STOP}
            if silent or ends_at > deadline_at:
                await asyncio.sleep(deadline_at - clock.now())
                _fail(fetched, Outcome.TIMED_OUT, "no whole response in time")
                return
            await asyncio.sleep(answer.latency_s)
            if answer.behaviour is not Behaviour.WHOLE:
                _fail(fetched, Outcome.BROKEN, "the connection was closed early")
                return
            body = answer.body
            _fill(fetched, answer, body, body_limit, clock.wall())
            sent = len(fetched.body)
            location = answer.location
            whole = not fetched.truncated
            self._served += 1
            if not answer.keep_alive:
                self.close()
        finally:
            # Also when the task is cancelled: the server has seen the request.
            scheme, host, path = split(fetched.url)
            self._transport.log.append(
                AccessRecord(
                    arrived=start,
                    start=start,
                    end=clock.wall(),
                    host=host,
                    scheme=scheme,
                    path=path,
                    status=fetched.status,
                    user_agent=self._transport.user_agent,
                    connection=connection,
                    bytes=sent,
                    sent_whole=whole,
                    location=location,
                )
            )


def _request(url: str, user_agent: str) -> bytes:
    _, host, path = split(url)
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {user_agent}\r\n\r\n".encode()


def _fail(fetched: Fetched, outcome: Outcome, detail: str) -> None:
    fetched.failure = outcome
    fetched.detail = detail


def _fill(fetched: Fetched, answer: Answer, body: bytes, body_limit: int, wall_at: float) -> None:
    fetched.status = answer.status
    fetched.headers = [
        (name.encode("ascii"), value.encode("latin-1")) for name, value in answer.headers(wall_at)
    ]
    fetched.headers.append((b"Content-Length", b"%d" % len(body)))
    fetched.body = body[:body_limit]
    fetched.truncated = len(body) > body_limit
