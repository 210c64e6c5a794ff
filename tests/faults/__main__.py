"""Carry a real fault out, and judge what came of it.

python -m tests.faults kills --engine postgres --kills 50 --pages 10000
python -m tests.faults all

The figures go to `benchmarks/results/faults-NAME.json` with the command that made them.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.keeping import Measurement

from mannerly.units import size
from tests.faults import clock, cut, kills, memory, oom, pauses, restarts, stalling
from tests.faults.ground import ENGINES, Tell
from tests.faults.verdict import Verdict

_BEGAN_AT = time.monotonic()
Play = Callable[[argparse.Namespace, Tell], Verdict]

ALL = [
    *(f"kills --engine {engine}" for engine in ENGINES),
    *(f"pauses --engine {engine}" for engine in ENGINES),
    *(f"restarts --engine {engine}" for engine in restarts.ENGINES),
    "cut",
    "cut --seconds 30",
    "cut --seconds 150",
    "clock",
    "oom",
    "stalling",
    "memory",
]
"""What `all` carries out, one after the other: about an hour. The longest cut outlasts the leases,
so that the sites of the one that is cut off are taken over."""


def main() -> int:
    given = _parser().parse_args()
    if given.name == "all":
        return max(
            subprocess.call([sys.executable, "-m", "tests.faults", *words.split()]) for words in ALL
        )
    signal.signal(signal.SIGTERM, _leave)
    play: Play = given.play
    measurement = Measurement()
    verdict = play(given, _tell)
    print(verdict.text())
    measurement.keep(
        f"faults-{given.kept.format(**vars(given))}",
        " ".join(["python", "-m", "tests.faults", *sys.argv[1:]]),
        verdict.figures,
    )
    return 0 if verdict.held else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    faults = parser.add_subparsers(dest="name", required=True)

    def fault(name: str, about: str | None, kept: str, play: Play) -> argparse.ArgumentParser:
        added = faults.add_parser(name, help=(about or "").partition("\n\n")[0])
        added.set_defaults(play=play, kept=kept)
        return added

    kill = fault("kills", kills.__doc__, "kills-{engine}",
                 lambda it, tell: kills.play(it.engine, it.kills, it.pages, tell))  # fmt: skip
    pause = fault("pauses", pauses.__doc__, "pauses-{engine}",
                  lambda it, tell: pauses.play(it.engine, it.count, it.crawlers, tell))  # fmt: skip
    restart = fault("restarts", restarts.__doc__, "restarts-{engine}",
                    lambda it, tell: restarts.play(it.engine, it.count, tell))  # fmt: skip
    cutting = fault("cut", cut.__doc__, "cut-{seconds}",
                    lambda it, tell: cut.play(it.seconds, tell))  # fmt: skip
    setting = fault("clock", clock.__doc__, "clock", lambda it, tell: clock.play(it.pages, tell))
    hungry = fault("oom", oom.__doc__, "oom",
                   lambda it, tell: oom.play(it.engine, it.kills, it.pages, tell))  # fmt: skip
    fault("stalling", stalling.__doc__, "stalling", lambda _, tell: stalling.play(tell))
    large = fault("memory", memory.__doc__, "memory",
                  lambda it, tell: memory.play(it.limit, it.sites, it.workers, tell))  # fmt: skip
    faults.add_parser("all", help="one after the other: about an hour")
    for added in (kill, pause, hungry):
        added.add_argument("--engine", choices=ENGINES, default="sqlite")
    kill.add_argument("--kills", type=int, default=50)
    kill.add_argument("--pages", type=int, default=10_000)
    pause.add_argument("--count", type=int, default=20)
    pause.add_argument("--crawlers", type=int, default=11, help="one of them is never stopped")
    restart.add_argument("--engine", choices=restarts.ENGINES, default="postgres")
    restart.add_argument("--count", type=int, default=10)
    cutting.add_argument("--seconds", type=int, default=60)
    setting.add_argument("--pages", type=int, default=1000)
    hungry.add_argument("--kills", type=int, default=6)
    hungry.add_argument("--pages", type=int, default=2000)
    large.add_argument("--limit", type=size, default=size("400MiB"))
    large.add_argument("--sites", type=int, default=2000)
    large.add_argument("--workers", type=int, default=2000)
    return parser


def _leave(*_: object) -> None:
    """Whatever was started is ended, too. A second word must not break that off."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _tell(what: str) -> None:
    print(f"{time.monotonic() - _BEGAN_AT:6.1f} s  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
