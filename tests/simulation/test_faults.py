"""Crawlers that are killed, paused and let down by disk, database and network, over many seeds.

`make soak` lives through thousands of seeds. A failing one is told again, and shrunk, by
`python -m tests.simulation.faults --seed N`.
"""

import os
import subprocess
import sys

import pytest

from tests.simulation.faults.plan import draw
from tests.simulation.faults.shrinking import shrink, told
from tests.simulation.faults.story import live
from tests.simulation.mutations import FIRST_SEED, MUTATIONS

SEEDS = 24
PORTIONS = 4
MOST_SEEDS = 60
"""A mistake that takes longer to be found is not found."""


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_whatever_goes_wrong_nothing_is_lost_doubled_or_impolite(portion: int) -> None:
    for seed in range(portion, SEEDS, PORTIONS):
        story = live(draw(seed))
        assert story.violations == [], told(shrink(story))


def test_a_failing_story_shrinks_to_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS["settled_before_durable"](monkeypatch)
    story = live(draw(4))
    assert len(story.plan.faults) > 4
    shrunk = shrink(story)
    assert 0 < len(shrunk.plan.faults) <= 2
    assert set(shrunk.plan.faults) < set(story.plan.faults)
    text = told(shrunk)
    assert f"seed 4: {shrunk.plan.terms.crawlers} crawler" in text
    assert all(fault.told() in text for fault in shrunk.plan.faults)
    assert "was lost: nothing in the store tells of it" in text


def test_the_same_seed_is_the_same_story_in_another_process() -> None:
    stories = [live(draw(0)) for _ in range(2)]
    tell = [sys.executable, "-m", "tests.simulation.faults", "--seed", "0"]
    elsewhere = subprocess.run(tell, env={**os.environ, "PYTHONHASHSEED": "1"}, check=True,
                               capture_output=True, text=True, timeout=120)  # fmt: skip
    assert stories[0].events == stories[1].events
    assert stories[0].requests == stories[1].requests
    assert elsewhere.stdout == told(stories[0]) + "\n"


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mistake_put_in_on_purpose_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[name](monkeypatch)
    first = FIRST_SEED.get(name, 0)
    found = (live(draw(seed)).violations for seed in range(first, first + MOST_SEEDS))
    assert any(found), f"not found in {MOST_SEEDS} seeds"
