import json
from pathlib import Path

import pytest

from mannerly.planning import CPU_MS_PER_PAGE, DATABASE_MS_PER_PAGE, Plan
from tests.programs import mannerly

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
LINKS_A_PAGE = 67


def test_politeness_is_the_ceiling_whatever_the_machines() -> None:
    plan = Plan(sites=7000, delay_s=70, machines=50, cores=64)
    assert (plan.rate, plan.limited_by) == (100, "politeness")
    assert plan.days(8_640_000) == pytest.approx(1)


def test_below_it_cpu_is_the_limit() -> None:
    plan = Plan(sites=1_000_000, delay_s=10, machines=2, cores=8, cpu_ms_per_page=4)
    assert (plan.rate, plan.limited_by) == (4000, "CPU")
    assert plan.cores_for_ceiling == 400


def test_without_a_delay_there_is_no_ceiling() -> None:
    plan = Plan(sites=1, delay_s=0, machines=1, cores=1)
    assert plan.limited_by == "CPU"
    assert plan.cores_for_ceiling is None


def test_the_figures_are_those_that_were_measured() -> None:
    """A new measurement on another machine may differ; by half, somebody should look."""
    crawl = json.loads((RESULTS / "crawl-plain.json").read_text())["figures"]
    assert crawl["cpu_ms_per_page"] == pytest.approx(CPU_MS_PER_PAGE, rel=0.5)
    sizes = json.loads((RESULTS / "frontier-postgres.json").read_text())["figures"]["frontier"]
    one = sizes["1000000"]
    known_us = LINKS_A_PAGE * one["add_links_known"]["cpu_us"]
    page_us = one["lease"]["cpu_us"] + one["commit"]["cpu_us"] + known_us
    assert page_us / 1000 == pytest.approx(DATABASE_MS_PER_PAGE, rel=0.5)


def test_the_command_says_what_limits() -> None:
    told = mannerly("plan", "--sites", "140000", "--cores", "1", "--pages", "1000000").stdout
    assert "2,000.0 pages/s" in told
    assert "the limit is CPU" in told
    assert "1,000,000 pages take" in told
    assert mannerly("plan", "--sites", "10", "--delay", "soon").returncode == 2
