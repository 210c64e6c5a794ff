"""Crawl for a while, and judge what it took from the machine.

python -m tests.soak --minutes 45

The figures go to `benchmarks/results/soak.json` with the command that made them.
"""

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.keeping import Measurement

from tests.soak.crawling import soaked
from tests.soak.verdict import judged

_BEGAN_AT = time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--kept", default="soak", help="the name under which figures are kept")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended, too
    measurement = Measurement()
    with (
        tempfile.TemporaryDirectory(prefix="mannerly-soak-") as folder,
        soaked(Path(folder), given.minutes, _tell) as seen,
    ):
        verdict = judged(seen, given.minutes)
    print(verdict.text())
    measurement.keep(
        given.kept, " ".join(["python", "-m", "tests.soak", *sys.argv[1:]]), verdict.figures
    )
    return 0 if verdict.held else 1


def _tell(what: str) -> None:
    print(f"{time.monotonic() - _BEGAN_AT:6.1f} s  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
