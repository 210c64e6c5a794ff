"""From a story to sentences: the answer first, then the reasons. Pure.

The order in which the answer is looked for: what became of the URL, where it waits, and only for a
URL that nobody has met, which rule keeps it out. So the first line never names a rule that did not
decide.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mannerly.explaining.document import document_of
from mannerly.explaining.settled import settled_answer
from mannerly.explaining.story import Story
from mannerly.explaining.waiting import spilt_answer, waiting_answer
from mannerly.explaining.when import ago, span
from mannerly.model import SITEMAPS, RobotsState, SiteState, Source, UrlState
from mannerly.url import LeftOut


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL was crawled or not."""

    url: str
    """Canonical; '' if what was given is not a URL."""
    answer: str
    """One sentence."""
    reasons: tuple[str, ...]
    """Further sentences, the most telling first."""
    document: dict[str, object]
    """All of it, for programs; everything in it can be written as JSON."""

    def __str__(self) -> str:
        return "\n".join([self.answer, *(f"  {reason}" for reason in self.reasons)])


def explanation(story: Story) -> Explanation:
    if not story.url:
        answer = f"It cannot be crawled: {story.given!r} is not a web address ({story.problem})."
        return Explanation("", answer, (), document_of(story, answer))
    answer = _answer(story)
    return Explanation(story.url, answer, tuple(_reasons(story)), document_of(story, answer))


def _answer(story: Story) -> str:
    facts = story.facts
    if facts is None:
        return _without_frontier(story)
    match facts.state:
        case UrlState.SETTLED:
            return settled_answer(story, facts.outcome.name.lower())
        case UrlState.PENDING:
            return waiting_answer(story)
        case UrlState.SPILT:
            return spilt_answer(story)
        case UrlState.UNKNOWN:
            return f"It was not crawled: {_why_unknown(story)}."


def _without_frontier(story: Story) -> str:
    if story.fetches:
        return settled_answer(story, str(story.fetches[-1]["outcome"]))
    return "It is not in the store; whether it waits cannot be told without the frontier."


def _why_unknown(story: Story) -> str:
    """Why the frontier has never accepted it: the first rule that is sure, else what is likely."""
    facts = story.facts
    site = facts.site if facts is not None else None
    if story.excluded_by:
        return f"the exclusion list says no ({story.excluded_by})"
    if site is not None and site.state is SiteState.EXCLUDED:
        return f"its site {story.site} is excluded from this crawl"
    if story.trap:
        return f"it looks like a trap ({story.trap}), and such links are not followed"
    if story.closed is not None:
        return (
            f"pages like it ({story.closed.pattern}) gave nothing new, so that links to them are "
            f"left out since {story.closed.pages:,} were read"
        )
    if not story.scope.follow:
        return "only the seeds are fetched in this crawl, and it is not one of them"
    if site is None and story.scope.seeded_sites:
        return f"it is out of scope: {story.site} is not the site of a seed"
    if site is not None and site.dropped:
        return (
            f"it is not known; it may be one of the {site.dropped:,} URLs of {story.site} that "
            "were dropped because the site has as many as it may have"
        )
    if site is None:
        return f"nobody has named it so far: no seed and no crawled page leads to {story.site}"
    depth = story.scope.max_depth
    within = f", at most {depth} links away from a seed" if depth >= 0 else ""
    sitemap = ", no sitemap" if story.scope.sitemaps else ""
    return (
        f"nobody has named it so far: no seed, no redirect{sitemap} and no link of a crawled page"
        f"{within}"
    )


def _reasons(story: Story) -> Iterator[str]:
    if story.url != story.given:
        yield f"Its canonical form is {story.url}."
    yield f"Its site is {story.site}{_site_state(story)}."
    if story.excluded_by:
        yield f"The exclusion list covers it: {story.excluded_by}."
    if story.trap:
        yield f"It looks like a trap: {story.trap}. Links to it are not followed, a seed would be."
    yield from _scope(story)
    yield from _left_out(story)
    yield _robots(story)
    yield from _how_it_came(story)
    yield from _clock(story)
    yield from story.gaps


def _site_state(story: Story) -> str:
    site = story.facts.site if story.facts is not None else None
    if site is None:
        return "" if story.facts is None else ", which the crawl has not met"
    counts = f"{site.pages:,} pages fetched, {site.pending:,} URLs waiting"
    if site.spilt:
        counts += f", {site.spilt:,} spilt"
    if site.dropped:
        counts += f", {site.dropped:,} dropped"
    match site.state:
        case SiteState.EXCLUDED:
            return f", which is excluded ({counts})"
        case SiteState.ABANDONED:
            return f", which was abandoned after {site.failures} failures in a row ({counts})"
        case SiteState.OPEN:
            return f" ({counts})"


def _scope(story: Story) -> Iterator[str]:
    if not story.scope.follow:
        yield "Links are not followed in this crawl (--seeded-urls-only)."
    elif story.scope.seeded_sites:
        known = story.facts is not None and story.facts.site is not None
        inside = "it is" if known else "it is not"
        yield f"Only sites of seeds are in scope (--scope seeded-sites): {inside} on one."
    else:
        yield "All sites are in scope."
    if story.scope.follow and story.scope.max_depth >= 0:
        yield f"Links are followed up to {story.scope.max_depth} steps from a seed (--max-depth)."


_ONLY_OVER_MANY = (LeftOut.VARIANTS, LeftOut.YIELD, LeftOut.DEPTH, LeftOut.FOREIGN)
"""Causes that do not show in the URL alone."""


def _left_out(story: Story) -> Iterator[str]:
    """Of a URL that nobody knows: why a link to it may not have been followed."""
    if story.facts is None or story.facts.state is not UrlState.UNKNOWN or story.closed:
        return
    for cause in _ONLY_OVER_MANY:
        may_be = "?" in story.url or cause is not LeftOut.VARIANTS
        if may_be and (count := story.left_out[cause]):
            yield f"The last run left out {count:,} links ({cause}): it may be one of them."


def _robots(story: Story) -> str:
    robots = story.robots
    if robots is None:
        return "robots.txt of its origin has not been read; it is, before any page is asked for."
    read = f"read {ago(robots.age_s)}"
    if robots.state is RobotsState.UNREACHABLE:
        if robots.given_up:
            then = "which means no until the record is too old to be believed"
        elif robots.retry_in_s > 0:
            then = f"which means no; it is asked again in {span(robots.retry_in_s)}"
        else:
            then = "which means no; it is asked again at the next visit"
        return f"robots.txt could not be read ({robots.failures} times in a row), {then}."
    old = "; it is read again before the next page" if robots.stale else ""
    if robots.state is RobotsState.ABSENT:
        return f"There is no robots.txt at its origin ({read}){old}: everything is allowed."
    verb = "allows" if robots.allowed else "forbids"
    if not robots.line:
        return f"robots.txt ({read}){old} allows it: no rule matches."
    return f"robots.txt ({read}){old} {verb} it, by line {robots.line}: {robots.text}"


_REPEATS = {
    "exact": "It repeats {}: both have the same content.",
    "near": "It repeats {}: both have nearly the same text.",
    "canonical": "It says that it is a copy: it names {} as canonical.",
}


def _how_it_came(story: Story) -> Iterator[str]:
    for row in story.redirected_from:
        why = f", but it was not followed: {row['detail']}" if row["detail"] else ""
        yield f"{row['url']} redirects to it (status {row['status']}){why}."
    queued = story.facts.queued if story.facts is not None else None
    if queued is not None and queued.source in SITEMAPS:
        yield "It is a sitemap: it is read for what it lists, before pages."
    elif queued is not None and queued.source == Source.LISTED:
        yield f"A sitemap names it: {story.referrer or 'one of its site'}."
    elif story.referrer:
        yield f"It was named first by {story.referrer}."
    page = story.page
    if page is not None and page["duplicate"]:
        other = story.repeats or "a page of its site that is not in this store"
        yield _REPEATS[str(page["duplicate"])].format(other)
    if story.twin and story.twin != story.repeats:
        yield f"Its body is the same, byte for byte, as that of {story.twin}."


def _clock(story: Story) -> Iterator[str]:
    site = story.facts.site if story.facts is not None else None
    if site is None or site.state is not SiteState.OPEN:
        return
    if site.leased:
        yield (
            f"The site is leased by {site.holder or 'a process'}; the lease lapses in "
            f"{span(site.ready_in_s)} if it is not given back before."
        )
    elif site.ready_in_s > 0:
        yield f"The site may be visited again in {span(site.ready_in_s)}."
    elif site.pending or site.spilt:
        yield f"The site has been ready for {span(-site.ready_in_s)}."
    if site.delay_s:
        yield f"The site asks for {span(site.delay_s)} between two visits."
    if site.failures:
        many = f"{site.failures} visits" if site.failures > 1 else "visit"
        yield f"The last {many} to the site failed."
