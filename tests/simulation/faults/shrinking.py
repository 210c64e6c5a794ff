"""From a story that fails to the shortest one that still does, told in plain words."""

import re
from collections.abc import Callable, Iterator

from tests.simulation.faults.plan import Plan
from tests.simulation.faults.story import Story, live

SHOWN = 12
"""Requests that are told of each site that something was wrong with."""


def shrink(story: Story, again: Callable[[Plan], Story] = live) -> Story:
    """Leave out one thing after the other for as long as something is wrong without it."""
    while True:
        shorter = next((it for it in map(again, _smaller(story.plan)) if it.violations), None)
        if shorter is None:
            return story
        story = shorter


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Every plan that is one step simpler: a fault less, then a crawler less."""
    for place in reversed(range(len(plan.faults))):
        yield plan.without(place)
    last = plan.terms.crawlers - 1
    if last and not any(fault.step and fault.crawler == last for fault in plan.faults):
        yield plan._replace(terms=plan.terms._replace(crawlers=last))


def told(story: Story) -> str:
    """What went wrong, from the plan to what the world saw."""
    terms = story.plan.terms
    crawlers = "1 crawler" if terms.crawlers == 1 else f"{terms.crawlers} crawlers"
    wrong = "\n".join(story.violations)
    hosts = set(re.findall(r"[\w.-]+-[0-9a-f]+\.(?:invalid|test|example)", wrong))
    sites = {".".join(host.split(".")[-2:]) for host in hosts}
    seen = [line for line in story.requests if any(site in line for site in sites)]
    return "\n".join(
        [
            f"seed {story.plan.seed}: {crawlers}, {terms.delay_s:g} s between visits",
            "what was planned:",
            *(f"  {fault.told()}" for fault in story.plan.faults),
            "what happened:",
            *(f"  {event}" for event in story.events),
            "what the servers saw:",
            *(f"  {line}" for line in seen[-SHOWN * max(1, len(sites)) :]),
            "what was wrong:",
            *(f"  {violation}" for violation in story.violations),
        ]
    )
