"""Many large pages at once under `--memory-limit`: how much memory the crawler takes."""

import time
from pathlib import Path

from mannerly.selftest import Finding
from mannerly.simweb.spec import preset
from tests.faults.crawl import Crawl
from tests.faults.ground import SEED, Tell, ground
from tests.faults.verdict import Verdict, judged

ALLOWED = 1.25
"""It is looked at once a second, and what is in flight then is still read to its end."""


def play(limit: int, sites: int, workers: int, tell: Tell) -> Verdict:
    """`limit` in bytes; 0 for none."""
    spec = preset("plain", seed=SEED, sites=sites, pages_mean=3.0, pages_max=6, https=0.0,
                  body_mean=300_000, body_spread=0.1, body_max=500_000, latency_s=0.2)  # fmt: skip
    with ground(spec, {}) as there:
        crawl = there.crawl("a", max_workers=str(workers), memory_limit=str(limit), delay="500ms")
        there.start(crawl)
        peak = _watched(crawl)
        there.until_over()
        over = []
        if limit and peak > ALLOWED * limit:
            over = [f"{peak / 2**20:.0f} MiB, and the limit is {limit / 2**20:.0f}"]
        tell(f"at most {peak / 2**20:.0f} MiB")
        more = [Finding("memory stays near its limit", f"{peak / 2**20:.0f} MiB at most", over)]
        return judged(
            there.trial(), there.web.homes(), more,
            limit_mib=limit // 2**20, peak_mib=round(peak / 2**20), workers=workers,
        )  # fmt: skip


def _watched(crawl: Crawl) -> int:
    """Until it is over: the most memory that it had, as the kernel kept it."""
    peak = 0
    while not crawl.over():
        try:
            status = Path(f"/proc/{crawl.pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            break
        lines = dict(line.split(":", 1) for line in status.splitlines())
        peak = max(peak, int(lines.get("VmHWM", "0 kB").split()[0]) * 1024)
        time.sleep(0.1)
    return peak
