"""The wall clock of one of three crawlers is set, forward and back by hours, while all of them
crawl with one PostgreSQL.

By libfaketime (`apt-get install faketime`). The clock that runs through suspend is left alone, as
nobody can set it.
"""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from mannerly.selftest import Finding
from tests.faults.crawl import Crawl
from tests.faults.ground import Tell, database, ground, web_of
from tests.faults.verdict import Verdict, judged

LATENCY_S = 0.2
WORKERS = 6
LIBRARIES = "/usr/lib"
JUMPS = ("+5h", "-3h", "+26h", "-40h", "+0")


def play(pages: int, tell: Tell) -> Verdict:
    with database("postgres") as where, ground(web_of(pages, latency_s=LATENCY_S), where) as there:
        options = {"max_workers": str(WORKERS)}
        there.crawl("a", **options)
        there.crawl("b", **options)
        hands = there.folder / "clock"
        hands.write_text(JUMPS[-1])
        there.crawls.append(
            Crawl("set", there.folder, there.shared() | options, variables=faked(hands))
        )
        there.start_all()
        wrong_clock = there.crawls[-1]
        jumps: Iterator[str] = cycle(JUMPS)
        while not there.any_over():
            wrong_clock.until_written()
            there.until_more(max(10, pages // 20))
            jump = next(jumps)
            hands.write_text(jump)
            there.faults += 1
            tell(f"the clock of {wrong_clock.name} is set to {jump}")
        there.until_over()
        trial = there.trial()
        asked = sum(it.user_agent == wrong_clock.name for it in trial.records)
        few = [] if there.faults >= len(JUMPS) and asked else ["the crawl was over too soon"]
        more = [Finding("its clock was set while it crawled", f"{there.faults} times", few)]
        return judged(
            trial, there.web.homes(), more, jumps=JUMPS, requests_under_a_wrong_clock=asked
        )


def faked(hands: Path) -> dict[str, str]:
    """The environment of a process whose wall clock is off by what stands in that file, which is
    read every second."""
    (library,) = Path(LIBRARIES).glob("*/faketime/libfaketimeMT.so.1")
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(hands),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
