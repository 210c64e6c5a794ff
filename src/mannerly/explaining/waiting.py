"""The answer for a URL that is known and not settled: what it waits for. Pure."""

from mannerly.explaining.story import RobotsWord, Story
from mannerly.explaining.when import span
from mannerly.model import COUNTED_BEFORE, RobotsState, SiteFacts, SiteState, UrlFacts

RESUME = "no crawler runs in this data directory (`mannerly crawl --resume` starts one)"


def waiting_answer(story: Story) -> str:
    facts, site = _known(story)
    if site.state is SiteState.EXCLUDED:
        return f"It will not be crawled: its site {site.site} is excluded from this crawl."
    if site.state is SiteState.ABANDONED:
        return (
            f"It was not crawled: its site {site.site} was abandoned after {site.failures} "
            "failures in a row, and nobody waits for it any more."
        )
    if story.excluded_by:
        return (
            "It will not be crawled: the exclusion list says no "
            f"({story.excluded_by}), and it is settled so when its turn comes."
        )
    told = f"It is not crawled yet: {_place(facts, site)}"
    if facts.queued is not None and facts.queued.tries:
        told += f"; it was tried {facts.queued.tries} times in vain"
    if story.robots is not None and not story.robots.allowed:
        told += f"; {_forbidden(story.robots)}"
    if not story.running:
        told += f"; {RESUME}"
    return f"{told}."


def spilt_answer(story: Story) -> str:
    _, site = _known(story)
    if site.state is SiteState.EXCLUDED:
        return f"It will not be crawled: its site {site.site} is excluded from this crawl."
    told = (
        f"It is not crawled yet: {site.site} has {site.pending:,} URLs waiting, which is as many "
        f"as it may have, so this one is spilt with {site.spilt:,} others until there is room"
    )
    if site.state is SiteState.ABANDONED:
        told += "; and the site was abandoned"
    elif not story.running:
        told += f"; {RESUME}"
    return f"{told}."


def _known(story: Story) -> tuple[UrlFacts, SiteFacts]:
    facts = story.facts
    assert facts is not None
    assert facts.site is not None, "a URL that is known has a site"
    return facts, facts.site


def _place(facts: UrlFacts, site: SiteFacts) -> str:
    if facts.before == 0:
        if site.leased:
            return f"it is next, and its site is being visited by {site.holder or 'a process'} now"
        when = f"in {span(site.ready_in_s)}" if site.ready_in_s > 0 else "any moment"
        return f"it is the next of its site, which may be visited {when}"
    many = f"{facts.before:,}" + (" or more" if facts.before >= COUNTED_BEFORE else "")
    return f"{many} URLs of {site.site} go before it, one every delay"


def _forbidden(robots: RobotsWord) -> str:
    if robots.state is RobotsState.UNREACHABLE:
        return "robots.txt of its origin could not be read, which means no until it can"
    return f"robots.txt forbids it ({robots.says}), and it is settled so when its turn comes"
