"""A full disk stops the frontier with a clear message, and it goes on when there is room."""

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mannerly.errors import FrontierError
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit
from tests.unit.frontier.sqlite_opening import opened, url


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk takes root; RLIMIT_FSIZE is tested all the same")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


async def fill(frontier: SqliteFrontier) -> int:
    """Add until it fails; how many URLs were accepted before."""
    for number in range(0, 100_000, 500):
        try:
            await frontier.add(
                [url("a.example", n, "x" * 300) for n in range(number, number + 500)]
            )
        except FrontierError:
            return number
    raise AssertionError("the disk never became full")


async def check_goes_on(frontier: SqliteFrontier, writer: int, accepted: int) -> None:
    assert (await frontier.stats()).urls_known == accepted
    again = [url("a.example", n, "x" * 300) for n in range(accepted, accepted + 500)]
    assert (await frontier.add(again)).new == 500
    leased = await frontier.lease(writer, 1, ttl_s=60, urls_per_site=1)
    assert len(leased.leases) == 1
    await frontier.commit(writer, Commit(1))
    assert (await frontier.stats()).urls_known == accepted + 500


async def test_a_full_disk_is_reported_and_mended(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    async with opened(small_disk / "frontier.db") as frontier:
        writer = await frontier.enlist("a writer")
        accepted = await fill(frontier)
        with pytest.raises(FrontierError, match="the disk is full; free some space"):
            await frontier.add([url("b.example", n, "x" * 300) for n in range(1000)])
        ballast.unlink()
        await check_goes_on(frontier, writer, accepted)


async def test_a_write_that_fails_is_reported_and_mended(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with opened(tmp_path / "frontier.db") as frontier:
        writer = await frontier.enlist("a writer")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        request.getfixturevalue("small_files")
        accepted = await fill(frontier)
        with pytest.raises(FrontierError, match=r"could not be read or written|disk is full"):
            await frontier.add([url("b.example", n, "x" * 300) for n in range(1000)])
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await check_goes_on(frontier, writer, accepted)
