"""Debian's manuals, crawled whole and judged page by page. Prints one JSON line.

    python -m benchmarks.manuals --folder DIR [--hosts python.test,postgres.test]

The packages are fetched with apt and unpacked in DIR, served by nginx as one host each, and crawled
by the real program with delay 0 to the end. Then each host's files are walked and read by other
code (`reference`): every page that links lead to must be stored, once, with the same words. Of
every `SAMPLE`th page the text is also compared with what inscriptis makes of it.

A crawl that is in DIR already is judged again and not made again.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.manuals import second_opinion
from benchmarks.manuals.judging import Judgement, judge
from benchmarks.manuals.packages import MANUALS, Manual, unpacked
from benchmarks.manuals.serving import served

SAMPLE = 20
OPTIONS = (
    *("--email", "bench@example.org", "--delay", "0", "--scope", "seeded-sites"),
    # Some pages have ten megabytes and as many links as fit in: they are to be read whole.
    *("--body-limit", "64MiB", "--max-links", "100000", "--progress", "off"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--hosts", default=",".join(manual.host for manual in MANUALS))
    options = parser.parse_args()
    manuals = [manual for manual in MANUALS if manual.host in options.hosts.split(",")]
    measured = options.folder / "crawl.json"
    if not measured.exists():
        measured.write_text(json.dumps(crawl(manuals, options.folder)))
    work = partial(judged, folder=options.folder)
    with ProcessPoolExecutor() as pool:
        hosts = dict(zip([m.host for m in manuals], pool.map(work, manuals), strict=True))
    print(json.dumps({"crawl": json.loads(measured.read_text()), "hosts": hosts}))
    if any(host["missing"] or host["extra"] or host["twice"] for host in hosts.values()):
        sys.exit("pages are missing, or there that should not be")


def crawl(manuals: Sequence[Manual], folder: Path) -> dict[str, float]:
    """Crawl them all into `folder`/data."""
    roots = {manual.host: unpacked(manual, folder) for manual in manuals}
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{manual.seed}\n" for manual in manuals))
    with served(roots, folder / "nginx") as address:
        began_at = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "mannerly", "crawl", "--seed-file", seeds, "--data-dir",
             folder / "data", "--connect-to", address, *OPTIONS],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed_s = time.monotonic() - began_at
    if process.returncode:
        sys.exit(f"the crawl failed with {process.returncode}")
    return figures(folder / "data", elapsed_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def figures(data_dir: Path, elapsed_s: float, cpu_s: float, peak_kb: int) -> dict[str, float]:
    told = subprocess.run(
        [sys.executable, "-m", "mannerly", "status", "--data-dir", data_dir, "--json"],
        stdout=subprocess.PIPE,
        check=True,
    )
    pages = json.loads(told.stdout)["pages"]
    return {
        "pages": pages,
        "pages_per_s": round(pages / elapsed_s, 1),
        "cpu_ms_per_page": round(1000 * cpu_s / pages, 3),
        "peak_rss_mb": round(peak_kb / 1024, 1),
    }


def judged(manual: Manual, folder: Path) -> dict[str, object]:
    """What is told of one host."""
    opinions: Counter[str] = Counter()

    def ask(number: int, path: Path, text: str) -> None:
        if number % SAMPLE == 0 and path.suffix == ".html":
            opinions[second_opinion.compare(path, text)] += 1

    found: Judgement = judge(manual, unpacked(manual, folder), folder / "data", ask)
    return {
        "pages": found.pages,
        "words": found.words,
        "missing": found.missing,
        "extra": found.extra,
        "twice": found.twice,
        "texts": dict(found.texts),
        "inscriptis": dict(opinions),
        "no_pages": dict(found.others),
        "differing": found.differing,
    }


if __name__ == "__main__":
    main()
