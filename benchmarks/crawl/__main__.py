"""What does a crawled page cost, all in, and where does it go? Prints one JSON line.

    python -m benchmarks.crawl [--sites 500] [--https 0] [--latency 0] [--body 60000]
                               [--engine sqlite] [--processes 1] [--workers 500]

`mannerly crawl` with everything on (robots, politeness bookkeeping, links, text, durable frontier
and store) over the simulated web in a process of its own: delay 0, gzip. CPU is user + system of
the crawler's processes; that of a database server is told apart. How each figure is made: README.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import yardstick
from benchmarks.frontier.engines import Engine, engine_in

MANNERLY = [sys.executable, "-m", "mannerly"]
SAMPLER = Path(__file__).parent / "sampler"
STAGES = (
    "fetch", "decode", "parse", "copies", "urls", "robots", "frontier", "store", "engine", "loop",
    "observe", "other",
)  # fmt: skip


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        # A private server runs as another user.
        Path(scratch).chmod(0o755)
        seeds = Path(scratch) / "seeds.txt"
        with (
            engine_in(options.engine, Path(scratch)) as engine,
            _web(options, seeds) as address,
        ):
            figures = _crawl(options, engine, Path(scratch), address)
    told = {
        "https": options.https,
        "latency_s": options.latency,
        "body_bytes": options.body,
        "engine": options.engine,
        "processes": options.processes,
    }
    print(json.dumps(told | figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    parser.add_argument("--sites", type=int, default=500)
    parser.add_argument("--pages-mean", type=float, default=12.0)
    parser.add_argument("--https", type=float, default=0.0, help="share of sites on https")
    parser.add_argument("--latency", type=float, default=0.0, help="mean seconds to a response")
    parser.add_argument("--body", type=int, default=60_000, help="mean bytes of a page")
    parser.add_argument("--engine", choices=("sqlite", "postgres", "redis"), default="sqlite")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--workers", type=int, default=500, help="fetches in flight")
    return parser.parse_args()


@contextmanager
def _web(options: argparse.Namespace, seeds: Path) -> Iterator[str]:
    """The web, served by a process of its own; the address that it is at."""
    web = ["--sites", str(options.sites), "--preset", "plain", "--https", str(options.https)]
    with seeds.open("wb") as file:
        subprocess.run([*MANNERLY, "simweb", "seeds", *web], stdout=file, check=True)
    size = ["--pages-mean", str(options.pages_mean), "--pages-max", "60"]
    how = ["--body-mean", str(options.body), "--latency", str(options.latency), "--port", "0"]
    command = [*MANNERLY, "simweb", "serve", *web, *size, *how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[3]
        finally:
            server.terminate()


def _crawl(
    options: argparse.Namespace, engine: Engine, scratch: Path, address: str
) -> dict[str, object]:
    data_dir, stages_dir = scratch / "data", scratch / "stages"
    stages_dir.mkdir()
    place = [] if engine.name == "sqlite" else ["--db-url", engine.address]
    command = [
        *MANNERLY, "crawl", "--seed-file", str(scratch / "seeds.txt"),
        "--email", "bench@example.org", "--delay", "0", "--data-dir", str(data_dir),
        "--connect-to", address, "--progress", "off", "--processes", str(options.processes),
        "--max-workers", str(options.workers), *place,
    ]  # fmt: skip
    paths = [str(SAMPLER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "STAGES_DIR": str(stages_dir),
    }
    database_s = engine.server_cpu_s()
    began_at = time.monotonic()
    with _paces() as paces:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    elapsed_s = time.monotonic() - began_at
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    database_s = engine.server_cpu_s() - database_s
    asked = [*MANNERLY, "status", "--data-dir", str(data_dir), "--json", *place]
    pages = json.loads(subprocess.run(asked, stdout=subprocess.PIPE, check=True).stdout)["pages"]
    pace = statistics.median(paces)
    stages, peaks = _told(stages_dir)
    start_up_s = stages.pop("start-up", 0.0)
    cpu_s = usage.ru_utime + usage.ru_stime
    ms_a_page = 1000 / pages
    return {
        "pages": pages,
        "pages_per_s": round(pages / elapsed_s, 1),
        "cpu_ms_per_page": round(cpu_s * ms_a_page, 3),
        "pace": round(pace, 2),
        "scaled_cpu_ms_per_page": round(cpu_s * ms_a_page / pace, 3),
        "start_up_cpu_s": round(start_up_s, 2),
        "stages_ms_per_page": {
            stage: round(stages.get(stage, 0.0) * ms_a_page, 3) for stage in STAGES
        },
        "database_cpu_ms_per_page": round(database_s * ms_a_page, 3),
        "peak_rss_mb": round(max(peaks) / 1024, 1),
        "peak_rss_mb_all": round(sum(peaks) / 1024, 1),
    }


def _told(stages_dir: Path) -> tuple[Counter[str], list[int]]:
    """What the crawl's processes told of themselves: CPU by stage, and each one's peak memory."""
    stages: Counter[str] = Counter()
    peaks = []
    for path in stages_dir.iterdir():
        told = json.loads(path.read_text())
        stages.update(told["stages"])
        peaks.append(told["peak_rss_kb"])
    return stages, peaks


@contextmanager
def _paces() -> Iterator[list[float]]:
    """How slow the machine is, looked at every half second while the body runs."""
    found: list[float] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.5):
            found.append(yardstick.pace())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()
        found.append(yardstick.pace())


if __name__ == "__main__":
    main()
