"""Having a connection: DNS, address guard, TCP, TLS.

No name ever reaches `connect`: it is given the literal of an address that the guard has just
judged, so what a name resolves to a moment later makes no difference.
"""

import asyncio
import errno
import ipaddress
import os
import ssl
from dataclasses import dataclass, field
from typing import Final

from mannerly.errors import ConfigError, MannerlyError
from mannerly.fetch import guard, tls
from mannerly.fetch.contract import Admit
from mannerly.fetch.deadline import Deadlines
from mannerly.fetch.dns import Resolver
from mannerly.fetch.protocol import Connection
from mannerly.model import Outcome

MAX_ADDRESSES_TRIED: Final = 4
NOT_ADMITTED: Final = "no visit may begin at this address now"


class FetchFailure(Exception):  # noqa: N818 - a value in the making, not an error of ours
    """Why there is no response. Never leaves the package: `get` turns it into a value."""

    def __init__(self, outcome: Outcome, detail: str, *, timed_out: bool = False) -> None:
        super().__init__(outcome, detail)
        self.outcome = outcome
        self.detail = detail
        self.timed_out = timed_out


@dataclass(slots=True)
class Connector:
    """Opens connections and knows which are open."""

    resolver: Resolver
    allow_private: bool
    ports: frozenset[int]
    connect_to: tuple[str, int] | None
    """Where every connection goes, unguarded, because the user named it."""
    verify_tls: bool
    timeout_s: float
    """For one address, TLS included, so that another can still be tried."""
    opened: set[Connection] = field(default_factory=set)
    deadlines: Deadlines = field(default_factory=Deadlines)
    """Of connections, and of whatever else is to be done in time."""
    closed: bool = False
    tls_context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self.tls_context = tls.context(verify=self.verify_tls)
        if self.connect_to is not None:
            try:
                ipaddress.ip_address(self.connect_to[0])
            except ValueError as exc:
                raise ConfigError(f"not an IP address: {self.connect_to[0]!r}") from exc

    async def connect(self, host: str, port: int, admit: Admit, *, secure: bool) -> Connection:
        """A fresh connection to `host`. Raises `FetchFailure`."""
        if self.closed:
            raise FetchFailure(Outcome.BROKEN, "the transport was closed")
        try:
            server_name = tls.server_name(host) if secure else None
        except ValueError as exc:
            raise FetchFailure(Outcome.TLS_FAILED, str(exc)) from exc
        if self.connect_to is not None:
            return await self._connect_one(*self.connect_to, server_name)
        if port not in self.ports:
            raise FetchFailure(Outcome.ADDRESS_REFUSED, f"port {port} is not allowed")
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        addresses = self._allowed(await self._addresses(host))
        dns_s = loop.time() - asked_at
        failure: FetchFailure | None = None
        for address in addresses[:MAX_ADDRESSES_TRIED]:
            wait_s = self.wait_for(address, admit)
            if wait_s is None:
                failure = failure or FetchFailure(Outcome.NOT_SENT, NOT_ADMITTED)
                continue
            if wait_s:
                await asyncio.sleep(wait_s)
            try:
                connection = await self._connect_one(address, port, server_name)
                connection.dns_s = dns_s
                return connection
            except FetchFailure as exc:
                failure = exc
                if exc.outcome is not Outcome.CONNECT_FAILED:
                    break
        assert failure is not None
        raise failure

    def wait_for(self, address: str, admit: Admit) -> float | None:
        """In how many seconds a request may be sent to `address`; None: not now. Where all
        connections go to one address that the user named, it says nothing about the sites: nobody
        is asked."""
        return 0.0 if self.connect_to is not None else admit(address)

    async def aclose(self) -> None:
        self.closed = True
        await asyncio.gather(*(connection.shut() for connection in self.opened))

    async def _addresses(self, host: str) -> list[guard.Address]:
        try:
            spelt_out = guard.literal(host)
        except ValueError as exc:
            raise FetchFailure(Outcome.ADDRESS_REFUSED, str(exc)) from exc
        if spelt_out is not None:
            return [spelt_out]
        resolved = await self.resolver.resolve(host)
        if resolved.failure is not None:
            raise FetchFailure(resolved.failure, resolved.detail)
        return [ipaddress.ip_address(text) for text in resolved.addresses]

    def _allowed(self, addresses: list[guard.Address]) -> list[str]:
        if self.allow_private:
            return [str(address) for address in addresses]
        verdicts = [(address, guard.refusal(address)) for address in addresses]
        allowed = [str(address) for address, why in verdicts if not why]
        if not allowed:
            reasons = "; ".join(f"{address} is {why}" for address, why in verdicts)
            raise FetchFailure(Outcome.ADDRESS_REFUSED, reasons[:500])
        return allowed

    async def _connect_one(self, address: str, port: int, server_name: str | None) -> Connection:
        secure = server_name is not None
        loop = asyncio.get_running_loop()
        begun_at = loop.time()
        connection = Connection(self.opened)
        connected = False
        try:
            with self.deadlines.within(self.timeout_s):
                made, _ = await loop.create_connection(
                    lambda: connection,
                    address,
                    port,
                    ssl=self.tls_context if secure else None,
                    server_hostname=server_name,
                )
            connected = True
        except OSError as exc:
            raise _failure(exc, address, secure=secure) from exc
        finally:
            if not connected:
                connection.forget()
        connection.connect_s = loop.time() - begun_at
        if self.closed:
            connection.abort()
        if secure:
            spoken: ssl.SSLObject = made.get_extra_info("ssl_object")
            connection.tls = tls.facts(spoken, verified=self.verify_tls)
        return connection


def _failure(exc: OSError, address: str, *, secure: bool) -> FetchFailure:
    if exc.errno in (errno.EMFILE, errno.ENFILE):
        # Ours, not the site's: it must not count against anybody.
        raise MannerlyError(
            "out of file descriptors: raise the limit (ulimit -n) or fetch less at once"
        ) from exc
    # A connection that was made and then broke while TLS was spoken: the handshake failed.
    broke = isinstance(exc, ConnectionError) and not isinstance(exc, ConnectionRefusedError)
    in_tls = isinstance(exc, ssl.SSLError) or (secure and broke)
    outcome = Outcome.TLS_FAILED if in_tls else Outcome.CONNECT_FAILED
    timed_out = isinstance(exc, TimeoutError)
    return FetchFailure(outcome, f"{address}: {_words(exc)}", timed_out=timed_out)


def _words(exc: OSError) -> str:
    """One line for people: the library's reason without its decorations."""
    if isinstance(exc, ssl.SSLCertVerificationError):
        return exc.verify_message
    if isinstance(exc, ssl.SSLError):
        return (exc.reason or str(exc)).lower().replace("_", " ")
    if isinstance(exc, TimeoutError):
        return "timed out"
    if exc.errno:
        return os.strerror(exc.errno)
    return str(exc) or type(exc).__name__
