"""SIGSTOP for twice as long as a lease lasts: others take the sites over, and what was in flight
is stale when the process wakes.

A lease lasts more than a minute, so several crawlers are stopped at the same time, in rounds. The
first one is always awake, to take over what they hold.

A pause proves something only where its crawler comes back with leases that are somebody else's by
then, and is refused. That is demanded of three quarters of them, each by what its crawler says: one
that held nothing when it was stopped has nothing to be refused.
"""

import random
import time
from contextlib import suppress

from mannerly.datadir import FRONTIER
from mannerly.selftest import Finding
from tests.faults.crawl import LEASE_S, Crawl
from tests.faults.ground import SEED, Ground, Tell, database, ground, web_of
from tests.faults.verdict import Verdict, judged

PAUSE_S = 2 * LEASE_S
LATENCY_S = 0.4
WORKERS = 4
"""For each: about 10 requests a second at most. The one that is awake must not come to the end."""
PAGES_PER_ROUND = 3000
PER_SITE = 30
"""So there are few sites, and who is awake comes to those that the others hold when their leases
have lapsed. With a thousand sites it never did: others had been ready for longer."""
STALE_SHARE = 0.75
REFUSED = "were refused; their work is void"
"""What a crawler says then."""
REFUSED_WITHIN_S = 20.0


def play(engine: str, count: int, crawlers: int, tell: Tell) -> Verdict:
    chance = random.Random(SEED)
    rounds = -(-count // (crawlers - 1))
    spec = web_of(rounds * PAGES_PER_ROUND, latency_s=LATENCY_S, per_site=PER_SITE)
    with database(engine) as where, ground(spec, where) as there:
        for number in range(crawlers):
            there.crawl(f"c{number}", max_workers=str(WORKERS))
        there.start_all()
        sleepers = there.crawls[1:]
        stale = 0
        while there.faults < count and not there.any_over():
            for crawl in sleepers:
                crawl.until_written()
            stopped = [_stop(there, crawl, chance) for crawl in sleepers[: count - there.faults]]
            there.faults += len(stopped)
            tell(f"{there.faults} pauses, {there.requests():,} requests so far")
            for crawl, until_at in stopped:
                time.sleep(max(0.0, until_at - time.monotonic()))  # what the fault is
                crawl.go_on()
            stale += sum(_comes_back_stale(crawl) for crawl, _ in stopped)
            tell(f"{stale} of them came back with stale leases and were refused")
        there.until_over()
        refused = there.refused()
        trial = there.trial()
        short = [f"the crawl was over after {there.faults}"] if there.faults < count else []
        few = f"{stale} of {there.faults} pauses led to a refusal"
        unseen = [] if stale >= STALE_SHARE * count and refused else [few]
        more = [
            Finding("as many pauses as wanted", f"{there.faults} of {PAUSE_S:.0f} s", short),
            Finding("stale leases are refused", f"{refused} of {stale} pauses", unseen),
        ]
        return judged(
            trial, there.web.homes(), more,
            engine=engine, crawlers=crawlers, pause_s=PAUSE_S, lease_s=LEASE_S, refused=refused,
            pauses_that_were_refused=stale,
        )  # fmt: skip


def _stop(there: Ground, crawl: Crawl, chance: random.Random) -> tuple[Crawl, float]:
    time.sleep(chance.uniform(0.0, 0.5))  # any moment
    # Not within a turn at SQLite's file, which nobody else could take then.
    crawl.stop(list(there.crawls[0].data.glob(f"{FRONTIER}.*")))
    return crawl, time.monotonic() + PAUSE_S


def _comes_back_stale(crawl: Crawl) -> bool:
    """Whether it is refused after it woke, which it learns with its next checkpoints."""
    with suppress(TimeoutError):
        crawl.until(lambda: crawl.said().count(REFUSED) > crawl.refusals, REFUSED_WITHIN_S)
    before, crawl.refusals = crawl.refusals, crawl.said().count(REFUSED)
    return crawl.refusals > before
