"""Ten thousand fetches in flight on a slow web, in bounded memory and descriptors."""

import json
import os
import time
from pathlib import Path

import pytest

from mannerly.simweb import judge
from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served, start

pytestmark = pytest.mark.alone

WORKERS = 10_000
PAGES = 20_000
MEMORY = 1.5 * 2**30
SAMPLE_S = 0.25


@pytest.mark.timeout(240)
def test_ten_thousand_in_flight(tmp_path: Path) -> None:
    spec = preset("plain", seed=1, sites=40_000, pages_mean=6.0, pages_max=20, body_mean=2000,
                  links_min=4, links_max=8, latency_s=4.0, https=0.0)  # fmt: skip
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        # Lags are judged by the time-out: with a shorter one, fewer visits would be in flight.
        options = {**QUICK, "--visit-timeout": "180s", "--max-workers": str(WORKERS),
                   "--max-pages": str(PAGES)}  # fmt: skip
        running = start("crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                        "--connect-to", web.address, *arguments(options))  # fmt: skip
        memory, sockets = 0, []
        while running.poll() is None:
            memory = max(memory, resident(running.pid))
            sockets.append((time.time(), open_sockets(running.pid)))
            time.sleep(SAMPLE_S)
        out, err = running.communicate()
        last_begun_at = max(r.start for r in web.records() if r.path == judge.ROBOTS)
    assert running.returncode == 0, err
    assert "open files" not in err
    assert "max-pages reached" in out
    assert memory < MEMORY
    # All slots are used, and stay in use until its last visit begins (it winds down then),
    # though a machine of two cores that also serves the web lags seconds behind.
    full_at = next(at for at, count in sockets if count > 0.99 * WORKERS)
    steady = [count for at, count in sockets if full_at <= at < last_begun_at]
    assert len(steady) > 5 / SAMPLE_S
    assert sum(steady) / len(steady) > 0.8 * WORKERS, steady
    status = json.loads(mannerly("status", "--data-dir", str(tmp_path / "data"), "--json").stdout)
    assert status["pages"] >= PAGES, status
    assert status["settled"].get("timed_out", 0) == 0


def resident(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def open_sockets(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
