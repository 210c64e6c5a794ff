"""PostgreSQL is restarted as after a crash (`-m immediate`), at once or after a while away.

A crawl goes on with what it holds while the database is away, until that is used up. So it has
resumed when the frontier has committed something again, and another request has come after that.
"""

import time

from mannerly.selftest import Finding
from tests.faults.crawl import wait_until
from tests.faults.ground import Ground, Tell, ground, web_of
from tests.faults.verdict import Verdict, judged
from tests.services.postgres import PostgresServer

LATENCY_S = 0.3
WORKERS = 40
AWAY_S = (0.0, 20.0)
"""By turns. After so long every back-off is as long as it gets."""
WITHIN_S = 10.0
PAGES_EACH = 700
SCHEMA = "mannerly"
SETTLED = "SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'settled'"


def play(count: int, tell: Tell) -> Verdict:
    took_s = []
    with (
        PostgresServer() as server,
        ground(web_of(count * PAGES_EACH, latency_s=LATENCY_S), {"db_url": server.url}) as there,
    ):
        there.start(there.crawl("a", processes="2", max_workers=str(WORKERS)))
        while there.faults < count:
            there.until_more(200)
            if there.any_over():
                break
            server.stop(immediate=True)
            time.sleep(AWAY_S[there.faults % len(AWAY_S)])  # what the fault is
            server.start()
            there.faults += 1
            took_s.append(_resumed(there, server))
            tell(f"restart {there.faults}: resumed after {took_s[-1]:.1f} s")
        there.until_over()
        trial = there.trial()
        late = [f"{it:.1f} s after the server was up" for it in took_s if it > WITHIN_S]
        short = [f"the crawl was over after {len(took_s)}"] if len(took_s) < count else []
        longest_s = max(took_s, default=0.0)
        more = [Finding("it resumes in time", f"{longest_s:.1f} s at most", late + short)]
        return judged(
            trial, there.web.homes(), more,
            away_s=AWAY_S, resumed_within_s=[round(it, 2) for it in took_s],
        )  # fmt: skip


def _resumed(there: Ground, server: PostgresServer) -> float:
    """From the moment when the server takes connections."""
    up_at = time.monotonic()
    settled = _settled(server)
    wait_until(lambda: _settled(server) > settled or there.any_over())
    there.until_more(1)
    return time.monotonic() - up_at


def _settled(server: PostgresServer) -> int:
    ((settled,),) = server.execute(SETTLED, schema=SCHEMA)
    assert settled is not None
    return int(str(settled))
