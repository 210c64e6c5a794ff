"""What does a crawled page cost, all in? Prints one JSON line.

    python benchmarks/crawl/cost_per_page.py [--sites 500] [--https 0] [--processes 1]

`mannerly crawl` with everything on (robots, politeness bookkeeping, links, text, durable frontier
and store) over the simulated web in a process of its own: delay 0, pages of about 60 kB, gzip. CPU
is user + system of the crawler's processes alone, start-up included; memory that of the largest.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MANNERLY = [sys.executable, "-m", "mannerly"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=500)
    parser.add_argument("--pages-mean", type=float, default=12.0)
    parser.add_argument("--https", type=float, default=0.0, help="share of sites on https")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    web = ["--sites", str(options.sites), "--preset", "plain", "--https", str(options.https)]
    with tempfile.TemporaryDirectory() as scratch:
        seeds = Path(scratch) / "seeds.txt"
        with seeds.open("wb") as file:
            subprocess.run([*MANNERLY, "simweb", "seeds", *web], stdout=file, check=True)
        size = ["--pages-mean", str(options.pages_mean), "--pages-max", "60", "--port", "0"]
        command = [*MANNERLY, "simweb", "serve", *web, *size]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().split()[3]
            figures = crawl(seeds, Path(scratch) / "data", address, options.processes)
            server.terminate()
    print(json.dumps({"https": options.https, **figures}))


def crawl(seeds: Path, data_dir: Path, address: str, processes: int) -> dict[str, float]:
    began = time.monotonic()
    process = subprocess.Popen(
        [*MANNERLY, "crawl", "--seed-file", seeds, "--email", "bench@example.org", "--delay", "0",
         "--data-dir", data_dir, "--connect-to", address, "--progress", "off",
         "--processes", str(processes)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    elapsed_s = time.monotonic() - began
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    told = subprocess.run(
        [*MANNERLY, "status", "--data-dir", data_dir, "--json"], stdout=subprocess.PIPE, check=True
    )
    pages = json.loads(told.stdout)["pages"]
    cpu_s = usage.ru_utime + usage.ru_stime
    return {
        "pages": pages,
        "pages_per_s": round(pages / elapsed_s, 1),
        "cpu_ms_per_page": round(1000 * cpu_s / pages, 3),
        "peak_rss_mb": round(usage.ru_maxrss / 1024, 1),
    }


if __name__ == "__main__":
    main()
