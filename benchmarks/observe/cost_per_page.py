"""What does it cost to be watched? Prints one JSON line.

    python -m benchmarks.observe.cost_per_page [--sites 500] [--rounds 8]

The same crawl with everything that shows it off, and with progress, dashboard and a reader of its
stream and metrics on, in turns, each first in every other round. CPU is user + system of the
crawler's process alone, start-up included; the reader is another one. `ratio` is the median of the
rounds' own ratios, since two neighbouring crawls meet the same machine. Most of the cost is a
second's and not a page's, so where a second has few pages, it is larger. Where noise hides it,
`observe_share_on` tells what the threads took that only look.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.crawl.webs import served_web, web_options

MANNERLY = [sys.executable, "-m", "mannerly"]
OFF = ["--progress", "off", "--dashboard", "off"]
ON = ["--progress", "lines", "--dashboard", "127.0.0.1:0"]
SCRAPE_EVERY = 10
"""Lines of the stream, which are seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    web_options(parser, sites=500, pages_mean=12.0, pages_max=60)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    cost: dict[str, list[Cost]] = {"off": [], "on": []}
    with tempfile.TemporaryDirectory() as scratch, served_web(options, Path(scratch)) as web:
        for number in range(options.rounds):
            turn = ["off", "on"] if number % 2 == 0 else ["on", "off"]
            for name in turn:
                data_dir = Path(scratch) / f"{name}{number}"
                more = ON if name == "on" else OFF
                cost[name].append(crawl(web.seeds, data_dir, web.address, more))
                shutil.rmtree(data_dir)
    figures: dict[str, object] = {}
    for name, some in cost.items():
        figures[f"cpu_ms_per_page_{name}"] = [round(it.cpu_ms, 3) for it in some]
        figures[f"pages_per_s_{name}"] = [round(it.pages_per_s, 1) for it in some]
    ratios = [on.cpu_ms / off.cpu_ms for off, on in zip(cost["off"], cost["on"], strict=True)]
    figures["observe_share_on"] = [round(it.share, 4) for it in cost["on"]]
    figures["ratios"] = [round(ratio, 4) for ratio in ratios]
    print(json.dumps({**figures, "ratio": round(statistics.median(ratios), 4)}))


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
