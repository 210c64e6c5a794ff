"""Many seeds, spread over processes, and their sum."""

import json
import multiprocessing
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.simulation.faults.plan import draw
from tests.simulation.faults.story import live


class Lived(NamedTuple):
    """What is kept of a seed among many."""

    seed: int
    violations: list[str]
    faults: Counter[str]
    killed_at: Counter[str]
    lives: int
    pages: int
    requests: int
    simulated_s: float
    cpu_s: float


def live_briefly(seed: int) -> Lived:
    began_s = time.process_time()
    story = live(draw(seed))
    return Lived(
        seed,
        story.violations,
        Counter({kind.name.lower(): n for kind, n in story.faults.items()}),
        story.killed_at,
        story.lives,
        story.pages,
        len(story.requests),
        story.elapsed_s,
        time.process_time() - began_s,
    )


def live_through(seeds: range, jobs: int, results: Path | None) -> int:
    began_s = time.monotonic()
    lived = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=50) as pool:
        for one in pool.imap_unordered(live_briefly, seeds, chunksize=10):
            lived.append(one)
            for violation in one.violations:
                print(f"seed {one.seed}: {violation}", flush=True)
    summary = summed(lived, time.monotonic() - began_s)
    print(json.dumps(summary))
    if results is not None:
        results.write_text(json.dumps(summary, indent=2) + "\n")
    failed = sorted(one.seed for one in lived if one.violations)
    if failed:
        print(f"python -m tests.simulation.faults --seed {failed[0]} tells the first of them")
    return 1 if failed else 0


def summed(lived: list[Lived], took_s: float) -> dict[str, object]:
    faults = sum((one.faults for one in lived), Counter[str]())
    killed_at = sum((one.killed_at for one in lived), Counter[str]())
    return {
        "seeds": len(lived),
        "violations": sum(len(one.violations) for one in lived),
        "failed_seeds": sorted(one.seed for one in lived if one.violations),
        "faults": dict(sorted(faults.items())),
        "killed_at": dict(sorted(killed_at.items())),
        "lives": sum(one.lives for one in lived),
        "pages_stored": sum(one.pages for one in lived),
        "requests": sum(one.requests for one in lived),
        "simulated_hours": round(sum(one.simulated_s for one in lived) / 3600, 1),
        "cpu_s_per_seed": round(sum(one.cpu_s for one in lived) / len(lived), 3),
        "took_s": round(took_s, 1),
    }
