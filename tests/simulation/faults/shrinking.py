"""From a story that fails to the shortest one that still does, told in plain words."""

import re

from tests.simulation.faults.plan import Plan
from tests.simulation.faults.story import Story, live

SHOWN = 12
"""Requests that are told of each site that something was wrong with."""


def shrink(story: Story) -> Story:
    """Leave out one fault after the other, then crawlers, where something is wrong without them."""
    for place in reversed(range(len(story.plan.faults))):
        story = _unless_well(story, story.plan.without(place))
    for last in range(story.plan.terms.crawlers - 1, 0, -1):
        if any(fault.step and fault.crawler == last for fault in story.plan.faults):
            break
        terms = story.plan.terms._replace(crawlers=last)
        story = _unless_well(story, story.plan._replace(terms=terms))
    return story


def _unless_well(story: Story, simpler: Plan) -> Story:
    shorter = live(simpler)
    return shorter if shorter.violations else story


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
