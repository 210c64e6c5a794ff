"""Claims: the right to ask another site for something that a visit needs (a robots.txt that
redirects there). The visitor's only way to the frontier."""

from typing import NamedTuple, Protocol

from mannerly.engine.patience import Patience
from mannerly.engine.plan import HOLD_S, EnginePlan
from mannerly.frontier.contract import Frontier
from mannerly.model import Lease
from mannerly.observe.tally import Tally


class Claimed(NamedTuple):
    """A site that is leased for a request or two. Whoever claimed it releases it."""

    lease: Lease
    start_by_at: float
    """The fence, as of any lease."""
    delay_s: float
    """What the site is known to ask for between two visits; 0 if nothing is known."""


class Claims(Protocol):
    async def claim(self, site: str) -> Claimed | None:
        """Lease `site` now. None: not now (somebody visits it, or it rests), or never."""


class FrontierClaims:
    """Claims of one process, from its frontier."""

    def __init__(self, plan: EnginePlan, frontier: Frontier, writer: int, tally: Tally) -> None:
        self._plan = plan
        self._frontier = frontier
        self._writer = writer
        self._patience = Patience(tally)

    async def claim(self, site: str) -> Claimed | None:
        if not self._plan.new_sites and not await self._known(site):
            # A claimed site is known from then on, and links to it would be in scope.
            return None
        lease = await self._patience.until_done(
            lambda: self._frontier.claim(self._writer, site, ttl_s=self._plan.ttl_s)
        )
        if lease is None:
            return None
        return Claimed(lease, lease.leased_at + HOLD_S, await self._delay_s(site))

    async def _known(self, site: str) -> bool:
        facts = await self._patience.until_done(lambda: self._frontier.explain(site, 0))
        return facts.site is not None

    async def _delay_s(self, site: str) -> float:
        """The lease brings no robots records, since it is not for a page."""
        facts = await self._patience.until_done(lambda: self._frontier.explain(site, 0))
        return facts.site.delay_s if facts.site is not None else 0.0
