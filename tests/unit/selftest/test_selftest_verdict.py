"""The verdict of `mannerly selftest`, on a crawl that is well and on the same crawl made wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mannerly.selftest import Terms, Trial, judge
from mannerly.selftest.trial import CRAWL_DELAY_S, DELAY_S, web_of
from mannerly.simweb.judge import ROBOTS
from tests.simulation.world import live

TERMS = Terms(seed=5, sites=25, crawlers=1, kills=0)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("selftest") / "data"


@pytest.fixture(scope="module")
def lived(data_dir: Path) -> Trial:
    web = web_of(TERMS)
    lived = live(
        web,
        data_dir,
        delay=DELAY_S,
        crawl_delay_ceiling=CRAWL_DELAY_S,
        visit_timeout=2.0,
        retry_delay=0.3,
        retry_ceiling=4.0,
        max_failures=20,
        trap_guard=False,
        yield_guard=False,
    )
    return Trial(TERMS, web, [data_dir], records=lived.records)


def wrong(trial: Trial) -> list[str]:
    return [finding.what for finding in judge(trial) if finding.violations]


def test_a_crawl_that_is_well_passes(lived: Trial) -> None:
    assert [violation for finding in judge(lived) for violation in finding.violations] == []


def _too_soon(trial: Trial) -> None:
    record = next(it for it in trial.records if it.status == 200 and it.path != ROBOTS)
    again_at = record.end + 0.1
    trial.records.append(record._replace(arrived=again_at, start=again_at, end=again_at + 0.1))


def _before_robots(trial: Trial) -> None:
    origin = next(it for it in trial.records if it.status == 200 and it.path != ROBOTS).host
    trial.records[:] = [it for it in trial.records if (it.host, it.path) != (origin, ROBOTS)]


def _failed(trial: Trial) -> None:
    trial.failures.append("mannerly/0 ended with code 1")


def _never_sent(trial: Trial) -> None:
    page = next(it for it in trial.records if it.status == 200 and it.path == "/")
    trial.records[:] = [it for it in trial.records if it.url != page.url]


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (_too_soon, "no visit comes early"),
        (_before_robots, "robots.txt is obeyed"),
        (_never_sent, "every page is stored, once"),
        (_failed, "every crawler came to its end"),
    ],
)
def test_what_is_wrong_is_found(lived: Trial, spoil: Callable[[Trial], None], what: str) -> None:
    trial = Trial(TERMS, lived.web, lived.data_dirs, records=list(lived.records))
    spoil(trial)
    assert what in wrong(trial)


def test_lost_urls_and_pages_that_are_there_twice_are_found(lived: Trial, tmp_path: Path) -> None:
    twice = Trial(TERMS, lived.web, [*lived.data_dirs, *lived.data_dirs], records=lived.records)
    assert "every page is stored, once" in wrong(twice)
    lost = tmp_path / "lost"
    (lost / "journal").mkdir(parents=True)
    assert "no URL is lost" in wrong(Trial(TERMS, lived.web, [lost], records=lived.records))
