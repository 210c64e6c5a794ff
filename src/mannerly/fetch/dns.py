"""Names to addresses: the contract of a resolver, and one on c-ares.

Only DNS is asked: no hosts file, no search domains, no NSS. A crawler that tried
`example.com.corp.internal` because a name did not exist would look at the operator's own network.
"""

import asyncio
import contextlib
import socket
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import pycares

from mannerly.clock import Clock
from mannerly.model import Outcome

TTL_FLOOR_S: Final = 60.0
"""Shorter ones are for load balancing, not for a visitor who comes every few seconds."""
TTL_CEILING_S: Final = 3600.0
NEGATIVE_S: Final = 300.0
TROUBLE_S: Final = 10.0
"""Long enough that a batch does not ask again for each URL, short enough for a retry to see it."""
FLUSH_AFTER: Final = 10_000
"""c-ares keeps every answer (1.6 kB) for up to an hour in a cache that has no bound and cannot be
turned off from Python. Ours is in front of it, so it is emptied after so many queries."""

_NO_SUCH_NAME: Final = frozenset(
    {pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_EBADNAME}
)

_Answer = tuple[pycares.DNSResult | None, int]


class Resolved(NamedTuple):
    """Addresses, or why there are none."""

    addresses: tuple[str, ...]
    """IP literals, IPv4 first."""
    failure: Outcome | None = None
    """None, NO_SUCH_NAME or DNS_TROUBLE."""
    detail: str = ""


class Resolver(Protocol):
    async def resolve(self, host: str) -> Resolved:
        """Look a name up. Never raises for what DNS does; ends when its caller is cancelled."""


class CaresResolver:
    """Asks the system's DNS servers (or `servers`) without blocking, and remembers.

    AAAA is asked only where there is no A and the machine has a route to IPv6: a dual-stack site
    is reached by IPv4, at half the queries. Look-ups of one name are shared; at most `in_flight`
    names are asked for at once; at most `cache_size` answers are kept, the longest unused go first.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        servers: Sequence[str] = (),
        in_flight: int = 256,
        cache_size: int = 100_000,
        timeout_s: float = 3.0,
        tries: int = 2,
        ipv6: bool | None = None,
    ) -> None:
        """`servers` are addresses, with `:port` where it is not 53. `ipv6`: None looks for a route.

        A query gives up after about `timeout_s * (2 ** tries - 1)`. Must be made where the event
        loop runs.
        """
        self._clock = clock
        self._ipv6 = has_ipv6_route() if ipv6 is None else ipv6
        self._cache_size = cache_size
        self._cache: OrderedDict[str, tuple[float, Resolved]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Resolved]] = {}
        self._slots = asyncio.Semaphore(in_flight)
        self.queries = 0
        """How many were sent on their way so far."""
        self._loop = asyncio.get_running_loop()
        # Directly on pycares: aiodns adds a layer, and hides the call that empties the cache.
        self._channel = pycares.Channel(
            servers=list(servers) or None, timeout=timeout_s, tries=tries
        )

    async def resolve(self, host: str) -> Resolved:
        name = host.removesuffix(".").lower()
        known = self._cache.get(name)
        if known is not None and known[0] > self._clock.now():
            self._cache.move_to_end(name)
            return known[1]
        asking = self._asking.get(name)
        if asking is None:
            asking = asyncio.create_task(self._look_up(name))
            self._asking[name] = asking
        # One who gives up must not take the answer from the others who wait for it.
        return await asyncio.shield(asking)

    async def aclose(self) -> None:
        """Give the sockets and the thread back. Who still waits is cancelled."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        self._channel.cancel()
        self._channel.close()

    async def _look_up(self, name: str) -> Resolved:
        try:
            if not _is_name(name):
                return Resolved((), Outcome.NO_SUCH_NAME, "not a name that DNS could hold")
            async with self._slots:
                resolved, ttl_s = await self._ask(name, pycares.QUERY_TYPE_A)
                if resolved.failure is Outcome.NO_SUCH_NAME and self._ipv6:
                    resolved, ttl_s = await self._ask(name, pycares.QUERY_TYPE_AAAA)
            self._remember(name, resolved, ttl_s)
            return resolved
        finally:
            del self._asking[name]

    async def _ask(self, name: str, kind: int) -> tuple[Resolved, float]:
        result, code = await self._query(name, kind)
        if result is None:
            words = str(pycares.errno.strerror(code))
            if code in _NO_SUCH_NAME:
                return Resolved((), Outcome.NO_SUCH_NAME, words), NEGATIVE_S
            return Resolved((), Outcome.DNS_TROUBLE, words), TROUBLE_S
        # Aliases stand in the answer too.
        found = [
            record.data.addr
            for record in result.answer
            if isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData)
        ]
        if not found:
            return Resolved((), Outcome.NO_SUCH_NAME, "no address"), NEGATIVE_S
        # An alias that changes takes its addresses along, so its time counts too.
        ttl_s = float(min(record.ttl for record in result.answer))
        return Resolved(tuple(dict.fromkeys(found))), min(max(ttl_s, TTL_FLOOR_S), TTL_CEILING_S)

    async def _query(self, name: str, kind: int) -> _Answer:
        """The library's answer, or None and its error code."""
        self.queries += 1
        if self.queries % FLUSH_AFTER == 0:
            self._channel.reinit()
        answer: asyncio.Future[_Answer] = self._loop.create_future()

        def settle(result: pycares.DNSResult | None, code: int | None) -> None:
            if not answer.done():
                answer.set_result((None, code) if code is not None else (result, 0))

        def arrived(result: pycares.DNSResult | None, code: int | None) -> None:
            # On the library's thread. The loop is closed where a look-up outlived the program.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(settle, result, code)

        try:
            self._channel.query(name, kind, callback=arrived)
        except pycares.AresError as exc:
            settle(None, exc.args[0])
        return await answer

    def _remember(self, name: str, resolved: Resolved, ttl_s: float) -> None:
        self._cache[name] = (self._clock.now() + ttl_s, resolved)
        self._cache.move_to_end(name)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)


def has_ipv6_route() -> bool:
    """Is there a way out over IPv6? Connecting a datagram socket sends nothing; it only asks the
    kernel for a route."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2001:4860:4860::8888", 53))
    except OSError:
        return False
    return True


def _is_name(name: str) -> bool:
    """What fits into a DNS message. Letters are not judged: underscores and more do occur."""
    return (
        name.isascii()
        and name.isprintable()
        and len(name) <= 253
        and all(0 < len(label) <= 63 for label in name.split("."))
    )
