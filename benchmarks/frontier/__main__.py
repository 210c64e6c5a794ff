"""What does the frontier cost at 1, 10 and 40 million pending URLs? Prints one JSON line.

    python -m benchmarks.frontier --engine sqlite --sizes 1M,10M,40M

One frontier grows from size to size. Its sites are made and first filled through `add`; what it
grows by is written into its tables (`bulk`). At each size: CPU and wall time per URL of add, for
batches of links as pages give them (`links`) and for URLs of random sites (`uniform`), and of the
same batches again (`known`); per page of lease and commit; how long a lease takes alone and while
another process adds without pause; bytes on disk (Redis: of memory). Then, in SQL, the design that
it replaces, on the same data.

CPU is user and system time of this process and of all processes of the server. What is known of a
size is told on standard error at once. TMPDIR names the place for the files.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.frontier import naive
from benchmarks.frontier.engines import Engine, engine_in
from benchmarks.frontier.steps import Figures, Measurement, Shape
from mannerly.units import size

SMALL = {"add_batch": 10_000, "add_rounds": 1, "lease_rounds": 5, "busy_rounds": 10,
         "busy_batches": 3}  # fmt: skip
"""For --small: the whole of it in seconds, to see that it works. Its figures mean nothing."""


async def grown(engine: Engine, shape: Shape, sizes: list[int]) -> Figures:
    figures: Figures = {}
    async with engine.open() as frontier:
        await frontier.create({"delay_s": "70"})
        writer = await frontier.enlist("benchmark")
        measurement = Measurement(engine, frontier, writer, shape)
        for number in sizes:
            figures[str(number)] = await measurement.at(number)
            print(engine.name, number, json.dumps(figures[str(number)]), file=sys.stderr)
    return figures


def main(arguments: list[str]) -> Figures:
    options = _parser().parse_args(arguments)
    shape = Shape(sites=options.sites)
    if options.small:
        shape = replace(shape, **SMALL)
    sizes = sorted(options.sizes)
    with (
        tempfile.TemporaryDirectory(prefix="mannerly-benchmark-") as directory,
        engine_in(options.engine, Path(directory), url=options.url) as engine,
    ):
        figures: Figures = {"engine": options.engine, "sites": options.sites}
        if options.only != "naive":
            figures["frontier"] = asyncio.run(grown(engine, shape, sizes))
            engine.drop()
        if options.only != "frontier" and options.engine != "redis":
            figures["naive"] = naive.measure(
                engine, Path(directory), options.sites, sizes, options.claim_limit
            )
    return figures


def _sizes(text: str) -> list[int]:
    return [size(part) for part in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks frontier", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--engine", choices=["sqlite", "postgres", "redis"], default="sqlite")
    parser.add_argument("--sizes", type=_sizes, default=[10**6], help="1M,10M,40M")
    parser.add_argument("--sites", type=size, default=10**6)
    parser.add_argument(
        "--url", default="", help="a server on this machine; default: a private one"
    )
    parser.add_argument(
        "--claim-limit", type=float, default=60.0, help="seconds, of the old design"
    )
    parser.add_argument("--only", choices=["frontier", "naive"], help="leave the other one out")
    parser.add_argument("--small", action="store_true", help="few rounds: to see that it works")
    return parser


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
