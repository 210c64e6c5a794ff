"""The verdict on a soak: what is flat, what is bounded, and whether everybody was treated well."""

from mannerly.config import build
from mannerly.engine.checkpoint import BACKLOG_BATCHES
from mannerly.engine.overload import SEATS_PER_WORKER
from mannerly.selftest import Finding, spaced
from mannerly.simweb import judge
from mannerly.simweb.access import AccessRecord
from tests.faults.verdict import Verdict
from tests.programs import mannerly
from tests.soak.crawling import DELAY_S, ENDS_WITHIN_S, PROCESSES, Soaked
from tests.soak.flatness import ALLOWED, growth, slope
from tests.soak.samples import Sample

FLAT = ("rss", "own", "descriptors", "threads")
CONFIG = build({"email": "soak@example.org"})
BOUNDS = {
    "in_flight": CONFIG.fetch.max_workers,
    "seats": SEATS_PER_WORKER * CONFIG.fetch.max_workers,
    "unsettled": BACKLOG_BATCHES * CONFIG.engine.checkpoint_pages * PROCESSES,
    "journal": 2 * CONFIG.engine.segment_size * PROCESSES,
}
"""What the options allow: a segment that is being written and one that is being rolled."""
LEAST_PAGES_PER_S = 15.0
"""With less it was no crawl: the web or the machine was in the way."""
MINUTE_S = 60.0


def judged(seen: Soaked, minutes: float) -> Verdict:
    checked = mannerly("check", "--data-dir", str(seen.data), timeout_s=600)
    records = seen.web.records()
    findings = [
        *(_flat(seen.samples, name) for name in FLAT),
        *(_bounded(seen.samples, name, most) for name, most in BOUNDS.items()),
        _lasted(seen, minutes),
        *_manners(seen, records),
        Finding(
            "frontier and store agree",
            "mannerly check",
            checked.stdout.splitlines()[-20:] if checked.returncode else [],
        ),
    ]
    return Verdict(findings, _figures(seen, records, findings))


def _flat(samples: list[Sample], name: str) -> Finding:
    share = growth([getattr(it, name) for it in samples])
    wrong = [f"it grew by {share:.1%}, and {ALLOWED:.0%} is allowed"] if share > ALLOWED else []
    return Finding(f"flat: {name}", f"{share:+.1%}", wrong)


def _bounded(samples: list[Sample], name: str, most: int) -> Finding:
    largest = max(getattr(it, name) for it in samples)
    wrong = [f"{largest:,} of {most:,}"] if largest > most else []
    return Finding(f"bounded: {name}", f"{largest:,} of {most:,}", wrong)


def _lasted(seen: Soaked, minutes: float) -> Finding:
    wrong = []
    if seen.ended_early:
        wrong.append(f"it ended before its time: {seen.said.strip().splitlines()[-1:]}")
    if seen.code != 0:
        wrong.append(f"it ended with code {seen.code}")
    if seen.took_to_end_s > ENDS_WITHIN_S:
        wrong.append(f"it took {seen.took_to_end_s:.1f} s to end")
    if len({it.pids for it in seen.samples}) != 1:
        wrong.append("a process died and was replaced")
    rate = _rate(seen.samples)
    if rate < LEAST_PAGES_PER_S:
        wrong.append(f"{rate:.1f} pages/s are no crawl")
    return Finding("it crawls all the time", f"{minutes:g} minutes, {rate:.1f}/s", wrong)


def _manners(seen: Soaked, records: list[AccessRecord]) -> list[Finding]:
    web = seen.web.web
    breaks = {records[0].user_agent: seen.stood_still}
    wrong = [*judge.pages_before_robots(records), *judge.disallowed_requests(web, records)]
    return [
        spaced(web, records, DELAY_S, breaks),
        Finding("robots.txt is obeyed", f"{len(records):,} requests", [it.what for it in wrong]),
    ]


def _rate(samples: list[Sample]) -> float:
    first, last = samples[0], samples[-1]
    return (last.pages - first.pages) / (last.at - first.at)


def _figures(
    seen: Soaked, records: list[AccessRecord], findings: list[Finding]
) -> dict[str, object]:
    samples = seen.samples
    first, last = samples[0], samples[-1]
    times = [it.at for it in samples]
    an_hour = {
        name: slope(times, [getattr(it, name) for it in samples]) * 3600 for name in (*FLAT, "disk")
    }
    return {
        "minutes": round((last.at - first.at) / MINUTE_S, 1),
        "processes": PROCESSES,
        "pages": last.pages,
        "pages_per_s": round(_rate(samples), 1),
        "requests": len(records),
        "asked_again": len(judge.fetched_twice(records)),
        "cores": round((last.cpu_s - first.cpu_s) / (last.at - first.at), 3),
        "cpu_ms_per_page": round(1000 * (last.cpu_s - first.cpu_s) / (last.pages - first.pages), 2),
        "grew": {name: round(growth([getattr(it, name) for it in samples]), 4) for name in FLAT},
        "allowed_to_grow": ALLOWED,
        "slope_an_hour": {
            "rss_mib": round(an_hour["rss"] / 2**20, 2),
            "own_mib": round(an_hour["own"] / 2**20, 2),
            "descriptors": round(an_hour["descriptors"], 2),
            "threads": round(an_hour["threads"], 2),
            "disk_mib": round(an_hour["disk"] / 2**20, 1),
        },
        "most": {name: max(getattr(it, name) for it in samples) for name in (*FLAT, *BOUNDS)},
        "stood_still_s": round(sum(it.to_at - it.from_at for it in seen.stood_still), 1),
        "took_to_end_s": round(seen.took_to_end_s, 2),
        "a_sample_a_minute": _table(samples),
        "guarantees": [
            {"what": what, "looked_at": looked_at, "violations": len(violations)}
            for what, looked_at, violations in findings
        ],
    }


def _table(samples: list[Sample]) -> list[str]:
    """A line each, so that the file can be read."""
    lines = ["minute, pages, RSS MiB, own MiB, descriptors, threads, in flight, seats, unsettled, "
             "journal MiB, disk MiB"]  # fmt: skip
    shown_at = samples[0].at
    for it in samples:
        if it.at < shown_at:
            continue
        shown_at += MINUTE_S
        lines.append(
            f"{(it.at - samples[0].at) / MINUTE_S:.0f}, {it.pages}, {it.rss / 2**20:.1f}, "
            f"{it.own / 2**20:.1f}, {it.descriptors}, {it.threads}, {it.in_flight}, {it.seats}, "
            f"{it.unsettled}, {it.journal / 2**20:.1f}, {it.disk / 2**20:.0f}"
        )
    return lines
