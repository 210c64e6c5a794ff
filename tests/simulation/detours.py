"""URLs of the simulated web that redirect to others, also to those of other sites."""

import asyncio
from collections.abc import Mapping

from mannerly.fetch.contract import Admit, Channel, Fetched, anywhere
from mannerly.model import Outcome
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.transport import SimTransport
from mannerly.simweb.web import split

LATENCY_S = 0.1


class Detours:
    """A transport to the simulated web, but for some URLs."""

    def __init__(self, web: SimTransport, leads_to: Mapping[str, str]) -> None:
        """`leads_to`: where each of them redirects to."""
        self.web = web
        self.leads_to = leads_to

    def open(self, origin: str, admit: Admit = anywhere) -> Channel:
        return DetourChannel(self.web, self.web.open(origin, admit), self.leads_to)

    async def aclose(self) -> None:
        await self.web.aclose()


class DetourChannel:
    def __init__(self, web: SimTransport, plain: Channel, leads_to: Mapping[str, str]) -> None:
        self._web = web
        self._plain = plain
        self._leads_to = leads_to

    async def get(
        self, url: str, *, deadline_at: float, start_by_at: float, body_limit: int
    ) -> Fetched:
        if url not in self._leads_to:
            return await self._plain.get(
                url, deadline_at=deadline_at, start_by_at=start_by_at, body_limit=body_limit
            )
        clock = self._web.clock
        fetched = Fetched(url)
        if clock.now() > start_by_at:
            fetched.failure = Outcome.NOT_SENT
            return fetched
        fetched.started_at, start = clock.now(), clock.wall()
        await asyncio.sleep(LATENCY_S)
        fetched.status = 301
        fetched.headers = [(b"Location", self._leads_to[url].encode())]
        fetched.ended_at = clock.now()
        scheme, host, path = split(url)
        self._web.log.append(
            AccessRecord(start, start, clock.wall(), host, scheme, path, 301, "mannerly",
                         f"detour-{url}", 0, sent_whole=True, location=self._leads_to[url])
        )  # fmt: skip
        return fetched

    def close(self) -> None:
        self._plain.close()
