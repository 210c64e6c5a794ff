"""What limits the rate now: one word, one sentence, and what to do about it. A pure function of two
snapshots some seconds apart, so that terminal and dashboard say the same.

The order of the questions is the answer's order of certainty: a person who paused it, a service
that fails, a process that is late, slots that are all taken, and only then the usual case, in
which everything waits politely.
"""

from dataclasses import dataclass
from enum import StrEnum

from mannerly.observe.snapshot import Snapshot
from mannerly.observe.strain import MEMORY

BUSY_SHARE = 0.85
"""Of the time, from which on somebody is at work all the time."""
FULL_SHARE = 0.9
"""Of the slots, from which on they are all taken: some are always being refilled."""
LATE_S = 0.5
"""A lag of the event loop that is felt."""
DNS_SHARE = 0.4
"""Of a request's time spent on the name, from which on that is what it waits for."""


class Limit(StrEnum):
    PERSON = "paused"
    ENDING = "ending"
    TROUBLE = "trouble"
    CPU = "cpu"
    MEMORY = "memory"
    DATABASE = "database"
    DISK = "disk"
    DNS = "dns"
    NETWORK = "network"
    POLITENESS = "politeness"
    NOTHING_LEFT = "nothing left"
    UNKNOWN = "not known yet"


@dataclass(frozen=True, slots=True)
class Verdict:
    limit: Limit
    because: str
    """One sentence with the figures that it was judged by."""
    advice: str
    """What could be done; '' if nothing should be."""


def verdict(before: Snapshot, now: Snapshot) -> Verdict:
    """Why it is not faster, by what happened between the two."""
    if now.ending:
        return Verdict(Limit.ENDING, f"{now.ending}.", "")
    if now.trouble:
        return Verdict(
            Limit.TROUBLE,
            f"Paused until this works again: {now.trouble}",
            "Mend it; nothing is lost, and the crawl goes on by itself.",
        )
    if now.paused:
        return Verdict(Limit.PERSON, "Somebody paused the crawl.", "Press Go on.")
    span_s = now.elapsed_s - before.elapsed_s
    if span_s <= 0:
        return Verdict(Limit.UNKNOWN, "It has just begun.", "")
    return _own_work(before, now, span_s) or _slots(before, now) or _waiting(now)


def _own_work(before: Snapshot, now: Snapshot, span_s: float) -> Verdict | None:
    """Is one of our own threads at work all the time?"""
    if now.visit_limit < now.workers and now.limited_by == MEMORY:
        return Verdict(
            Limit.MEMORY,
            f"Memory is near its limit, so only {now.visit_limit:,} of {now.workers:,} visits are "
            "made at once.",
            "A higher --memory-limit, or fewer workers.",
        )
    if now.visit_limit < now.workers:
        # The limit rises again slowly, when the loop has been in time for a while.
        late = f"is late by {now.lag_s:.1f} s" if now.lag_s >= LATE_S else "was late"
        return Verdict(
            Limit.CPU,
            f"The event loop {late}, so only {now.visit_limit:,} of {now.workers:,} visits are "
            "made at once.",
            "More processes or a faster machine; fewer workers if it stays late.",
        )
    busy = _stage_share(before, now, span_s, "fetch") + _stage_share(before, now, span_s, "parse")
    share = busy / max(1, now.processes)
    if share >= BUSY_SHARE:
        return Verdict(
            Limit.CPU,
            f"Fetching and parsing use {share:.0%} of a core in each process.",
            "More processes (one a core) make it faster.",
        )
    if now.lag_s >= LATE_S:
        return Verdict(
            Limit.CPU,
            f"The event loop is late by {now.lag_s:.1f} s, with {share:.0%} of a core in use: "
            "others take the CPU.",
            "See what else runs on this machine.",
        )
    database = (now.database_s - before.database_s) / span_s
    disk = (now.store_s - before.store_s) / span_s
    if max(database, disk) < BUSY_SHARE:
        return None
    if database >= disk:
        return Verdict(
            Limit.DATABASE,
            f"The frontier's database is at work {database:.0%} of the time.",
            "A faster disk, or PostgreSQL; see the operations below.",
        )
    return Verdict(
        Limit.DISK,
        f"Writing pages to disk takes {disk:.0%} of the time.",
        "A faster disk for the data directory.",
    )


def _stage_share(before: Snapshot, now: Snapshot, span_s: float, stage: str) -> float:
    return (now.cpu_s.get(stage, 0.0) - before.cpu_s.get(stage, 0.0)) / span_s


def _slots(before: Snapshot, now: Snapshot) -> Verdict | None:
    """Are all of them taken?"""
    if not now.workers or now.in_flight < FULL_SHARE * now.visit_limit:
        return None
    lately = now.durations.since(before.durations)
    mean_s = lately.total_s / lately.count if lately.count else 0.0
    dns_s = (now.dns_s - before.dns_s) / lately.count if lately.count else 0.0
    if dns_s > DNS_SHARE * (mean_s + dns_s) and dns_s > 0:
        return Verdict(
            Limit.DNS,
            f"All {now.workers:,} slots are taken, and a page waits {dns_s:.2f} s for its name.",
            "A resolver that is near and caches (--resolver).",
        )
    answers = f"a request takes {mean_s:.2f} s" if lately.count else "nobody has answered lately"
    return Verdict(
        Limit.NETWORK,
        f"All {now.workers:,} slots are taken; {answers}.",
        "More workers, as long as CPU and line have room.",
    )


def _waiting(now: Snapshot) -> Verdict:
    counts = now.counts
    resting = max(0, counts.sites_waiting - now.in_flight)
    if not resting and now.in_flight:
        return Verdict(
            Limit.NETWORK,
            f"All sites that have work are being visited: {now.in_flight:,}.",
            "Nothing: more sites make it faster.",
        )
    free = max(0, now.visit_limit - now.in_flight)
    if not counts.sites_ready and not counts.sites_waiting and not now.in_flight:
        return Verdict(Limit.NOTHING_LEFT, "No site has anything left to visit.", "")
    return Verdict(
        Limit.POLITENESS,
        f"{free:,} of {now.workers:,} slots are free, and {resting:,} "
        f"{'site rests' if resting == 1 else 'sites rest'} until the delay has passed.",
        "Nothing: this is what politeness looks like. More sites make it faster.",
    )
