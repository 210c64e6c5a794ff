"""What does a page cost as a crawl grows to a million pages? Prints one JSON line.

    python -m benchmarks.growth [--pages 1000000] [--sites 2000] [--turn 20000] [--rounds 5]
                                [--webs DIR]

One crawl of an endless web (`benchmarks.web.endless`), all on, delay 0, one process, SQLite, looked
at while it grows: `windows`, around 10,000 pages, 100,000, and so on to the end. Half an hour of a
shared machine is not all alike; so there is a crawl that was stopped at its first 10,000
pages, and in the end the two are gone on with for `--turn` pages each, by turns. `growth` is what a
page of the large one costs over a page of the small one.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.crawl.webs import WRITTEN, ServedWeb
from benchmarks.growth.turns import Stopped, by_turns
from benchmarks.growth.watching import Sample, crawled, telling, window
from benchmarks.web import endless

BASE = 10_000
WIDTH = 1.0
"""A window reaches from half of this share below its middle to half above: a checkpoint takes up to
8,000 pages, and there are to be some in every window."""


def main() -> None:
    options = _options()
    place = endless.written(options.sites, options.webs, options.folders)
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        scratch = Path(name)
        small, large = scratch / "small", scratch / "large"
        seeds = scratch / "seeds.txt"
        seeds.write_text("".join(f"{endless.home(site)}\n" for site in range(options.sites)))
        with endless.served(place, scratch / "nginx") as serving:
            web = ServedWeb("nginx", serving.address, seeds, serving.pid)
            words = ["--connect-to", web.address, "--max-workers", "500"]
            seeded = ["--seed-file", str(seeds), *words, "--max-pages"]
            crawled([*seeded, str(min(BASE, options.pages // 10))], small)
            began_s = web.cpu_s()
            with telling(20_000) as told:
                samples = crawled([*seeded, str(options.pages)], large, told=told)
            server_s = web.cpu_s() - began_s
            data_bytes = sum(it.stat().st_size for it in large.rglob("*") if it.is_file())
            figures = _figures(samples, server_s, data_bytes)
            figures["windows"] = [window(samples, *it) for it in windows_of(options.pages)]
            print(json.dumps(figures), file=sys.stderr, flush=True)
            turns = by_turns(
                Stopped(small, words),
                Stopped(large, words),
                pages=options.turn,
                rounds=options.rounds,
            )
    print(json.dumps({"sites": options.sites, **figures, "turn_pages": options.turn, **turns}))


def _figures(samples: list[Sample], server_s: float, data_bytes: int) -> dict[str, object]:
    last = samples[-1]
    return {
        "pages": last.pages,
        "cpu_ms_per_page": round(last.cpu_s / last.pages * 1000, 3),
        "scaled_cpu_ms_per_page": round(last.scaled_s / last.pages * 1000, 3),
        "server_cpu_ms_per_page": round(server_s / last.pages * 1000, 3),
        "new_urls_per_page": round(last.urls / last.fetched, 2),
        "urls_pending": last.urls - last.settled,
        "peak_rss_mb": round(max(it.rss_bytes for it in samples) / 2**20, 1),
        "data_bytes_per_page": round(data_bytes / last.pages),
        "frontier_bytes_per_url": round(last.frontier_bytes / last.urls),
    }


def windows_of(pages: int) -> list[tuple[int, int]]:
    """Around 10,000, 30,000, 100,000 and so on; the last one ends with the crawl."""
    middles = [middle for n in range(4, 9) for middle in (10**n, 3 * 10**n)]
    found = [(int(it * (1 - WIDTH / 2)), int(it * (1 + WIDTH / 2))) for it in middles]
    return [it for it in found if it[1] < pages] + [(int(pages * 0.9), pages)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--sites", type=int, default=2_000)
    parser.add_argument("--turn", type=int, default=20_000, help="pages")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", type=Path, default=None, help="where the crawls lie: 8 GB")
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
