"""What rolling leaves behind in memory, in a process of its own."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import random, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from mannerly import memory
from mannerly.store import Rows, journal
from tests.unit.store.store_records import fetch, page
from tests.unit.store.test_store_journal import make

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def kept(folder):
    chance = random.Random(1)
    words = [hex(chance.getrandbits(64)) for _ in range(5000)]
    store = make(folder, segment_bytes=12 << 20)
    for sequence in range(1, 1000):
        numbers = range(20 * sequence, 20 * sequence + 20)
        pages = [page(n, text=" ".join(chance.choices(words, k=800))) for n in numbers]
        store.write(sequence, Rows([fetch(n) for n in numbers], pages))
        store.settle(sequence, [])
        before = resident()
        if store.roll():
            return resident() - before

if sys.argv[1] == "leave alone":
    journal.MUCH = 1 << 60
memory.give_back()
with ThreadPoolExecutor(1) as pool:  # as the crawl does
    print(pool.submit(kept, Path(sys.argv[2])).result() >> 20)
"""


def kept_mib(how: str, folder: Path) -> int:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how, str(folder)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    return int(done.stdout)


def test_a_large_segment_that_was_rolled_leaves_little(tmp_path: Path) -> None:
    left = kept_mib("leave alone", tmp_path / "a")
    assert kept_mib("give back", tmp_path / "b") < left - 5
