"""The verdict on a trial: from the web server's log and the store, not from what a crawler says."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mannerly.selftest.trial import DELAY_S, Trial
from mannerly.simweb import judge as manners
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.answer import Kind
from mannerly.simweb.judge import ROBOTS, Gap, Required, Violation
from mannerly.simweb.spacing import Break, Spacing
from mannerly.simweb.web import Web
from mannerly.store.read import open_store
from mannerly.url import SiteKey


class Finding(NamedTuple):
    """One guarantee."""

    what: str
    looked_at: str
    """How much evidence there was."""
    violations: list[str]


def judge(trial: Trial) -> list[Finding]:
    with open_store(trial.data_dirs) as store:
        fetches = store.execute("SELECT url, outcome, status FROM fetches").fetchall()
        pages = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    expected = _named(trial.web, fetches)
    told = Counter(url for url, _, _ in fetches)
    stored = Counter(pages)
    answered = {url for url, outcome, status in fetches if outcome == "fetched" and status == 200}
    sent = {record.url for record in trial.records if record.status == 200}
    lost = [f"{url} is told of nowhere" for url in sorted(expected - told.keys())]
    missing = [
        f"{url} was fetched and is not stored"
        for url in sorted(answered - stored.keys())
        if _is_page(trial.web, url)
    ]
    twice = [f"{url}: {n} times" for some in (told, stored) for url, n in some.items() if n > 1]
    made_up = [f"{url} is stored and was never sent" for url in sorted(stored.keys() - sent)]
    return [
        Finding("no URL is lost", f"{len(expected):,} URLs", lost),
        Finding("every page is stored, once", f"{len(pages):,} pages", missing + twice + made_up),
        spaced(trial.web, trial.records, DELAY_S, trial.breaks),
        Finding(
            "robots.txt is obeyed",
            f"{len(trial.records):,} requests",
            [
                *map(_told, manners.pages_before_robots(trial.records)),
                *map(_told, manners.disallowed_requests(trial.web, trial.records)),
            ],
        ),
        Finding(
            "every crawler came to its end", f"{trial.terms.crawlers} crawlers", trial.failures
        ),
        Finding("frontier and store agree", "mannerly check", trial.problems),
    ]


def _named(web: Web, fetches: list[tuple[str, str, int]]) -> set[str]:
    """The seeds, and whatever the pages and redirects that were read lead to. (Not all that is
    reachable: of a hostile web some pages can never be read to their end.)"""
    read = [url for url, outcome, _ in fetches if outcome in {"fetched", "redirected"}]
    seeds = {web.home(number) for number in range(web.spec.sites)}
    return seeds.union(*(web.links(url) for url in read))


def _is_page(web: Web, url: str) -> bool:
    answer = web.answer(url, attempt=100)
    return answer.kind in {Kind.PAGE, Kind.BUSY, Kind.ENCODED} and not answer.noindex


def spaced(
    web: Web,
    records: Iterable[AccessRecord],
    delay_s: float,
    breaks: Mapping[str, Sequence[Break]],
) -> Finding:
    """Between any two visits lies what the web and the crawl's delay ask for."""
    spacing = Spacing(web, delay_s, breaks)
    found = manners.visits(records, SiteKey().site_of)

    def required(gap: Gap) -> Required:
        last = gap.before.requests[-1]
        if last.path == ROBOTS and not (last.sent_whole and 200 <= last.status < 500):
            # Nobody could read what pause it would have asked for.
            return Required(delay_s, from_start=True)
        return spacing.required(gap)

    violations = [_told(it) for it in manners.early(found, required)]
    gaps = sum(len(of_site) - 1 for of_site in found.values())
    return Finding("no visit comes early", f"{gaps:,} gaps", violations)


def _told(violation: Violation) -> str:
    return violation.what
