"""What does it cost to be watched? Prints one JSON line.

    python benchmarks/observe/cost_per_page.py [--sites 250] [--rounds 4]

The same crawl with everything that shows it off, and with progress, dashboard and a reader of its
stream and metrics on, in turns. CPU is user + system of the crawler's process alone, start-up
included; the reader is another one. The medians are compared. Most of the cost is a second's and
not a page's, so on a machine that others use, where a second has few pages, it is larger. Where
noise hides it, `observe_share_on` tells what the threads took that only look.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

MANNERLY = [sys.executable, "-m", "mannerly"]
OFF = ["--progress", "off", "--dashboard", "off"]
ON = ["--progress", "lines", "--dashboard", "127.0.0.1:0"]
SCRAPE_EVERY = 10
"""Lines of the stream, which are seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    web = ["--sites", str(options.sites), "--preset", "plain"]
    cost: dict[str, list[Cost]] = {"off": [], "on": []}
    with tempfile.TemporaryDirectory() as scratch:
        seeds = Path(scratch) / "seeds.txt"
        with seeds.open("wb") as file:
            subprocess.run([*MANNERLY, "simweb", "seeds", *web], stdout=file, check=True)
        size = ["--pages-mean", "12", "--pages-max", "60", "--port", "0"]
        command = [*MANNERLY, "simweb", "serve", *web, *size]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().split()[3]
            for number in range(2 * options.rounds):
                name, more = (("off", OFF), ("on", ON))[number % 2]
                data_dir = Path(scratch) / f"data{number}"
                cost[name].append(crawl(seeds, data_dir, address, more))
            server.terminate()
    figures: dict[str, object] = {}
    for name, some in cost.items():
        figures[f"cpu_ms_per_page_{name}"] = [round(it.cpu_ms, 3) for it in some]
        figures[f"pages_per_s_{name}"] = [round(it.pages_per_s, 1) for it in some]
    off, on = (statistics.median(it.cpu_ms for it in cost[name]) for name in ("off", "on"))
    figures["observe_share_on"] = [round(it.share, 4) for it in cost["on"]]
    print(json.dumps({**figures, "ratio": round(on / off, 4)}))


class Cost(NamedTuple):
    cpu_ms: float
    """Of a page."""
    pages_per_s: float
    share: float
    """Of the CPU that the threads took which only look."""


def crawl(seeds: Path, data_dir: Path, address: str, more: list[str]) -> Cost:
    began_at = time.monotonic()
    process = subprocess.Popen(
        [*MANNERLY, "crawl", "--seed-file", seeds, "--email", "bench@example.org", "--delay", "0",
         "--data-dir", data_dir, "--connect-to", address, "--processes", "1", *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    last: dict[str, dict[str, float]] = {}
    for line in process.stderr:
        found = re.search(r"dashboard: http://127.0.0.1:(\d+)/", line)
        if found:
            arguments = (int(found[1]), last)
            threading.Thread(target=watch, args=arguments, daemon=True).start()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.monotonic() - began_at
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    told = subprocess.run(
        [*MANNERLY, "status", "--data-dir", data_dir, "--json"], stdout=subprocess.PIPE, check=True
    )
    pages = int(json.loads(told.stdout)["pages"])
    cpu_s = usage.ru_utime + usage.ru_stime
    observe_s = last.get("cpu_s", {}).get("observe", 0.0)
    return Cost(1000 * cpu_s / pages, pages / elapsed_s, observe_s / cpu_s)


def watch(port: int, last: dict[str, dict[str, float]]) -> None:
    """Read the stream as a page does, and the metrics as Prometheus does. `last` becomes the last
    line."""
    stream = http.client.HTTPConnection("127.0.0.1", port)
    stream.request("GET", "/api/stream")
    answer = stream.getresponse()
    for number, line in enumerate(answer):
        last.update(json.loads(line))
        if number % SCRAPE_EVERY == 0:
            scrape = http.client.HTTPConnection("127.0.0.1", port)
            for path in ("/metrics", "/api/pages", "/api/failures", "/api/sites?sort=pages"):
                scrape.request("GET", path)
                scrape.getresponse().read()
            scrape.close()


if __name__ == "__main__":
    main()
