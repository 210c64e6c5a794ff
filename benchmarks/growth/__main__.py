"""What does a page cost as a crawl grows to a million pages? Prints one JSON line.

    python -m benchmarks.growth [--pages 1000000] [--sites 2000] [--webs DIR]

One crawl of an endless web (`benchmarks.web.endless`), all on, delay 0, one process, SQLite. What a
page cost is told for windows of it: around 10,000 pages, 100,000, and so on to the end.
`growth` is the last window's cost over that of the first, both scaled by the machine's pace.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.crawl.webs import WRITTEN, ServedWeb
from benchmarks.growth.watching import crawled, telling, window
from benchmarks.web import endless

WIDTH = 0.5
"""A window reaches from half of this share below its middle to half above."""


def main() -> None:
    options = _options()
    place = endless.written(options.sites, options.webs, options.folders)
    with tempfile.TemporaryDirectory() as name, telling(20_000) as told:
        scratch = Path(name)
        seeds = scratch / "seeds.txt"
        seeds.write_text("".join(f"{endless.home(site)}\n" for site in range(options.sites)))
        with endless.served(place, scratch / "nginx") as serving:
            web = ServedWeb("nginx", serving.address, seeds, serving.pid)
            words = [
                *("--seed-file", str(seeds), "--connect-to", web.address),
                *("--max-pages", str(options.pages), "--max-workers", "500"),
            ]
            samples = crawled(words, scratch, told=told)
            server_s = web.cpu_s()
        data_bytes = sum(it.stat().st_size for it in (scratch / "data").rglob("*") if it.is_file())
    windows = [window(samples, *bounds) for bounds in windows_of(options.pages)]
    last = samples[-1]
    costs = [float(str(it["scaled_cpu_ms_per_page"])) for it in windows]
    figures = {
        "sites": options.sites,
        "pages": last.pages,
        "cpu_ms_per_page": round(last.cpu_s / last.pages * 1000, 3),
        "scaled_cpu_ms_per_page": round(last.scaled_s / last.pages * 1000, 3),
        "server_cpu_ms_per_page": round(server_s / last.pages * 1000, 3),
        "new_urls_per_page": round(last.urls / last.fetched, 2),
        "urls_pending": last.urls - last.settled,
        "peak_rss_mb": round(max(it.rss_bytes for it in samples) / 2**20, 1),
        "data_bytes_per_page": round(data_bytes / last.pages),
        "frontier_bytes_per_url": round(last.frontier_bytes / last.urls),
        "growth": round(costs[-1] / costs[0], 3),
        "windows": windows,
    }
    print(json.dumps(figures))


def windows_of(pages: int) -> list[tuple[int, int]]:
    """Around 10,000, 30,000, 100,000 and so on; the last one ends with the crawl."""
    middles = [middle for n in range(4, 9) for middle in (10**n, 3 * 10**n) if middle < pages]
    found = [(int(it * (1 - WIDTH / 2)), int(it * (1 + WIDTH / 2))) for it in middles]
    return [it for it in found if it[1] < pages] + [(int(pages * 0.9), pages)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--sites", type=int, default=2_000)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
