"""Reading an origin's robots.txt, within a visit (RFC 9309, 2.3.1)."""

from mannerly.engine.plan import MAX_ROBOTS_REDIRECTS, ROBOTS_LIMIT
from mannerly.engine.sieve import Sieve
from mannerly.engine.workbench import Seat
from mannerly.fetch.contract import Channel, Fetched, Transport
from mannerly.fetch.decode import decode
from mannerly.model import Outcome, RobotsRecord, RobotsState
from mannerly.observe.tally import Tally
from mannerly.url import origin_of


class RobotsReader:
    def __init__(self, transport: Transport, sieve: Sieve, tally: Tally) -> None:
        self._transport = transport
        self._sieve = sieve
        self._tally = tally

    async def fetch(self, own: Channel, origin: str, seat: Seat, deadline_at: float) -> Fetched:
        """GET /robots.txt over `own`, the channel to its origin, and what it redirects to.

        A redirect to another site is not followed: that site's lease is not ours. It counts as
        unreachable, which means no.
        """
        url = origin + "/robots.txt"
        channel = own
        hop: Channel | None = None
        hops = 0
        try:
            while True:
                fetched = await channel.get(
                    url,
                    deadline_at=deadline_at,
                    start_by_at=seat.start_by_at,
                    body_limit=ROBOTS_LIMIT,
                )
                if hops and fetched.failure is not None:
                    # Whatever it is, the origin was asked and led to nothing: unreachable.
                    fetched.failure = Outcome.BROKEN
                if fetched.failure is Outcome.NOT_SENT:
                    return fetched
                self._tally.robots_requests += 1
                if fetched.failure is not None or not 300 <= fetched.status < 400:
                    return fetched
                targets = self._sieve.resolve(url, [fetched.header("location")])
                hops += 1
                if not targets or hops > MAX_ROBOTS_REDIRECTS:
                    return fetched
                if targets[0].site != seat.lease.site:
                    fetched.failure = Outcome.BROKEN
                    fetched.detail = f"robots.txt redirects to another site, {targets[0].url}"
                    return fetched
                url = targets[0].url
                if hop is not None:
                    hop.close()
                    hop = None
                channel = own
                if origin_of(url) != origin:
                    own.close()  # a visit holds one connection at a time: descriptors are budgeted
                    channel = hop = self._transport.open(origin_of(url))
        finally:
            if hop is not None:
                hop.close()


def robots_record(origin: str, fetched: Fetched, failures: int) -> RobotsRecord:
    """What a robots.txt response means (RFC 9309, 2.3.1)."""
    # 429 is a 4xx by number, but by meaning a server that cannot answer now.
    if fetched.failure is not None or fetched.status >= 500 or fetched.status == 429:
        return RobotsRecord(origin, RobotsState.UNREACHABLE, b"", 0.0, failures + 1)
    if 200 <= fetched.status < 300:
        decoded = decode(fetched.body, fetched.header("content-encoding"), ROBOTS_LIMIT)
        if decoded.problem and not decoded.truncated and not fetched.truncated and not decoded.body:
            # Nothing of it could be read: that is not the same as an empty file.
            return RobotsRecord(origin, RobotsState.UNREACHABLE, b"", 0.0, failures + 1)
        return RobotsRecord(origin, RobotsState.FOUND, decoded.body, 0.0, 0)
    # 4xx, and a chain of redirects that leads nowhere: there are no rules.
    return RobotsRecord(origin, RobotsState.ABSENT, b"", 0.0, 0)
