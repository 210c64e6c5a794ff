"""kill -9 again and again: of one crawl process twice, then of all with their parent, and so on."""

import random
import time

from mannerly.selftest import Finding
from tests.faults.ground import SEED, Tell, database, ground, web_of
from tests.faults.verdict import Verdict, judged

LATENCY_S = 0.3
WORKERS = 40
"""With that latency about 130 requests a second at most: the crawl outlasts its kills."""


def play(engine: str, kills: int, pages: int, tell: Tell) -> Verdict:
    chance = random.Random(SEED)
    children = 0
    spec = web_of(pages, latency_s=LATENCY_S)
    with database(engine) as where, ground(spec, where) as there:
        crawl = there.crawl("a", processes="2", max_workers=str(WORKERS))
        there.start(crawl)
        while there.faults < kills:
            crawl.until_written()
            there.until_more(pages // (2 * kills))
            time.sleep(chance.uniform(0.0, 0.5))  # any moment
            if crawl.over():
                break
            if there.faults % 3 < 2 and len(crawl.children()) > 1:
                crawl.kill_child(chance)
                children += 1
            else:
                crawl.kill()
                there.start(crawl)
            there.faults += 1
            tell(f"kill {there.faults}, {there.requests():,} requests so far")
        there.until_over()
        wanted = Finding(
            "as many kills as wanted",
            f"{there.faults} kills",
            [f"the crawl was over after {there.faults}"] if there.faults < kills else [],
        )
        return judged(
            there.trial(), there.web.homes(), [wanted],
            engine=engine, kills_of_one_child=children, kills_of_all=there.faults - children,
        )  # fmt: skip
