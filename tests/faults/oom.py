"""The kernel kills a crawl process because memory is short, again and again."""

import time

from mannerly.selftest import Finding
from mannerly.simweb.spacing import Break
from tests.faults.cage import Cage
from tests.faults.crawl import Crawl, wait_until
from tests.faults.ground import Ground, Tell, database, ground, web_of
from tests.faults.verdict import Verdict, judged

LATENCY_S = 0.3
WORKERS = 40
ROOM = 1_000_000_000
"""Three times what the crawl takes: only what is put beside it makes memory short."""


def play(engine: str, kills: int, pages: int, tell: Tell) -> Verdict:
    with (
        database(engine) as where,
        ground(web_of(pages, latency_s=LATENCY_S), where) as there,
        Cage(ROOM) as cage,
    ):
        options = {"processes": "2", "max_workers": str(WORKERS)}
        crawl = Crawl("a", there.folder, there.shared() | options, inside=cage.inside)
        there.crawls.append(crawl)
        there.start(crawl)
        while cage.kills() < kills:
            crawl.until_written()
            there.until_more(pages // (2 * kills))
            if crawl.over():
                break
            _squeeze(there, crawl, cage)
            tell(f"{cage.kills()} processes killed for want of memory")
        there.faults = cage.kills()
        there.until_over()
        few = [f"the crawl was over after {there.faults}"] if there.faults < kills else []
        more = [Finding("the kernel killed", f"{there.faults} processes", few)]
        return judged(there.trial(), there.web.homes(), more, engine=engine)


def _squeeze(there: Ground, crawl: Crawl, cage: Cage) -> None:
    """Until one more process of the crawl is dead, and another one is there."""
    before, known = cage.kills(), set(crawl.children())
    squeezed_at = time.time()
    hog = cage.fill()
    try:
        wait_until(lambda: cage.kills() > before)
    finally:
        hog.kill()
        hog.wait()
    if crawl.over():
        crawl.kill()
        there.start(crawl)
    else:
        crawl.until(lambda: bool(set(crawl.children()) - known))
        crawl.breaks.append(Break(squeezed_at, time.time()))
