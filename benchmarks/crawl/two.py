"""What do two processes do that one does not? Prints one JSON line.

    python -m benchmarks.crawl.two [--sites 2000] [--rounds 3] [--engine sqlite] [--workers 500]
                                   [--share 0]

The same web is crawled by one process and by two, by turns, on nginx. `speed_up` is pages a second
of two over those of one, `cpu_ratio` CPU a page of two over that of one: the medians of the rounds'
own ratios, since two neighbouring crawls meet the same machine. It wants the machine for itself:
two crawl processes and nginx on two cores leave nothing for others. With `--share 0.6` (root) each
process gets so much of a core: then two cores have room for both, nginx and the system.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.crawl.crawling import crawl
from benchmarks.crawl.webs import served_web, web_options
from benchmarks.frontier.engines import engine_in

Figures = dict[str, object]


def main() -> None:
    options = _options()
    rounds: list[tuple[Figures, Figures]] = []
    with tempfile.TemporaryDirectory() as scratch, served_web(options, Path(scratch)) as web:
        Path(scratch).chmod(0o755)  # a private server runs as another user

        def crawled(processes: int) -> Figures:
            folder = Path(scratch) / "crawl"
            folder.mkdir()
            folder.chmod(0o755)
            with engine_in(options.engine, folder) as engine:
                figures = crawl(
                    web,
                    engine,
                    folder / "data",
                    processes=processes,
                    workers=options.workers,
                    share=options.share,
                )
            shutil.rmtree(folder)
            return figures

        for number in range(options.rounds):
            if number % 2:  # who goes first, as a machine grows slower or faster in between
                two = crawled(2)
                rounds.append((crawled(1), two))
            else:
                rounds.append((crawled(1), crawled(2)))
    told = {
        "server": web.server,
        "engine": options.engine,
        "workers": options.workers,
        "share": options.share,
    }
    print(json.dumps(told | compared(rounds)))


def compared(rounds: list[tuple[Figures, Figures]]) -> Figures:
    """The ratios, and what they were made from."""

    def ratios(figure: str) -> list[float]:
        return [round(float(str(two[figure])) / float(str(one[figure])), 3) for one, two in rounds]

    speed_ups, cpu_ratios = ratios("pages_per_s"), ratios("cpu_ms_per_page")
    return {
        "speed_up": statistics.median(speed_ups),
        "cpu_ratio": statistics.median(cpu_ratios),
        "speed_ups": speed_ups,
        "cpu_ratios": cpu_ratios,
        "one": [one for one, _ in rounds],
        "two": [two for _, two in rounds],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl.two", description=__doc__)
    web_options(parser, sites=2000, pages_mean=20.0, pages_max=100)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "redis"), default="sqlite")
    parser.add_argument("--workers", type=int, default=500, help="fetches in flight, of each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.0, help="of a core, for each process")
    return parser.parse_args()


if __name__ == "__main__":
    main()
