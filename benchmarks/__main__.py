"""Run benchmarks and keep what they print.

    python -m benchmarks                       all of them, as they stand below
    python -m benchmarks parse store
    python -m benchmarks frontier --engine sqlite --sizes 1M,10M,40M
    python -m benchmarks manuals --folder DIR
    python -m benchmarks manuals --help        the options that it has

Each prints one JSON line; it goes to `results/NAME.json` with the command, the machine, the date
and the commit. Options are for a single benchmark, and replace those below.
"""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.keeping import Measurement

HERE = Path(__file__).parent
CRAWL = ["-m", "benchmarks.crawl"]
FRONTIER = ["-m", "benchmarks.frontier", "--only"]
COMMANDS: dict[str, list[str]] = {
    "crawl-plain": CRAWL,
    "crawl-tls": [*CRAWL, "--https", "1"],
    "crawl-latency": ["-m", "benchmarks.crawl.latency"],
    "crawl-large": [*CRAWL, "--body", "240000", "--sites", "150"],
    "crawl-postgres": [*CRAWL, "--engine", "postgres"],
    "crawl-two": ["-m", "benchmarks.crawl.two"],
    "crawl-two-with-room": ["-m", "benchmarks.crawl.two", "--share", "0.6"],
    "fetch": ["-m", "benchmarks.fetch.cost_per_request"],
    "frontier-sqlite": [*FRONTIER, "frontier", "--engine", "sqlite"],
    "frontier-postgres": [*FRONTIER, "frontier", "--engine", "postgres"],
    "frontier-redis": [*FRONTIER, "frontier", "--engine", "redis"],
    "naive-sqlite": [*FRONTIER, "naive", "--engine", "sqlite"],
    "naive-postgres": [*FRONTIER, "naive", "--engine", "postgres"],
    "observe": ["-m", "benchmarks.observe.cost_per_page"],
    "parse": ["-m", "benchmarks.parse.cost_per_page"],
    "store": ["benchmarks/store/cost_per_page.py"],
    "store-kept": ["benchmarks/store/cost_per_page.py", "--keep", "links,warc"],
    "url": ["benchmarks/url/cost_per_link.py"],
}
APART = {
    "growth": ["-m", "benchmarks.growth"],
    "growth-preloaded": ["-m", "benchmarks.growth.preloaded"],
    "manuals": ["-m", "benchmarks.manuals"],
    "migrate": ["-m", "benchmarks.migrate"],
    "peers": ["-m", "benchmarks.peers"],
    "redis-failover": ["-m", "benchmarks.frontier.failover"],
    "redis-masters": ["-m", "benchmarks.frontier.masters"],
}
"""Those that run only when they are named."""
HELP = frozenset(("-h", "--help"))


def main(words: list[str]) -> None:
    first_option = next((n for n, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:first_option] or list(COMMANDS), words[first_option:]
    if first_option == 0 and HELP & set(options):
        print(f"{__doc__}\nBenchmarks: {', '.join(COMMANDS)}\nOnly when named: {', '.join(APART)}")
        return
    if names == ["frontier"]:
        names, options = _frontier(options)
    commands = COMMANDS | APART
    unknown = set(names) - set(commands)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(commands)}")
    if options and len(names) > 1:
        sys.exit("options are for a single benchmark; name it")
    for name in names:
        _run(name, commands[name] + options)


def _frontier(options: list[str]) -> tuple[list[str], list[str]]:
    """`frontier --engine NAME` is `frontier-NAME`; without an engine it is all."""
    if "--engine" not in options[:-1]:
        return ["frontier-sqlite", "frontier-postgres", "frontier-redis"], options
    at = options.index("--engine")
    return [f"frontier-{options[at + 1]}"], options[:at] + options[at + 2 :]


def _run(name: str, command: list[str]) -> None:
    measurement = Measurement()
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, check=False, cwd=HERE.parent
    )
    if done.returncode or HELP & set(command):
        # It has said what is wrong, or what it can do.
        print(done.stdout, end="")
        sys.exit(done.returncode)
    figures = json.loads(done.stdout.splitlines()[-1])
    measurement.keep(name, " ".join(["python", *command]), figures)
    print(name, json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
