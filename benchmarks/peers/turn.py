"""One crawler's turn: it is sent to the web, and what it cost is taken from the kernel and from the
web server's log, not from what it says of itself."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from benchmarks.web import nginx

ADDRESS = "127.0.0.80"
PORT = 80
"""No peer can be told another one."""
NOT_PAGES = ("/robots.txt", "/sitemap.xml")


class Turn(NamedTuple):
    """What a turn cost."""

    urls: frozenset[str]
    """The pages that were sent, without scheme."""
    sent_again: int
    other_requests: int
    """robots.txt, sitemaps, and what is not there."""
    elapsed_s: float
    cpu_s: float
    """User + system of the process and of those that it waited for."""
    peak_rss_mb: float
    exit_code: int
    """Negative where it was killed, at the end of its time as well."""

    @property
    def pages(self) -> int:
        return len(self.urls)

    @property
    def cpu_ms_per_page(self) -> float:
        return 1000 * self.cpu_s / max(1, self.pages)


def hosts_file(place: Path, path: Path) -> Path:
    """Every host of a written web, at `ADDRESS`."""
    names = sorted(folder.name for folder in (place / "hosts").iterdir())
    path.write_text("127.0.0.1 localhost\n" + "".join(f"{ADDRESS} {name}\n" for name in names))
    return path


def turn(
    words: list[str],
    place: Path,
    scratch: Path,
    *,
    hosts: Path | None,
    limit_s: float,
    port: int = PORT,
) -> Turn:
    """Run a crawler over the web in `place`, on one core. With `hosts` it sees that file as
    `/etc/hosts`."""
    if hosts is not None:
        mount = f"mount --bind {shlex.quote(str(hosts))} /etc/hosts && exec {shlex.join(words)}"
        words = ["unshare", "--mount", "sh", "-c", mount]
    scratch.mkdir()
    # Some have threads for every core. On one, nobody pays for cores that others use meanwhile.
    words = ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0))), *words]
    with nginx.served(place, scratch / "nginx", host=ADDRESS, port=port) as serving:
        began_at = time.monotonic()
        with (scratch / "errors.txt").open("wb") as errors:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=scratch,
                start_new_session=True,
            )
        timer = threading.Timer(limit_s, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed_s = time.monotonic() - began_at
    if process.returncode:
        print((scratch / "errors.txt").read_text(errors="replace")[-1000:], file=sys.stderr)
    # nginx has ended, so its log is whole.
    sent, others = _counted(serving.log)
    return Turn(
        urls=frozenset(sent),
        sent_again=sum(sent.values()) - len(sent),
        other_requests=others,
        elapsed_s=elapsed_s,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_rss_mb=usage.ru_maxrss / 1024,
        exit_code=process.returncode,
    )


def _counted(log: Path) -> tuple[Counter[str], int]:
    """How often each page was sent, and how many other requests there were."""
    sent: Counter[str] = Counter()
    others = 0
    with log.open() as lines:
        for line in lines:
            status, _, url = line.rstrip("\n").partition(" ")
            if status == "200" and not url.endswith(NOT_PAGES):
                sent[url] += 1
            else:
                others += 1
    return sent, others
