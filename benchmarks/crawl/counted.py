"""Counts the instructions that a page takes, under Valgrind. `benchmarks.crawl.guard` starts it:

    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=FILE
        python -m benchmarks.crawl.counted SCENES FILE

Imports and first crawls, which fill caches, run uncounted, several times as fast as counted ones.
The collector is set as in a crawl.
Then are counted: the reference over all pages; a crawl of very few pages, which has all that a
crawl costs once; a crawl; and a crawl that was made dearer on purpose, which shows that the guard
would have noticed. Prints one JSON line.
"""

import gc
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

from benchmarks.crawl.replay import Scene, crawl, reference
from mannerly.engine.page import PageReader, Reading
from mannerly.fetch.contract import Fetched
from mannerly.memory import give_back

ADDED = 0.20
"""What the dearer crawl costs more, as a share."""


SPUN = 3_000
"""Rounds of `spin` at a time, about as many as the dearer crawl makes: of more, one costs more."""


class Count:
    """The instructions of its body."""

    dumps = 0

    def __init__(self, output: str) -> None:
        self._output = output
        self.instructions = 0

    def __enter__(self) -> None:
        gc.collect()  # else it may look through everything within this body, or not
        tell_callgrind("zero")

    def __exit__(self, *_: object) -> None:
        tell_callgrind("dump")
        Count.dumps += 1
        lines = Path(f"{self._output}.{Count.dumps}").read_text().splitlines()
        totals = next(line for line in reversed(lines) if line.startswith("totals:"))
        self.instructions = int(totals.split()[1])


def tell_callgrind(*words: str) -> None:
    """Have the Valgrind that runs this process do something now."""
    asked = ["vgdb", f"--pid={os.getpid()}", *words]
    subprocess.run(asked, check=True, capture_output=True)


def make_dearer(rounds: int) -> None:
    """Have every page cost so many rounds of `spin` more."""
    read = PageReader.read

    def dearer(self: PageReader, fetched: Fetched, *more: object) -> Reading:
        spin(rounds)
        return read(self, fetched, *more)  # type: ignore[arg-type]

    PageReader.read = dearer  # type: ignore[method-assign, assignment]


def spin(rounds: int) -> None:
    for _ in range(rounds):
        pass


def main(scenes: Path, output: str) -> dict[str, float]:
    give_back()
    few, many = pickle.loads(scenes.read_bytes())
    for scene in (few, many):
        crawl(scene)
        _read_all(scene)
    tell_callgrind("instrumentation", "on")
    crawl(few)  # what the first counted instructions cost is counted with none

    def crawled(scene: Scene) -> tuple[int, int]:
        count = Count(output)
        pages = crawl(scene, count)
        return pages, count.instructions

    with (of_reference := Count(output)):
        _read_all(many)
    few_pages, few_cost = crawled(few)
    many_pages, many_cost = crawled(many)
    a_page = (many_cost - few_cost) / (many_pages - few_pages)
    a_reference = of_reference.instructions / len(many.pages())
    with (of_nothing := Count(output)):
        pass
    with (of_spinning := Count(output)):
        for _ in range(many_pages):
            spin(SPUN)
    spun = of_spinning.instructions - of_nothing.instructions
    a_round = spun / (many_pages * SPUN)
    make_dearer(round(ADDED * a_page / a_round))
    _, dearer_cost = crawled(many)
    return {
        "pages": many_pages,
        "instructions_per_page": round(a_page),
        "reference_per_page": round(a_reference),
        "dearer_per_page": round(a_page + (dearer_cost - many_cost) / many_pages),
    }


def _read_all(scene: Scene) -> None:
    for page in scene.pages():
        reference(page)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
