"""The verdict on a trial: that of `mannerly selftest`, and what more is known here.

Here every page that there is can be read in the end, so the set of stored pages must be exactly
that. And the crawlers are told apart by their user agents, so it is seen whose answer was stored.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mannerly.selftest import Finding, Trial
from mannerly.selftest import judge as judge_trial
from mannerly.simweb import judge
from mannerly.simweb.reach import reachable
from mannerly.store.read import open_store
from tests.crash.test_spacing import is_page

SHOWN = 5


class Verdict(NamedTuple):
    findings: list[Finding]
    figures: dict[str, object]

    @property
    def held(self) -> bool:
        return not any(finding.violations for finding in self.findings)

    def text(self) -> str:
        lines = []
        for what, looked_at, violations in self.findings:
            verdict = f"VIOLATED, {len(violations)} times" if violations else "ok"
            lines.append(f"{what:36}  {looked_at:>24}  {verdict}")
            lines += [f"    {violation}" for violation in violations[:SHOWN]]
        return "\n".join(lines)


def judged(
    trial: Trial, homes: Sequence[str], more: Sequence[Finding] = (), **figures: object
) -> Verdict:
    """`more`: what the fault at hand must show besides."""
    findings = [*judge_trial(trial), all_pages(trial, homes), no_stale_result(trial), *more]
    told: dict[str, object] = {
        "faults": trial.kills,
        "requests": len(trial.records),
        "asked_again": len(judge.fetched_twice(trial.records)),
        "took_s": round(trial.took_s, 1),
        "longest_silence_s": round(longest_silence_s(trial), 1),
        **figures,
        "guarantees": [
            {"what": what, "looked_at": looked_at, "violations": len(violations)}
            for what, looked_at, violations in findings
        ],
    }
    return Verdict(findings, told)


def longest_silence_s(trial: Trial) -> float:
    """In which nobody asked for anything."""
    starts = sorted(record.start for record in trial.records)
    return max((after - before for before, after in pairwise(starts)), default=0.0)


def all_pages(trial: Trial, homes: Sequence[str]) -> Finding:
    expected = {url for url in reachable(trial.web, homes) if is_page(trial.web, url)}
    with open_store(trial.data_dirs) as store:
        stored = {url for (url,) in store.execute("SELECT url FROM pages").fetchall()}
        asked = store.execute("SELECT url, outcome, tries FROM fetches").fetchall()
    became = {url: f"{outcome} after {tries} tries" for url, outcome, tries in asked}
    wrong = [
        f"{url} is not stored: {became.get(url, 'never settled')}"
        for url in sorted(expected - stored)
    ]
    wrong += [f"{url} is stored and not to be found" for url in sorted(stored - expected)]
    return Finding("the pages are all there are", f"{len(expected):,} pages", wrong)


def no_stale_result(trial: Trial) -> Finding:
    """Of several answers to one URL the last one counts: it was asked for again because the lease
    under which the others came had lapsed."""
    last = {}
    asked: dict[str, set[str]] = {}
    for record in trial.records:
        if record.status == 200 and record.sent_whole and record.path != judge.ROBOTS:
            last[record.url] = record.user_agent
            asked.setdefault(record.url, set()).add(record.user_agent)
    contested = {url for url, agents in asked.items() if len(agents) > 1}
    wrong = []
    for data in trial.data_dirs:
        with open_store(data) as store:
            stored = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
        owner = f"mannerly/{data.name}"
        wrong += [
            f"{url} is stored by {owner}, and the last who asked was {last[url]}"
            for url in stored
            if url in contested and last[url] != owner
        ]
    return Finding("no stale result is accepted", f"{len(contested):,} asked by two", wrong)
