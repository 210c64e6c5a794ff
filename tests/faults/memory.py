"""Many large pages at once under `--memory-limit`: how much memory the crawler takes."""

import time
from contextlib import suppress
from typing import NamedTuple

from mannerly.observe import operations
from mannerly.selftest import Finding
from mannerly.simweb.spec import preset
from tests.faults.crawl import Crawl
from tests.faults.ground import SEED, Tell, ground
from tests.faults.verdict import Verdict, judged
from tests.soak.samples import resident, resident_most

ALLOWED = 1.25
"""It is looked at once a second, and what is in flight then is still read to its end."""
SAMPLE_S = 0.2
TELL_EVERY_S = 15.0
NO_LIMIT = 10**9


class Watched(NamedTuple):
    peak: int
    """The most memory that it had, as the kernel kept it."""
    peak_after_s: float
    over_s: float
    """How long it had more than its limit."""
    least_limit: int
    """Visits that were allowed at once when memory was shortest."""
    least_seats: int


def play(limit: int, sites: int, workers: int, tell: Tell) -> Verdict:
    """`limit` in bytes; 0 for none."""
    spec = preset("plain", seed=SEED, sites=sites, pages_mean=3.0, pages_max=6, https=0.0,
                  body_mean=300_000, body_spread=0.1, body_max=500_000, latency_s=0.2)  # fmt: skip
    with ground(spec, {}) as there:
        crawl = there.crawl("a", max_workers=str(workers), memory_limit=str(limit), delay="500ms")
        there.start(crawl)
        seen = _watched(crawl, limit, tell)
        there.until_over()
        wrong = []
        if limit and seen.peak > ALLOWED * limit:
            wrong = [f"{seen.peak / 2**20:.0f} MiB, and the limit is {limit / 2**20:.0f}"]
        if limit and seen.least_limit >= workers:
            wrong.append("as many visits as ever were made at once: it was never short")
        tell(f"at most {seen.peak / 2**20:.0f} MiB, after {seen.peak_after_s:.0f} s")
        looked_at = f"{seen.peak / 2**20:.0f} MiB at most"
        return judged(
            there.trial(), there.web.homes(),
            [Finding("memory stays near its limit", looked_at, wrong)],
            limit_mib=limit // 2**20,
            peak_mib=round(seen.peak / 2**20),
            peak_after_s=round(seen.peak_after_s, 1),
            over_the_limit_s=round(seen.over_s, 1),
            workers=workers,
            least_visit_limit=seen.least_limit,
            least_workbench_beside_it=seen.least_seats,
        )  # fmt: skip


def _watched(crawl: Crawl, limit: int, tell: Tell) -> Watched:
    """Until it is over."""
    peak = now = 0
    peak_after_s = over_s = told_s = 0.0
    least = (NO_LIMIT, 0)
    began_s = time.monotonic()
    while not crawl.over():
        passed_s = time.monotonic() - began_s
        with suppress(FileNotFoundError, ProcessLookupError, IndexError, ValueError):  # it ends
            now, most = resident(crawl.pid), resident_most(crawl.pid)
            if most > peak:
                peak, peak_after_s = most, passed_s
        over_s += SAMPLE_S * bool(limit and now > limit)
        for process in operations.read(crawl.data):
            strain = process.strain
            least = min(least, (strain.visit_limit or NO_LIMIT, strain.seats))
            if passed_s > told_s + TELL_EVERY_S:
                told_s = passed_s
                tell(
                    f"{process.pages:,} pages, {now / 2**20:.0f} MiB (at most {peak / 2**20:.0f}), "
                    f"{strain.in_flight} of {strain.visit_limit} in flight, {strain.seats} waiting"
                )
        time.sleep(SAMPLE_S)
    return Watched(peak, peak_after_s, over_s, *least)
