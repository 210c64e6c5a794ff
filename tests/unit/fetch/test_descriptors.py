"""The budget of file descriptors."""

import resource
import subprocess
import sys

import pytest

from mannerly.errors import UsageError
from mannerly.fetch.descriptors import Budget, budget

INFINITE = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "workers", "decided"),
    [
        (4096, 4096, 1000, Budget(4096, 1000, None)),
        (1253, 1253, 1000, Budget(1253, 1000, None)),
        (1024, 4096, 1000, Budget(1253, 1000, None)),
        (1024, INFINITE, 10_000, Budget(11_378, 10_000, None)),
        (INFINITE, INFINITE, 10_000, Budget(INFINITE, 10_000, None)),
    ],
)
def test_enough(soft: int, hard: int, workers: int, decided: Budget) -> None:
    assert budget(soft, hard, workers, 128) == decided


def test_too_few_lowers_the_concurrency_and_says_so_in_a_sentence() -> None:
    decided = budget(1024, 4096, 10_000, 128)
    assert decided[:2] == (4096, 3527)
    assert decided.message == (
        "the limit of 4096 open files allows 3527 fetches at once instead of 10000: "
        "raise it to 11378 (ulimit -Hn 11378) for all of them"
    )


def test_not_even_one() -> None:
    with pytest.raises(UsageError, match="leaves none for fetching"):
        budget(64, 129, 10, 128)


def test_apply_raises_the_soft_limit_of_this_process() -> None:
    script = (
        "import resource\n"
        "from mannerly.fetch.descriptors import apply\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 1000))\n"
        "print(apply(400, 100)[:2], resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "print(apply(900, 100)[:2], resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "(550, 400) (550, 1000)\n(1000, 800) (1000, 1000)\n"
