"""What does a page cost where every answer is late? Prints one JSON line.

    python -m benchmarks.crawl.latency [--latency 0.2] [--workers 5000] [--sites 10000]
                                       [--pages 60000] [--rounds 3] [--webs DIR]

The same endless web by the same nginx without latency and with it, by turns. `ratio` is pages per
CPU second with latency over those without, the median of the rounds' own ratios: start-up is left
out, and so are the first pages, in which the visits that are to be in flight begin.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.crawl.webs import WRITTEN
from benchmarks.growth.watching import crawled, telling, window
from benchmarks.web import endless

WEB_SITES = 2_000
Figures = dict[str, object]


def main() -> None:
    options = _options()
    place = endless.written(WEB_SITES, options.webs, options.folders)
    rounds: list[tuple[Figures, Figures]] = []
    with tempfile.TemporaryDirectory() as name, telling(20_000) as told:
        scratch = Path(name)
        seeds = scratch / "seeds.txt"
        seeds.write_text("".join(f"{endless.home(site)}\n" for site in range(options.sites)))

        def figures(latency_s: float) -> Figures:
            folder = scratch / "crawl"
            with endless.served(place, folder / "nginx", latency_s=latency_s) as serving:
                words = [
                    *("--seed-file", str(seeds), "--connect-to", serving.address),
                    *("--max-pages", str(options.pages), "--max-workers", str(options.workers)),
                ]
                samples = crawled(words, folder, told=told)
            shutil.rmtree(folder)
            return window(samples, options.workers, int(options.pages * 0.95))

        for number in range(options.rounds):
            if number % 2:  # who goes first, as a machine grows slower or faster in between
                late = figures(options.latency)
                rounds.append((figures(0.0), late))
            else:
                rounds.append((figures(0.0), figures(options.latency)))
    ratios = [ratio(*it, "cpu_ms_per_page") for it in rounds]
    scaled = [ratio(*it, "scaled_cpu_ms_per_page") for it in rounds]
    told_of = {
        "latency_s": options.latency,
        "workers": options.workers,
        "sites": options.sites,
        "ratio": statistics.median(ratios),
        "scaled_ratio": statistics.median(scaled),
        "ratios": ratios,
        "scaled_ratios": scaled,
        "at_once": [at_once for at_once, _ in rounds],
        "late": [late for _, late in rounds],
    }
    print(json.dumps(told_of))


def ratio(at_once: Figures, late: Figures, cost: str) -> float:
    """Pages per CPU second of the late web over those of the other: the reverse of their costs."""
    return round(float(str(at_once[cost])) / float(str(late[cost])), 3)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl.latency", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds to every response")
    parser.add_argument("--workers", type=int, default=5_000, help="fetches in flight")
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
