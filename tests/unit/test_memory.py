"""Whether free memory goes back to the system, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from mannerly.memory import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "give back":
    assert give_back()
    assert give_back()
# The first large block that is freed is what glibc learns from.
del [bytearray(30 << 20)][:]
before = resident()
blocks = [bytearray(b"x" * (3 << 19)) for _ in range(30)]
del blocks
print((resident() - before) >> 20)
"""


HOLES = """
from pathlib import Path
from mannerly.memory import give_back, trim

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

give_back()
before = resident()
blocks = [bytearray(b"x" * 300_000) for _ in range(400)]
del blocks[:-1]  # the last one keeps the heap from shrinking
left = resident()
trim()
print((left - before) >> 20, (resident() - before) >> 20)
"""


WRITTEN = """
import sys
from pathlib import Path
from mannerly.cli import main

how, target = sys.argv[1:]
if how == "by a command":
    sys.argv[1:] = ["--help"]
    try:
        main()
    except SystemExit:
        pass

import pyarrow as pa
import pyarrow.parquet as pq
from mannerly.memory import give_back, trim

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

give_back()
table = pa.table({"text": [str(n) * 200_000 for n in range(40)]})
pq.write_table(table.slice(0, 1), target, use_dictionary=False)  # what is needed only once
trim()
before = resident()
pq.write_table(table, target, use_dictionary=False)
trim()
print((resident() - before) >> 20)
"""


def kept_mib(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_what_is_free_between_blocks_in_use_is_given_back_when_told() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    left, trimmed = map(int, done.stdout.split())
    assert left > 100
    assert trimmed < 10


def test_large_bodies_leave_nothing_behind() -> None:
    assert kept_mib("leave alone") > 20
    assert kept_mib("give back") < 4


def test_what_parquet_was_written_with_is_given_back(tmp_path: Path) -> None:
    unset = {name: value for name, value in os.environ.items() if not name.startswith("ARROW_")}

    def kept(how: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", WRITTEN, how, str(tmp_path / "x.parquet")],
            capture_output=True, text=True, check=True, env=unset,
        )  # fmt: skip
        return int(done.stdout.split()[-1])

    assert kept("by itself") > 10
    assert kept("by a command") < 4
