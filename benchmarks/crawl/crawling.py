"""One crawl of the real program over a web that is served, and what it cost."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import yardstick
from benchmarks.bytecode import make_bytecode
from benchmarks.crawl.share import held_to
from benchmarks.crawl.webs import ServedWeb
from benchmarks.frontier.engines import Engine

MANNERLY = [sys.executable, "-m", "mannerly"]
SAMPLER = Path(__file__).parent / "sampler"
STAGES = (
    "fetch", "decode", "parse", "copies", "urls", "robots", "frontier", "store", "engine", "loop",
    "observe", "other",
)  # fmt: skip


def crawl(
    web: ServedWeb,
    engine: Engine,
    folder: Path,
    *,
    processes: int = 1,
    workers: int = 500,
    share: float = 0.0,
) -> dict[str, object]:
    """Crawl all of `web` into `folder`, which must be empty; the figures that the README names.
    Each process gets `share` of a core on average; 0: as much as there is."""
    make_bytecode()
    data_dir, stages_dir = folder / "data", folder / "stages"
    stages_dir.mkdir(parents=True)
    place = [] if engine.name == "sqlite" else ["--db-url", engine.address]
    command = [
        *MANNERLY, "crawl", "--seed-file", str(web.seeds),
        "--email", "bench@example.org", "--delay", "0", "--data-dir", str(data_dir),
        "--connect-to", web.address, "--progress", "off", "--processes", str(processes),
        "--max-workers", str(workers), *place,
    ]  # fmt: skip
    paths = [str(SAMPLER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "STAGES_DIR": str(stages_dir),
    }
    database_s, server_s = engine.server_cpu_s(), web.cpu_s()
    began_at = time.monotonic()
    with _paces() as paces, held_to(share * processes) as limited:
        process = subprocess.Popen([*limited, *command], stdout=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    elapsed_s = time.monotonic() - began_at
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    database_s, server_s = engine.server_cpu_s() - database_s, web.cpu_s() - server_s
    asked = [*MANNERLY, "status", "--data-dir", str(data_dir), "--json", *place]
    pages = json.loads(subprocess.run(asked, stdout=subprocess.PIPE, check=True).stdout)["pages"]
    pace = statistics.median(paces)
    stages, peaks = _told(stages_dir)
    start_up_s = stages.pop("start-up", 0.0)
    cpu_s = usage.ru_utime + usage.ru_stime
    ms_a_page = 1000 / pages
    return {
        "processes": processes,
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
        "server_cpu_ms_per_page": round(server_s * ms_a_page, 3),
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
