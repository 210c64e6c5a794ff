"""A file that outlives the boot in which it was written."""

from pathlib import Path

import pytest

from mannerly.errors import FrontierMisuseError
from mannerly.frontier.contract import Leased
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.model import Commit, Released
from tests.unit.frontier.sqlite_opening import StillClock, opened, url

DELAY_S = 15.0


async def ask(frontier: SqliteFrontier) -> Leased:
    writer = await frontier.enlist("asking")
    return await frontier.lease(writer, 10, ttl_s=60, urls_per_site=1)


@pytest.mark.parametrize("boot_id", ["boot 2", ""])
async def test_after_a_reboot_no_site_is_leased_before_the_delay(
    tmp_path: Path, boot_id: str
) -> None:
    """The wall clock may say what it likes: requests may have been made just before the boot."""
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.create({"delay_s": str(DELAY_S)})
        await frontier.add([url("a.example", 1)])
    clock = StillClock(now_s=0.25, wall_s=1_900_000_000.0)
    async with opened(path, clock, boot_id) as frontier:
        leased = await ask(frontier)
        assert leased.leases == []
        assert leased.next_ready_in_s == pytest.approx(DELAY_S, abs=0.01)
        assert (await frontier.stats()).sites_ready == 0
        assert (await frontier.stats()).sites_waiting == 1
        clock.move(DELAY_S)
        assert (await ask(frontier)).leases == []
        clock.move(0.01)
        assert len((await ask(frontier)).leases) == 1


async def test_after_a_reboot_a_site_is_not_leased_before_its_own_delay(tmp_path: Path) -> None:
    """A wall clock that is an hour ahead does not end the pause that its robots.txt asks for."""
    path = tmp_path / "frontier.db"
    asked_s = 60.0
    async with opened(path) as frontier:
        await frontier.create({"delay_s": str(DELAY_S)})
        await frontier.add([url("a.example", 1)])
        writer = await frontier.enlist("first")
        (lease,) = (await frontier.lease(writer, 1, ttl_s=600, urls_per_site=1)).leases
        rest = Released(lease.handle, lease.token, asked_s, 0, abandoned=False, delay_s=asked_s)
        await frontier.commit(writer, Commit(1, released=[rest]))
    clock = StillClock(now_s=2.0)
    clock.wall_s += 3600
    async with opened(path, clock, "boot 2") as frontier:
        clock.move(asked_s - 0.01)
        assert (await ask(frontier)).leases == []
        clock.move(0.02)
        assert len((await ask(frontier)).leases) == 1


async def test_the_same_boot_rests_nothing(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    clock = StillClock()
    async with opened(path, clock) as frontier:
        await frontier.create({"delay_s": str(DELAY_S)})
        await frontier.add([url("a.example", 1)])
    clock.wall_s += 1e6
    async with opened(path, clock) as frontier:
        assert len((await ask(frontier)).leases) == 1


async def test_other_processes_rest_too(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.create({"delay_s": str(DELAY_S)})
        await frontier.add([url("a.example", 1)])
    clock = StillClock(now_s=1.0)
    async with opened(path, clock, "boot 2"):
        pass
    async with opened(path, clock, "boot 2") as second:
        assert (await ask(second)).leases == []


async def test_lapsed_time_counts_over_a_reboot(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.add([url("a.example", 1)])
        writer = await frontier.enlist("first")
        await frontier.lease(writer, 1, ttl_s=600, urls_per_site=1)
    clock = StillClock(now_s=3.0)
    clock.wall_s += 500
    async with opened(path, clock, "boot 2") as frontier:
        assert (await ask(frontier)).leases == []
        clock.move(101)
        assert len((await ask(frontier)).leases) == 1


async def test_a_file_that_another_machine_opened_is_not_touched_any_more(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path, StillClock()) as here:
        await here.add([url("a.example", 1)])
        async with opened(path, StillClock(now_s=9.0), "another machine") as there:
            with pytest.raises(FrontierMisuseError, match="another machine"):
                await here.add([url("a.example", 2)])
            assert (await there.stats()).urls_known == 1


async def test_the_system_tells_its_boot_id(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path, boot_id=None) as frontier:
        await frontier.create({"delay_s": str(DELAY_S)})
        await frontier.add([url("a.example", 1)])
    async with opened(path, boot_id=None) as frontier:
        assert len((await ask(frontier)).leases) == 1
