"""How an add is cut into transactions, and what of it is synced."""

import random
from pathlib import Path

import pytest

from mannerly.clock import InlineExecutor, SystemClock
from mannerly.errors import FrontierError
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.frontier.sqlite.adding import SLICE, SLICES
from mannerly.model import NewUrl, Priority, Source

LARGE = 2 * SLICE * SLICES + 10


def urls(count: int, first: int = 0) -> list[NewUrl]:
    names = [f"s{n:06d}.example" for n in range(first, first + count)]
    return [
        NewUrl(name, n, f"https://{name}/", 0, Priority.LINK, Source.LINK, 0)
        for n, name in enumerate(names, first)
    ]


class Pressed(InlineExecutor):
    """As if a lease always waited."""

    def pressed(self) -> bool:
        return True


async def transactions(
    path: Path, batch: list[NewUrl], executor: InlineExecutor, synchronous: str = "FULL"
) -> list[str]:
    """The sync mode of each transaction that wrote, while `batch` was added."""
    frontier = SqliteFrontier(
        path,
        clock=SystemClock(),
        executor=executor,
        random=random.Random(1),
        synchronous="FULL" if synchronous == "FULL" else "NORMAL",
    )
    seen: list[str] = []
    async with frontier:
        database = frontier._database
        assert database is not None
        database._connection.set_trace_callback(seen.append)
        await frontier.add(batch)
        database._connection.set_trace_callback(None)
    modes, mode = [], synchronous
    for statement in seen:
        if statement.startswith("PRAGMA synchronous"):
            mode = statement.split()[-1]
        elif statement.startswith("UPDATE crawl SET last_at"):
            modes.append(mode)
    return modes


async def test_only_the_last_transaction_of_an_add_is_synced(tmp_path: Path) -> None:
    modes = await transactions(tmp_path / "frontier.db", urls(LARGE), InlineExecutor())
    assert modes == ["NORMAL", "NORMAL", "FULL"]


async def test_a_small_add_is_one_synced_transaction(tmp_path: Path) -> None:
    assert await transactions(tmp_path / "f.db", urls(10), InlineExecutor()) == ["FULL"]


async def test_what_was_written_is_synced_also_if_the_end_is_known(tmp_path: Path) -> None:
    """Sites are worked off in the order of their ids: the first ones are known here."""
    path = tmp_path / "frontier.db"
    known = urls(SLICE * SLICES)
    await transactions(path, known, InlineExecutor())
    more = [url._replace(hash=-1 - url.hash) for url in known]
    # The new ones come first, the known ones at the end write nothing.
    later = urls(SLICE * SLICES, first=SLICE * SLICES)
    await transactions(path, later, InlineExecutor())
    modes = await transactions(path, [*more, *later], InlineExecutor())
    assert modes[0] == "NORMAL"
    assert modes[-1] == "FULL"


async def test_whoever_waits_is_let_in_after_a_slice(tmp_path: Path) -> None:
    modes = await transactions(tmp_path / "frontier.db", urls(4 * SLICE), Pressed())
    assert len(modes) == 4
    assert modes[-1] == "FULL"


@pytest.mark.parametrize("executor", [InlineExecutor(), Pressed()], ids=["idle", "pressed"])
async def test_normal_stays_normal(tmp_path: Path, executor: InlineExecutor) -> None:
    modes = await transactions(tmp_path / "f.db", urls(LARGE), executor, synchronous="NORMAL")
    assert set(modes) == {"NORMAL"}


async def test_ids_that_another_process_cleared_away_never_mean_another_site(
    tmp_path: Path,
) -> None:
    def opened() -> SqliteFrontier:
        return SqliteFrontier(
            tmp_path / "frontier.db",
            clock=SystemClock(),
            executor=InlineExecutor(),
            random=random.Random(1),
        )

    async with opened() as one, opened() as other:
        await one.add(urls(3))
        await other.clear()
        await other.add(urls(3, first=10))
        more = [url._replace(hash=-1 - url.hash) for url in urls(3)]
        with pytest.raises(FrontierError, match="cleared by another process"):
            await one.add(more)
        assert (await one.add(more)).new == 3
        sites = (await one.iterate_sites()).sites
        assert [(it.site, it.pending) for it in sites] == [
            (url.site, 1) for url in (*urls(3, first=10), *urls(3))
        ]


async def test_pieces_that_are_left_after_a_failure_do_nothing(tmp_path: Path) -> None:
    tried = []

    class Breaking(InlineExecutor):
        def pressed(self) -> bool:
            tried.append(1)
            raise RuntimeError("broken on purpose")

    frontier = SqliteFrontier(
        tmp_path / "frontier.db", clock=SystemClock(), executor=Breaking(), random=random.Random(1)
    )
    async with frontier:
        with pytest.raises(RuntimeError):
            await frontier.add(urls(LARGE))
        assert len(tried) == 1
        assert (await frontier.stats()).urls_known == 0


async def test_an_add_of_what_is_known_is_synced_too(tmp_path: Path) -> None:
    """Who wrote it may not have synced it yet."""
    path = tmp_path / "frontier.db"
    await transactions(path, urls(LARGE), InlineExecutor())
    assert (await transactions(path, urls(LARGE), InlineExecutor()))[-1] == "FULL"
