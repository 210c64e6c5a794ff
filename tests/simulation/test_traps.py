"""Traps without end, crawled to their end on a virtual clock."""

from collections import Counter
from pathlib import Path

from mannerly.engine.crawler import FINISHED
from mannerly.simweb.reach import reachable
from mannerly.simweb.site import Trap
from mannerly.simweb.spec import preset
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import LeftOut, SiteKey
from tests.simulation.world import live

TINY = {"pages_mean": 4.0, "pages_max": 8, "body_mean": 3000, "links_min": 4, "links_max": 8}
VARIANTS = 2_048
"""So many different texts do the pages of a simulated calendar have."""


def test_traps_without_end_come_to_one_and_other_pages_do_not_suffer(tmp_path: Path) -> None:
    spec = preset("plain", seed=7, sites=3, trap_sites=1.0, robots_rules=0.0, **TINY)
    web = Web(spec)
    domain_of = {web.site(n).trap: web.site(n).domain for n in range(3)}
    assert set(domain_of) == {Trap.CALENDAR, Trap.SESSION, Trap.GROWING}
    lived = live(web, tmp_path, delay=1.0, checkpoint_interval=120.0, max_pages=30_000)
    assert lived.because == FINISHED

    site_of = SiteKey().site_of
    asked = [record for record in lived.records if record.path != "/robots.txt"]
    pages = Counter(site_of(record.host) for record in asked)
    # Until two of three pages repeat another, and what was queued by then.
    assert pages[domain_of[Trap.CALENDAR]] < 2 * VARIANTS
    assert pages[domain_of[Trap.GROWING]] < 1_000
    assert pages[domain_of[Trap.SESSION]] < 20
    left_out = lived.tally.left_out
    assert left_out[LeftOut.YIELD]
    assert left_out[LeftOut.REPEATS]
    (closed,) = lived.tally.closed
    assert closed.site == domain_of[Trap.CALENDAR]

    ordinary = Web(preset("plain", seed=7, sites=3, traps=False, robots_rules=0.0, **TINY))
    homes = [web.home(n) for n in range(3)]
    assert reachable(ordinary, homes) <= {record.url for record in asked}
    with open_store(tmp_path) as store:
        (marked,) = store.execute(
            "SELECT count(*) FROM pages JOIN pages AS first ON pages.duplicate_of = first.url_hash"
            " AND pages.site = first.site WHERE pages.duplicate IN ('exact', 'near')"
        ).fetchall()
        (repeating,) = store.execute("SELECT count(*) FROM pages WHERE duplicate != ''").fetchall()
    assert marked == repeating
    assert marked[0] > 60
