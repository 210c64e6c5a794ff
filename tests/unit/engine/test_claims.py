"""Claims on other sites, from a real frontier."""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import build
from mannerly.engine.claims import Claimed, FrontierClaims
from mannerly.engine.plan import HOLD_S, EnginePlan
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit, NewUrl, Released
from mannerly.observe.tally import Tally
from mannerly.url import url_hash

HOME = "https://seeded.example/"


@asynccontextmanager
async def claiming(
    directory: Path, scope: str
) -> AsyncIterator[tuple[FrontierClaims, SqliteFrontier, int]]:
    frontier = SqliteFrontier(
        directory / "frontier.db",
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.Random(1),
    )
    plan = EnginePlan.of(build({"email": "a@example.org", "scope": scope}), 10)
    async with frontier:
        await frontier.add([NewUrl("seeded.example", url_hash(HOME), HOME, 0, 0, 0, 0)])
        await frontier.create({"delay_s": "0"})
        writer = await frontier.enlist("test")
        yield FrontierClaims(plan, frontier, writer, Tally(0.0)), frontier, writer


def released(claimed: Claimed, rest_s: float, delay_s: float) -> Released:
    lease = claimed.lease
    return Released(lease.handle, lease.token, rest_s, 0, abandoned=False, delay_s=delay_s)


async def claimed_soon(claims: FrontierClaims, site: str) -> Claimed:
    """A rest of nothing ends with the next millisecond."""
    give_up_at = time.monotonic() + 5
    while (claimed := await claims.claim(site)) is None:
        assert time.monotonic() < give_up_at
    return claimed


async def test_a_site_is_claimed_once_at_a_time_and_brings_its_delay(tmp_path: Path) -> None:
    async with claiming(tmp_path, "any") as (claims, frontier, writer):
        first = await claims.claim("new.example")
        assert first is not None
        assert first.delay_s == 0
        assert first.start_by_at == first.lease.leased_at + HOLD_S
        assert await claims.claim("new.example") is None
        await frontier.commit(writer, Commit(1, released=[released(first, 0.0, 120.0)]))
        second = await claimed_soon(claims, "new.example")
        assert second.delay_s == 120
        await frontier.commit(writer, Commit(2, released=[released(second, 3600.0, 0.0)]))
        assert await claims.claim("new.example") is None
        # Released without a word about its delay, it keeps the one that is known.
        facts = (await frontier.explain("new.example", 0)).site
        assert facts is not None
        assert facts.delay_s == 120


@pytest.mark.parametrize(("scope", "known"), [("any", True), ("seeded-sites", False)])
async def test_a_claim_does_not_widen_the_scope(tmp_path: Path, scope: str, known: bool) -> None:
    """A site that was claimed is known, and links to what is known are followed."""
    async with claiming(tmp_path, scope) as (claims, frontier, _):
        claimed = await claims.claim("outside.example")
        assert (claimed is not None) == known
        assert ((await frontier.explain("outside.example", 0)).site is not None) == known
        assert await claims.claim("seeded.example") is not None


async def test_an_excluded_site_is_never_claimed(tmp_path: Path) -> None:
    async with claiming(tmp_path, "any") as (claims, frontier, _):
        await frontier.exclude(["seeded.example"])
        assert await claims.claim("seeded.example") is None
