"""Tell one seed again, or live through many of them.

python -m tests.simulation.faults --seed 17
python -m tests.simulation.faults --seeds 2000 --results benchmarks/results/simulation.json
"""

import argparse
import os
import sys
from pathlib import Path

from tests.simulation.faults.many import live_through
from tests.simulation.faults.plan import draw
from tests.simulation.faults.shrinking import shrink, told
from tests.simulation.faults.story import live


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, help="tell this one, shrunk if it fails")
    parser.add_argument("--whole", action="store_true", help="with --seed: do not shrink it")
    parser.add_argument("--seeds", type=int, default=100, help="live through so many")
    parser.add_argument("--first", type=int, default=0, help="from this one on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at once")
    parser.add_argument("--results", type=Path, help="where the summary goes, as JSON")
    given = parser.parse_args()
    if given.seed is not None:
        return tell(given.seed, whole=given.whole)
    return live_through(range(given.first, given.first + given.seeds), given.jobs, given.results)


def tell(seed: int, *, whole: bool) -> int:
    story = live(draw(seed))
    if story.violations and not whole:
        story = shrink(story)
    print(told(story))
    return 1 if story.violations else 0


if __name__ == "__main__":
    sys.exit(main())
