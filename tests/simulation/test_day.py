"""A day in the life of the crawler: 70 s between visits, thousands of sites, on the virtual clock.

`make day` lives it with 10,000 sites.
"""

import os
import time
from pathlib import Path

import pytest

from mannerly.simweb import judge
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.url import SiteKey
from tests.simulation.world import live

DAY_S = 86_400.0
SITES = int(os.environ.get("SIMULATED_SITES", "200"))


@pytest.mark.timeout(1800)
def test_a_simulated_day_passes_in_minutes(tmp_path: Path) -> None:
    web = Web(
        preset("mixed", seed=1, sites=SITES, traps=False, pages_mean=12.0, pages_max=300,
               body_mean=1200, links_min=8, links_max=16)
    )  # fmt: skip
    began = time.process_time()
    lived = live(web, tmp_path, delay=70.0, max_duration=DAY_S, checkpoint_interval=10.0)
    spent_s = time.process_time() - began
    assert lived.tally.page_requests >= 10 * SITES
    assert spent_s < SITES / 8
    visits = judge.visits(lived.records, SiteKey().site_of)
    assert judge.too_soon(visits, 70.0) == []
    assert judge.fetched_twice(lived.records) == []
    assert judge.disallowed_requests(web, lived.records) == []
