"""Questions to the frontier and to the store: answered, or refused with a reason, and soon."""

import asyncio
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest

from mannerly.config import Config, build
from mannerly.dashboard import desk as desks
from mannerly.dashboard.asking import MOST_WAITING, Asker, NotAnswered
from mannerly.dashboard.desk import Desk
from mannerly.dashboard.sites import table
from mannerly.errors import FrontierError, NoCrawlError
from mannerly.frontier.conformance.shapes import url
from mannerly.frontier.contract import Frontier
from tests.unit.frontier.sqlite_opening import opened


@pytest.fixture
async def config(tmp_path: Path) -> Config:
    async with opened(tmp_path / "frontier.db") as frontier:
        await frontier.add([url(f"s{number:02}.example", 1) for number in range(45)])
        await frontier.create({"delay_s": "1"})
    return build({"data_dir": tmp_path})


async def test_a_page_of_sites(config: Config) -> None:
    desk = Desk(config)
    asked = {"sort": "name", "page": "2"}
    found = await desk.ask(partial(table, asked=asked))
    assert [it["site"] for it in found["sites"]] == [f"s{n}.example" for n in range(40, 45)]
    assert (found["page"], found["more"]) == (2, False)
    assert {it["state"] for it in found["sites"]} == {"ready"}
    for odd in ({"page": "-1"}, {"page": "x"}, {"sort": "drop table"}, {"search": "'%"}):
        assert (await desk.ask(partial(table, asked=odd)))["page"] == 0
    desk.close()


async def test_what_goes_wrong_is_told_and_the_next_is_answered(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(config)

    async def fails(_: Frontier) -> None:
        raise FrontierError("as it may")

    with pytest.raises(FrontierError, match="as it may"):
        await desk.ask(fails)
    assert (await desk.ask(lambda frontier: frontier.stats())).sites == 45
    with monkeypatch.context() as patched:
        patched.setattr(desks, "PATIENCE_S", 0.1)
        never = asyncio.Event()
        with pytest.raises(FrontierError, match="did not answer"):
            await desk.ask(lambda _: never.wait())
    desk.close()


async def test_where_there_is_no_crawl(tmp_path: Path) -> None:
    config = build({"data_dir": tmp_path / "nothing"})
    with pytest.raises(NoCrawlError):
        await Desk(config).ask(lambda frontier: frontier.stats())
    asker = Asker(config)
    with pytest.raises(NotAnswered, match="there is no store") as refused:
        await asker.search("--help")
    assert refused.value.status is HTTPStatus.UNPROCESSABLE_ENTITY
    for nothing in ("", "  ", "x" * 3000, "a\0b"):
        with pytest.raises(NotAnswered, match="some text is needed"):
            await asker.explain(nothing)


async def test_only_a_few_may_wait(tmp_path: Path) -> None:
    asker = Asker(build({"data_dir": tmp_path}))
    asked = [asyncio.create_task(asker.search("words")) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(NotAnswered) as refused:
        await asker.search("words")
    assert refused.value.status is HTTPStatus.TOO_MANY_REQUESTS
    for task in asked:
        task.cancel()
    await asyncio.wait(asked)
