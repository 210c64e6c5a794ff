"""find_sites where it takes more than one call: many sites, and many of them in one bucket."""

import random
from itertools import count
from typing import Any

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.frontier.contract import SiteOrder
from mannerly.frontier.redis import RedisFrontier
from mannerly.frontier.redis.packing import bucket_of
from mannerly.model import NewUrl
from tests.services.redis import shared

IN_ONE_BUCKET = 1100
"""More than one call looks at."""
PAGES = [(0, 20), (15, 3), (700, 100), (1490, 30), (2000, 5)]


def names() -> list[str]:
    numbered = (f"s{number}.example" for number in count())
    crowded = [next(it for it in numbered if bucket_of(it) == 7) for _ in range(IN_ONE_BUCKET)]
    return [*crowded, *(f"t{number}.example" for number in range(400))]


@pytest.mark.parametrize("begins", ["", "s1"])
async def test_every_page_of_many_sites(begins: str) -> None:
    sites = names()
    random.Random(4).shuffle(sites)
    waiting = {site: 1 + number % 7 for number, site in enumerate(sites)}
    async with RedisFrontier(
        shared().url,
        schema=f"finding_{len(begins)}",
        clock=SystemClock(),
        executor=InlineExecutor(),
        random=random.SystemRandom(),
    ) as frontier:
        await frontier.add(
            [
                NewUrl(site, number, f"https://{site}/{number}", 1, 0, 2, 0)
                for site, urls in waiting.items()
                for number in range(urls)
            ]
        )
        fitting = sorted(site for site in sites if site.startswith(begins))
        for skip, limit in PAGES:
            page: dict[str, Any] = {"begins": begins, "skip": skip, "limit": limit}
            by_name = await frontier.find_sites(**page)
            assert [it.site for it in by_name] == fitting[skip : skip + limit]
            by_count = await frontier.find_sites(order=SiteOrder.PENDING, **page)
            most = sorted((waiting[site] for site in fitting), reverse=True)
            assert [it.pending for it in by_count] == most[skip : skip + limit]
        for order in SiteOrder:
            found = await frontier.find_sites(begins=begins, order=order, limit=5000)
            assert sorted(it.site for it in found) == fitting, order
        # As many as are told of in one call, at one moment.
        found = await frontier.find_sites(begins=begins, order=SiteOrder.NEXT, limit=500)
        ready = [it.ready_in_s for it in found]
        assert ready == sorted(ready)
