"""Crawlers in processes of their own (crawler.py): starting them, and judging what they did."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mannerly.model import NewUrl

Process = subprocess.Popen[str]


class Visit(NamedTuple):
    """One visit, as the crawler reports it. The clock is boot time, so processes agree on it."""

    site: str
    hash: int
    begun_at: float
    """After the lease was given."""
    ended_at: float
    """Before the commit was sent."""
    refused: bool


def start(opener: str, *arguments: str) -> Process:
    """A crawler that finds what this process finds."""
    return subprocess.Popen(
        [sys.executable, "-m", "mannerly.frontier.conformance.crawler", opener, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def hear(process: Process) -> Any:
    """The next line the process says."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def tell(process: Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def hear_out(process: Process) -> list[Any]:
    """Everything the process says until it ends."""
    with process:
        assert process.stdout is not None
        return [json.loads(line) for line in process.stdout]


def kill_after(process: Process, count: int) -> list[Any]:
    """Hear so many lines, kill, and hear what was said in the meantime."""
    said = [hear(process) for _ in range(count)]
    process.kill()
    said += hear_out(process)
    assert process.returncode < 0
    return said


def reported(said: Iterable[Sequence[Any]]) -> list[Visit]:
    """The visits among what was said."""
    return [Visit(*visit) for kind, *what in said if kind == "visits" for visit in what[0]]


def judge(visits: Sequence[Visit], urls: Sequence[NewUrl], rest_s: float) -> None:
    """Every URL was visited once, and no site while it was leased or at rest."""
    assert not any(visit.refused for visit in visits)
    assert Counter((visit.site, visit.hash) for visit in visits) == Counter(it[:2] for it in urls)
    judge_gaps(visits, rest_s)


def judge_gaps(visits: Sequence[Visit], rest_s: float) -> None:
    by_site: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for visit in visits:
        by_site[visit.site].append((visit.begun_at, visit.ended_at))
    gaps = [
        begun_at - ended_at
        for visited in by_site.values()
        for (_, ended_at), (begun_at, _) in pairwise(sorted(visited))
    ]
    assert gaps, "no site was visited twice, so nothing was judged"
    assert min(gaps) >= rest_s, "a site was leased while leased, or before its rest was over"
