"""An ordinary crawl of the simulated web, watched from outside until its time is up.

Default options but for the delay (and for the address, which all sites share here): one process per
core, SQLite, 500 fetches in flight at most. What limits it is politeness: so many sites with a
second between two visits give 25 to 40 pages a second, about a third of a core.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mannerly.simweb.spacing import Break
from mannerly.simweb.spec import preset
from tests.faults.crawl import wait_until
from tests.programs import MANNERLY, Served, environment, served
from tests.soak.samples import Sample, taken

EVERY_S = 5.0
DELAY_S = 1.0
SITES = 65
PROCESSES = os.cpu_count() or 1
OPTIONS = {
    "email": "soak@example.org",
    "delay": f"{DELAY_S}s",
    "address_delay": "0",
    "processes": str(PROCESSES),
}
SPEC = preset("mixed", seed=6, sites=SITES, pages_mean=9000.0, pages_tail=4.0, pages_max=40_000,
              latency_s=0.3, slow_sites=0.05, stalling_sites=0.02, closing_sites=0.02,
              robots_barred=0.0, robots_failing=0.02)  # fmt: skip
"""At a page a second no site comes to its end within two hours."""
BEGINS_WITHIN_S = 60.0
ENDS_WITHIN_S = 15.0
"""What SIGTERM may take."""


@dataclass
class Soaked:
    """What was seen."""

    web: Served
    data: Path
    samples: list[Sample] = field(default_factory=list)
    stood_still: list[Break] = field(default_factory=list)
    """When whoever watches did not run, and so nobody of us may have."""
    ended_early: bool = False
    code: int | None = None
    took_to_end_s: float = 0.0
    said: str = ""


@contextmanager
def soaked(folder: Path, minutes: float, tell: Callable[[str], None]) -> Iterator[Soaked]:
    """The web is still there in the body; its log is whole when `web.records` was called."""
    with served(folder, SPEC) as web:
        seen = Soaked(web, folder / "data")
        options = {**OPTIONS, "data_dir": str(seen.data), "connect_to": web.address}
        variables = {f"MANNERLY_{name.upper()}": text for name, text in options.items()}
        seeds = web.write_seeds(folder / "seeds.txt")
        log = folder / "crawl.log"
        with log.open("wb") as output:
            crawl = subprocess.Popen(
                [*MANNERLY, "crawl", "--seed-file", str(seeds)],
                env=environment(variables), stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            begun = seen.data / "journal"
            wait_until(lambda: begun.exists() or crawl.poll() is not None, BEGINS_WITHIN_S)
            _watch(seen, crawl, minutes, tell)
            _end(seen, crawl)
            seen.said = log.read_text(errors="replace")
            yield seen
        finally:
            if crawl.poll() is None:
                os.killpg(crawl.pid, signal.SIGKILL)
            crawl.wait()


def _watch(
    seen: Soaked, crawl: "subprocess.Popen[bytes]", minutes: float, tell: Callable[[str], None]
) -> None:
    began_at = time.time()
    due_at = began_at
    while due_at < began_at + 60 * minutes:
        due_at += EVERY_S
        time.sleep(max(0.0, due_at - time.time()))  # the rhythm of the samples
        now = time.time()
        if now - due_at > EVERY_S:
            seen.stood_still.append(Break(due_at - EVERY_S, now))
            due_at = now
        if crawl.poll() is not None:
            seen.ended_early = True
            return
        try:
            seen.samples.append(taken(now, crawl.pid, seen.data))
        except (FileNotFoundError, ProcessLookupError):
            continue  # a process ended while we looked: the next sample tells
        if len(seen.samples) % 12 == 0:
            tell(_told(seen.samples[-1], seen.samples[0]))


def _told(now: Sample, first: Sample) -> str:
    rate = (now.pages - first.pages) / (now.at - first.at)
    return (
        f"{now.pages:,} pages, {rate:.1f}/s, {now.rss / 2**20:.1f} MiB, "
        f"{now.descriptors} descriptors, {now.seats} sites waiting, "
        f"{now.journal / 2**20:.1f} MiB of journal, {now.disk / 2**20:.0f} MiB on disk"
    )


def _end(seen: Soaked, crawl: "subprocess.Popen[bytes]") -> None:
    told_at = time.monotonic()
    if crawl.poll() is None:
        crawl.send_signal(signal.SIGTERM)
    wait_until(lambda: crawl.poll() is not None, 4 * ENDS_WITHIN_S)
    seen.code, seen.took_to_end_s = crawl.poll(), time.monotonic() - told_at
