"""The verdict on real faults (`tests.faults`), on a crawl that is well and on it made wrong."""

import pytest

from mannerly.selftest import Terms, Trial
from mannerly.selftest.trial import CRAWL_DELAY_S, DELAY_S
from mannerly.simweb.judge import ROBOTS
from mannerly.simweb.web import Web
from tests.faults.ground import web_of
from tests.faults.verdict import judged
from tests.simulation.world import live

WEB = Web(web_of(100, latency_s=0.1))
HOMES = [WEB.home(number) for number in range(WEB.spec.sites)]
TERMS = Terms(seed=WEB.spec.seed, sites=WEB.spec.sites, crawlers=1, kills=0)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    data = tmp_path_factory.mktemp("faults") / "a"
    records = live(
        WEB, data, delay=DELAY_S, crawl_delay_ceiling=CRAWL_DELAY_S, max_tries=12,
        trap_guard=False, yield_guard=False,
    ).records  # fmt: skip
    ours = [record._replace(user_agent="mannerly/a") for record in records]
    return Trial(TERMS, WEB, [data], records=ours)


def wrong(trial: Trial, homes: list[str]) -> list[str]:
    return [it.what for it in judged(trial, homes).findings if it.violations]


def test_a_crawl_that_is_well_passes(lived: Trial) -> None:
    assert judged(lived, HOMES).held, judged(lived, HOMES).text()


def test_pages_that_nobody_came_to_are_found(lived: Trial) -> None:
    elsewhere = Web(web_of(100, latency_s=0.1, per_site=9))
    more = elsewhere.home(elsewhere.spec.sites - 1)
    there = Trial(TERMS, elsewhere, lived.data_dirs, records=lived.records)
    assert "the pages are all there are" in wrong(there, [*HOMES, more])


def test_the_result_of_a_lease_that_somebody_took_over_is_found(lived: Trial) -> None:
    page = next(it for it in lived.records if it.status == 200 and it.path != ROBOTS)
    late_at = lived.records[-1].end + 60
    again = page._replace(
        user_agent="mannerly/b", arrived=late_at, start=late_at, end=late_at + 0.1
    )
    taken_over = Trial(TERMS, WEB, lived.data_dirs, records=[*lived.records, again])
    assert wrong(taken_over, HOMES) == ["no stale result is accepted"]
