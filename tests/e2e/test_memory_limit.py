"""`--memory-limit`, obeyed by a real crawl: less is done at once, and then more again.

All fetches in flight hold large bodies that do not come to their end, so memory is short until the
test lets them. What the crawl does about it is read from its metrics.
"""

import json
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from mannerly.units import LEAST_MEMORY
from tests.external.playing import Asking, Host, Players, listening, port_of
from tests.programs import QUICK, arguments, mannerly, start

pytestmark = pytest.mark.alone

WORKERS = 100
SITES = 400
BODY = b"word " * 380_000
"""1.9 MB, just below what is read of a page: of all workers 180 MiB, more than the process may take
beside itself."""
PATIENCE_S = 60.0


class Large(Host):
    """A small page, then a large one whose last byte is kept back for as long as memory is to be
    short. Those that are asked for later are small."""

    def __init__(self, enough: threading.Event) -> None:
        super().__init__()
        self._enough = enough

    def play(self, asking: Asking) -> None:
        if asking.path == "/robots.txt":
            asking.answer(404)
        elif asking.path == "/" or self._enough.is_set():
            asking.answer(200, b"small")
        else:
            head = f"HTTP/1.1 200 So\r\nContent-Type: text/css\r\nContent-Length: {len(BODY)}"
            asking.send(f"{head}\r\n\r\n".encode() + BODY[:-1])
            assert self._enough.wait(PATIENCE_S)
            asking.send(BODY[-1:])


def test_memory_that_is_short_shrinks_workbench_and_concurrency(tmp_path: Path) -> None:
    enough, seen = threading.Event(), threading.Event()
    hosts: dict[str, Host] = {f"site-{n}.test": Large(enough) for n in range(SITES)}
    hosts["last.test"] = Host({"/": partial(when, seen)})
    with listening() as listener:
        Players(hosts, [listener])
        running = crawling(tmp_path, port_of(listener))
        try:
            metrics = metrics_of(running)
            full = until(metrics, lambda it: it["resident_memory_bytes"] > 0.9 * LEAST_MEMORY)
            shed = until(metrics, lambda it: it["workbench_sites"] < 0.8 * full["workbench_sites"]
                         and it["workbench_sites"] <= 5 * it["visit_limit"])  # fmt: skip
            until_status_says("limited by memory: ", tmp_path / "data")
            enough.set()
            risen = until(metrics, lambda it: it["visit_limit"] > shed["visit_limit"])
            seen.set()
            _, err = running.communicate(timeout=PATIENCE_S)
        finally:
            enough.set()
            seen.set()
            with suppress(ProcessLookupError):
                running.kill()
    assert running.returncode == 0, err
    assert full["in_flight"] > WORKERS / 2
    assert shed["visit_limit"] < full["in_flight"]
    assert risen["resident_memory_bytes"] < 0.9 * LEAST_MEMORY
    looked = json.loads(mannerly("status", "--json", "--data-dir", str(tmp_path / "data")).stdout)
    assert looked["settled"] == {"fetched": 2 * SITES + 1}
    assert looked["refused"] == 0


def when(told: threading.Event, asking: Asking) -> None:
    """A page that comes then: the crawl is not over before."""
    assert told.wait(PATIENCE_S)
    asking.answer(200)


def crawling(directory: Path, port: int) -> "subprocess.Popen[str]":
    seeds = directory / "seeds.txt"
    seeds.write_text(
        "".join(f"http://site-{n}.test/\nhttp://site-{n}.test/large\n" for n in range(SITES))
        + "http://last.test/\n"
    )
    # The delay is long enough for all sites to be at the workbench after their first visit.
    options = {**QUICK, "--delay": "2s", "--max-workers": str(WORKERS), "--visit-timeout": "60s",
               "--memory-limit": str(LEAST_MEMORY), "--dashboard": "127.0.0.1:0"}  # fmt: skip
    return start(
        "crawl", "--seed-file", str(seeds), "--data-dir", str(directory / "data"),
        "--connect-to", f"127.0.0.1:{port}", *arguments(options),
    )  # fmt: skip


def until_status_says(what: str, data: Path) -> None:
    """It shows what the process wrote of itself, up to three seconds ago."""
    give_up_at = time.monotonic() + PATIENCE_S
    while what not in (told := mannerly("status", "--data-dir", str(data)).stdout):
        assert time.monotonic() < give_up_at, told


def metrics_of(running: "subprocess.Popen[str]") -> Callable[[], dict[str, float]]:
    """What reads the numbers of a crawl, by their names without `mannerly_`."""
    assert running.stderr is not None
    told = ""
    for line in running.stderr:
        told += line
        if found := re.search(r"dashboard: (http://127.0.0.1:\d+/)", line):
            address = f"{found[1]}metrics"
            return lambda: _metrics(address)
    pytest.fail(told)


def _metrics(address: str) -> dict[str, float]:
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
        text = answer.read().decode()
    return {name: float(n) for name, n in re.findall(r"^mannerly_(\w+) (\S+)$", text, re.MULTILINE)}


def until(
    metrics: Callable[[], dict[str, float]], fits: Callable[[dict[str, float]], object]
) -> dict[str, float]:
    give_up_at = time.monotonic() + PATIENCE_S
    while not fits(now := metrics()):
        assert time.monotonic() < give_up_at, now
        time.sleep(0.05)
    return now
