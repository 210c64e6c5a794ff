"""The contract of a transport: what a visit may ask of the network.

A transport opens a **channel** to one origin; a channel answers GET requests one after the other,
on one connection where the server allows it (robots.txt and the page after it). Whatever a server
does, `get` returns within its deadline and its bounds, and what went wrong is a value:

- no redirect is followed, no cookie kept, nothing is retried (but for one thing: a reused
  connection that turns out to be closed before a byte of the response came is opened anew);
- a connection is only ever opened to an address that the address guard allows, judged on the
  address that the socket really uses, and that whoever opened the channel admits;
- `get` never raises for anything a server or the network did.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mannerly.model import Outcome

Admit = Callable[[str], float | None]
"""Asked with an IP address before each request to it: in how many seconds it may be sent; None: not
now. A host's other addresses are asked for then; where none is admitted, the answer is NOT_SENT."""


def anywhere(_address: str) -> float:
    """For who limits no address."""
    return 0.0


class TlsFacts(NamedTuple):
    version: str
    cipher: str
    verified: bool
    """The certificate chain and name were found good."""
    problem: str
    """Why not, if not."""


@dataclass(slots=True)
class Fetched:
    """The answer to one request, or why there is none."""

    url: str
    failure: Outcome | None = None
    """None: a response was read (whatever its status). Else one of NO_SUCH_NAME, DNS_TROUBLE,
    CONNECT_FAILED, TLS_FAILED, TIMED_OUT, BROKEN, ADDRESS_REFUSED, NOT_SENT."""
    detail: str = ""
    timed_out: bool = False
    """The failure is that some time was up, be it that of a connection: it may be our own fault."""
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """As received: order, case and repeats."""
    body: bytes = b""
    """As received, chunking removed, content coding *not* removed; at most `body_limit` bytes."""
    truncated: bool = False
    """The body is not all there is: there was more than `body_limit`, which was not read, or the
    server sent a part (206) though the whole was asked for."""
    address: str = ""
    """The peer's IP address."""
    started_at: float = 0.0
    """Just before the request was written, on the clock. 0 if no request was written."""
    ended_at: float = 0.0
    """When the response ended or the failure happened."""
    reused: bool = False
    """Sent on a connection that had served a request before."""
    tls: TlsFacts | None = None
    request: bytes = b""
    """As it was written."""
    http_version: bytes = b"1.1"
    reason: bytes = b""
    """What the server's status line says after the number."""
    dns_s: float = 0.0
    """Looking the host up; 0 on a connection that was open, or where the address was at hand."""
    connect_s: float = 0.0
    """Opening the connection, TLS included; 0 on one that was open."""
    first_byte_s: float = 0.0
    """From the request to the first byte of the response."""

    _named: dict[bytes, list[bytes]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def header(self, name: bytes) -> str:
        """The value of a header, repeats joined by commas, or ''. `name` is in lower case."""
        found = self.named.get(name)
        return b", ".join(found).decode("latin-1").strip() if found else ""

    def values(self, name: bytes) -> Sequence[bytes]:
        """Every value of a header, as received. `name` is in lower case."""
        return self.named.get(name, ())

    @property
    def named(self) -> dict[bytes, list[bytes]]:
        """The values of all headers, by their names in lower case. `headers` must not change any
        more: a page asks for eight of them, so they are looked through once."""
        named = self._named
        if named is None:
            named = self._named = {}
            for key, value in self.headers:
                name = key.lower()
                if name in named:
                    named[name].append(value)
                else:
                    named[name] = [value]
        return named


class Channel(Protocol):
    """To one origin; for one task at a time."""

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        """GET `url`, which belongs to the channel's origin.

        Everything (DNS, connect, TLS, response) ends by `deadline_at`. The request is not written
        after `start_by_at`, checked right before writing: then the answer is `NOT_SENT`, as it is
        where no address of the host is admitted.
        """

    def close(self) -> None:
        """Close the connection, if one is open. May be called twice; a later `get` opens anew."""


class Transport(Protocol):
    def open(self, origin: str, admit: Admit = anywhere) -> Channel:
        """A channel to `scheme://host[:port]`. Connects on first use."""

    async def aclose(self) -> None:
        """Close everything that is still open."""
