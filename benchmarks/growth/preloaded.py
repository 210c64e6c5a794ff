"""What does a page cost on top of tens of millions of URLs that wait? Prints one JSON line.

    python -m benchmarks.growth.preloaded [--small 10kx50] [--states 1Mx10,1Mx50]
                                          [--turn 50000] [--rounds 2] [--webs DIR]

A state (`benchmarks.growth.filled`) is a stopped crawl with so many sites and so many pending URLs
each. It is gone on with for `--turn` pages of an endless web (`benchmarks.web.endless`), `--rounds`
times: all on, delay 0, one process, SQLite. Every site is met for the first time, so that a
robots.txt is read for the pages of its first lease.

`growth` is what a page costs over one on a small state of the same kind, with which it goes by
turns. Not all of it is growth: of a million sites pages link to some that nobody has linked to
before, of ten thousand they soon do not; see `new_urls_per_page`.
"""

import argparse
import json
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.crawl.webs import WRITTEN
from benchmarks.growth.filled import STATES, Filled, State, filled
from benchmarks.growth.turns import Stopped, by_turns
from benchmarks.web import endless


def main() -> None:
    options = _options()
    told: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name, ExitStack() as servers:
        scratch = Path(name)

        def begun(text: str, kind: str) -> tuple[Filled, Stopped]:
            state = State.parsed(text)
            web = endless.written(state.sites, options.webs, options.folders)
            found = filled(state, options.kept, web)
            serving = servers.enter_context(endless.served(web, scratch / f"nginx-{text}"))
            words = ["--connect-to", serving.address, "--max-workers", "500"]
            shutil.copytree(found.folder / "data", scratch / kind / "data")
            return found, Stopped(scratch / kind, words)

        _, small = begun(options.small, "small")
        for text in options.states.split(","):
            found, large = begun(text, "large")
            turns = by_turns(small, large, pages=options.turn, rounds=options.rounds)
            shutil.rmtree(large.folder)
            told.append(
                {
                    "state": text,
                    "bytes_per_url": found.bytes_per_url,
                    "bytes_per_site": found.bytes_per_site,
                    **turns,
                }
            )
            print(json.dumps(told[-1]), file=sys.stderr, flush=True)
    print(json.dumps({"small": options.small, "turn_pages": options.turn, "states": told}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth.preloaded", description=__doc__
    )
    parser.add_argument("--small", default="10kx50")
    parser.add_argument("--states", default="1Mx10,1Mx50")
    parser.add_argument("--turn", type=int, default=50_000, help="pages")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folders", type=int, default=endless.FOLDERS, help="of files, squared")
    parser.add_argument("--webs", type=Path, default=WRITTEN, help="where webs are written to")
    parser.add_argument("--kept", type=Path, default=STATES, help="where states are kept: 9 GB")
    parser.add_argument("--scratch", type=Path, default=None, help="where crawls lie: 8 GB")
    return parser.parse_args()


if __name__ == "__main__":
    main()
