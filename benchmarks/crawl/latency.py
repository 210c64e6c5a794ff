"""What does a page cost where every answer is late? Prints one JSON line.

    python -m benchmarks.crawl.latency [--latency 0.2,5] [--workers 5000] [--sites 10000]
                                       [--pages 60000] [--rounds 3] [--webs DIR]

The same endless web by nginx without latency and with it, by turns. `ratio` is pages per CPU second
with latency over those without, the median of the rounds' own ratios; start-up is left out, the
last checkpoint is in.

What is in flight is latency times pages a second, and what has come and waits for the CPU. With
200 ms and one core that is a few hundred of the first; the crawler lowers its own limit where the
second becomes so much that a visit waits for it longer than for the site. Thousands that really
wait for their sites at once take latencies of seconds.
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
    latencies = [0.0, *map(float, options.latency.split(","))]
    rounds: list[list[Figures]] = []
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
            return window(samples, 0, options.pages + 1)

        for number in range(options.rounds):
            # Who goes first, as a machine grows slower or faster in between.
            order = latencies if number % 2 == 0 else latencies[::-1]
            crawls = {latency_s: figures(latency_s) for latency_s in order}
            rounds.append([crawls[latency_s] for latency_s in latencies])
    told_of = {
        "workers": options.workers,
        "sites": options.sites,
        "latencies": [
            {"latency_s": latency_s, **compared(rounds, at)}
            for at, latency_s in enumerate(latencies)
        ],
    }
    print(json.dumps(told_of))


def compared(rounds: list[list[Figures]], at: int) -> Figures:
    """Pages per CPU second of one of each round's crawls over those of its first: the reverse of
    what a page cost them."""

    def ratios(cost: str) -> list[float]:
        return [round(float(str(it[0][cost])) / float(str(it[at][cost])), 3) for it in rounds]

    unscaled, scaled = ratios("cpu_ms_per_page"), ratios("scaled_cpu_ms_per_page")
    return {
        "ratio": statistics.median(unscaled),
        "scaled_ratio": statistics.median(scaled),
        "ratios": unscaled,
        "scaled_ratios": scaled,
        "crawls": [it[at] for it in rounds],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl.latency", description=__doc__)
    parser.add_argument("--latency", default="0.2,5", help="seconds to every response")
    parser.add_argument("--workers", type=int, default=5_000, help="fetches in flight")
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
