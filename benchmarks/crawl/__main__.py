"""What does a crawled page cost, all in, and where does it go? Prints one JSON line.

    python -m benchmarks.crawl [--sites 500] [--https 0] [--latency 0] [--body 60000]
                               [--engine sqlite] [--processes 1] [--workers 500] [--server auto]

`mannerly crawl` with everything on (robots, politeness bookkeeping, links, text, durable frontier
and store) over a web that processes of its own serve: delay 0, gzip. CPU is user + system of the
crawler's processes; that of a database server is told apart. How each figure is made: README.
"""

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.crawl.crawling import crawl
from benchmarks.crawl.webs import served_web, web_options
from benchmarks.frontier.engines import engine_in


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        # A private server runs as another user.
        Path(scratch).chmod(0o755)
        with (
            served_web(options, Path(scratch)) as web,
            engine_in(options.engine, Path(scratch)) as engine,
        ):
            figures = crawl(
                web,
                engine,
                Path(scratch) / "crawl",
                processes=options.processes,
                workers=options.workers,
            )
    told = {
        "server": web.server,
        "https": options.https,
        "latency_s": options.latency,
        "body_bytes": options.body,
        "engine": options.engine,
    }
    print(json.dumps(told | figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    web_options(parser, sites=500, pages_mean=12.0, pages_max=60)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "redis"), default="sqlite")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--workers", type=int, default=500, help="fetches in flight")
    return parser.parse_args()


if __name__ == "__main__":
    main()
