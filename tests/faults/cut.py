"""Two machines (network namespaces) with one PostgreSQL crawl together; one of them is cut off from
everything for a while, and comes back."""

import time

from mannerly.selftest import Finding
from mannerly.simweb.spacing import Break
from tests.faults.crawl import Crawl
from tests.faults.ground import Ground, Tell, ground, web_of
from tests.faults.network import HUB, NETWORK, machines
from tests.faults.verdict import Verdict, judged
from tests.services.postgres import PostgresServer

LATENCY_S = 0.4
WORKERS = 10
PAGES_PER_S = 2 * WORKERS / LATENCY_S


def play(cut_s: float, tell: Tell) -> Verdict:
    spec = web_of(int((cut_s + 60) * PAGES_PER_S), latency_s=LATENCY_S)
    with (
        machines(2) as (north, south),
        PostgresServer(listen_addresses=f"'127.0.0.1,{HUB}'") as server,
        ground(spec, {"db_url": server.url}, host=HUB) as there,
    ):
        server.let_in(NETWORK)
        url = server.url.replace("127.0.0.1", HUB)
        for machine in (north, south):
            options = {**there.shared(), "db_url": url, "max_workers": str(WORKERS)}
            there.crawls.append(Crawl(machine.name, there.folder, options, inside=machine.inside))
        there.start_all()
        for crawl in there.crawls:
            crawl.until_written()
        there.until_more(300)
        cut_at = time.time()
        south.cut()
        tell(f"{south.name} is cut off")
        time.sleep(cut_s)  # what the fault is
        south.mend()
        mended_at = time.time()
        # Answers that never came asked for pauses that nobody heard of.
        there.crawls[1].breaks.append(Break(cut_at, mended_at))
        there.faults += 1
        tell(f"{south.name} is back")
        there.until_over()
        return _judged(there, cut_at, mended_at)


def _judged(there: Ground, cut_at: float, mended_at: float) -> Verdict:
    first, second = there.crawls
    refused = there.refused()
    trial = there.trial()
    records = trial.records
    meanwhile = {
        crawl.name: sum(
            cut_at + 1 < it.start < mended_at for it in records if it.user_agent == crawl.name
        )
        for crawl in there.crawls
    }
    after = [it.start for it in records if it.user_agent == second.name and it.start > mended_at]
    wrong = [] if after else [f"{second.name} never came back"]
    if meanwhile[second.name]:
        wrong.append(f"{second.name} was not cut off")
    if not meanwhile[first.name]:
        wrong.append(f"{first.name} stood still with it")
    back_s = after[0] - mended_at if after else 0.0
    more = [Finding("the one goes on, the other comes back", f"{back_s:.1f} s later", wrong)]
    return judged(
        trial, there.web.homes(), more,
        cut_s=round(mended_at - cut_at, 1),
        first_request_after_s=round(back_s, 2),
        requests_of_the_other_meanwhile=meanwhile[first.name],
        requests_of_each={
            crawl.name: sum(it.user_agent == crawl.name for it in records)
            for crawl in there.crawls
        },
        refused=refused,
    )  # fmt: skip
