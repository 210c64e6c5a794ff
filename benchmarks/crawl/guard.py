"""Has a page become dearer? Exit code 1 if so.

    python -m benchmarks.crawl.guard [--keep]

Instructions are counted, by Valgrind, and not seconds: the same code gives the same count within a
thousandth, whatever else the machine does. A small web is crawled from memory on virtual time
(`benchmarks.crawl.replay`); what its pages cost is compared, as a multiple of the reference that is
counted beside it, with `baseline.json`. `--keep` makes what was counted the new baseline: after a
change that made pages cheaper, or on purpose dearer.

Not in it: sockets and HTTP, and how long memory takes to answer.
"""

import argparse
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.crawl.replay import Scene
from mannerly.simweb.spec import preset

BASELINE = Path(__file__).parent / "baseline.json"
ALLOWED = 1.15
FEW = preset("plain", sites=2, pages_mean=2, pages_max=8, https=0.0)
MANY = preset("plain", sites=6, pages_mean=4, pages_max=8, https=0.0)
DEADLINE_S = 280.0


class Counted(NamedTuple):
    """Of one run."""

    pages: int
    instructions_per_page: int
    reference_per_page: int
    dearer_per_page: int
    """With a fifth added on purpose."""

    @property
    def ratio(self) -> float:
        """What a page costs, in references."""
        return self.instructions_per_page / self.reference_per_page

    @property
    def dearer_ratio(self) -> float:
        return self.dearer_per_page / self.reference_per_page


def counted() -> Counted:
    """Crawl under Valgrind, in a process of its own."""
    if shutil.which("valgrind") is None:
        raise RuntimeError("Valgrind is not there: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        scenes, output = Path(folder) / "scenes", Path(folder) / "counts"
        scenes.write_bytes(pickle.dumps((Scene(FEW), Scene(MANY))))
        command = [
            *("valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"),
            f"--callgrind-out-file={output}",
            *(sys.executable, "-m", "benchmarks.crawl.counted", str(scenes), str(output)),
        ]
        # The same order in every set and dictionary, and no file with compiled code to be written.
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        printed = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            env=environment,
            check=True,
            timeout=DEADLINE_S,
            cwd=Path(__file__).parents[2],
        ).stdout
    return Counted(**json.loads(printed.splitlines()[-1]))


def baseline() -> float:
    return float(json.loads(BASELINE.read_text())["ratio"])


def complaint(ratio: float, before: float) -> str:
    """What is wrong with a ratio; '' if nothing is."""
    if ratio <= ALLOWED * before:
        return ""
    return (
        f"a page takes {ratio:.2f} times the instructions of the reference, "
        f"{ratio / before - 1:.0%} more than the {before:.2f} of benchmarks/crawl/baseline.json; "
        "make it cheaper or, if it is worth it, keep the new figure: "
        "python -m benchmarks.crawl.guard --keep"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl.guard", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="make it the new baseline")
    options = parser.parse_args()
    found = counted()
    told = {"ratio": round(found.ratio, 3), **found._asdict()}
    print(json.dumps(told))
    if options.keep:
        BASELINE.write_text(json.dumps(told, indent=2) + "\n")
    elif wrong := complaint(found.ratio, baseline()):
        sys.exit(wrong)


if __name__ == "__main__":
    main()
