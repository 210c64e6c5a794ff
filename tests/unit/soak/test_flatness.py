"""What counts as flat: noise and a beginning do, a leak does not."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.flatness import ALLOWED, growth, slope
from tests.soak.samples import taken

SAMPLES = 540
"""45 minutes."""
MIB = 2**20


def series(*, leak: float = 0.0, seed: int = 1) -> list[float]:
    """A process that fills its caches within five minutes, with peaks and noise; and a leak, in
    bytes a sample."""
    chance = random.Random(seed)
    return [
        (150 + 50 * min(1.0, n / 60) + chance.uniform(-5, 5) + 80 * (n % 30 == 0)) * MIB + leak * n
        for n in range(SAMPLES)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_noise_peaks_and_caches_that_fill_are_flat(seed: int) -> None:
    assert abs(growth(series(seed=seed))) < ALLOWED / 2


@pytest.mark.parametrize("seed", range(20))
def test_a_leak_of_500_bytes_a_page_is_not(seed: int) -> None:
    pages_a_sample = 40 * 5
    assert growth(series(leak=500 * pages_a_sample, seed=seed)) > ALLOWED


def test_descriptors_from_nothing_are_growth() -> None:
    assert growth([0] * 30 + [1] * 30) == 1.0
    assert growth([0] * 60) == 0.0


def test_too_few_samples_are_no_verdict() -> None:
    with pytest.raises(ValueError, match="too few"):
        growth([1.0] * 5)


def test_the_slope_is_that_of_the_last_two_thirds() -> None:
    times = [5.0 * n for n in range(90)]
    assert slope(times, [100.0 - at if at < 150 else 2.0 * at for at in times]) == pytest.approx(2)


def test_a_sample_is_what_the_kernel_says_of_all_processes(tmp_path: Path) -> None:
    held = 40 * MIB
    program = f"held = bytearray(b'x') * {held}; print(flush=True); input()"
    before = taken(1.0, os.getpid(), tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        (tmp_path / "journal" / "1").mkdir(parents=True)
        (tmp_path / "journal" / "1" / "a.seg").write_bytes(b"x" * 1000)
        (tmp_path / "frontier.db").write_bytes(b"x" * 500)
        now = taken(2.0, os.getpid(), tmp_path)
        child.communicate(b"\n")
    assert now.pids == (*before.pids, child.pid)
    assert now.rss >= before.rss + held
    assert now.own >= before.own + 0.9 * held
    assert now.descriptors >= before.descriptors + 3
    assert now.threads == before.threads + 1
    assert (now.journal, now.disk) == (1000, 1500)
