"""create, settings, enlist, writer_state: what there is before the first URL."""

import pytest

from mannerly.errors import CrawlBusyError, CrawlExistsError
from mannerly.frontier.conformance.engine import Engine
from mannerly.frontier.conformance.shapes import Worker, released, settled, url
from mannerly.frontier.contract import Frontier, WriterState

SETTINGS = {"delay_s": "5", "scope": "seeds", "odd name": "väl;ue\n"}


async def test_before_create_there_are_no_settings(frontier: Frontier) -> None:
    assert await frontier.settings() is None


async def test_every_handle_reads_the_settings_as_they_were_given(
    engine: Engine, frontier: Frontier
) -> None:
    await frontier.create(SETTINGS)
    async with engine.open() as another:
        assert await another.settings() == SETTINGS


async def test_a_crawl_may_have_no_settings_and_exists_all_the_same(frontier: Frontier) -> None:
    await frontier.create({})
    assert await frontier.settings() == {}
    with pytest.raises(CrawlExistsError):
        await frontier.create({})


async def test_a_crawl_is_created_once_and_keeps_its_settings(
    engine: Engine, frontier: Frontier
) -> None:
    await frontier.create(SETTINGS)
    async with engine.open() as another:
        with pytest.raises(CrawlExistsError):
            await another.create({"delay_s": "1"})
    assert await frontier.settings() == SETTINGS


async def test_one_at_a_time_begins_a_crawl(engine: Engine, frontier: Frontier) -> None:
    await frontier.clear()
    await frontier.add([url("a.example", 1)])
    async with engine.open() as another:
        with pytest.raises(CrawlBusyError):
            await another.clear()
        assert (await another.stats()).urls_pending == 1
    await frontier.create(SETTINGS)
    assert await frontier.settings() == SETTINGS
    async with engine.open() as another:
        with pytest.raises(CrawlExistsError):
            await another.clear()
    assert (await frontier.stats()).urls_pending == 1


async def test_a_beginning_that_was_left_is_begun_anew(engine: Engine, frontier: Frontier) -> None:
    async with engine.open() as another:
        await another.clear()
        await another.add([url("a.example", 1)])
    assert await frontier.settings() is None
    await frontier.clear()
    await frontier.clear()
    assert (await frontier.stats()).urls_known == 0
    await frontier.create(SETTINGS)
    assert await frontier.settings() == SETTINGS


async def test_writers_get_ids_of_their_own(engine: Engine, frontier: Frontier) -> None:
    async with engine.open() as another:
        ids = [await handle.enlist("same label") for handle in (frontier, another) * 3]
    assert len(set(ids)) == 6
    assert min(ids) > 0
    assert (await frontier.stats()).writers == 6


async def test_a_new_writer_has_committed_nothing(worker: Worker) -> None:
    assert await worker.frontier.writer_state(worker.writer) == WriterState(0, frozenset())


async def test_a_writer_nobody_heard_of_has_no_state(frontier: Frontier) -> None:
    assert await frontier.writer_state(12345) is None


async def test_others_read_how_far_a_writer_came(engine: Engine, worker: Worker) -> None:
    await worker.frontier.add([url("a.example", 1), url("b.example", 2)])
    first, second = await worker.lease()
    await worker.commit(settled(first), released(first))
    async with engine.open() as another:
        assert await another.writer_state(worker.writer) == WriterState(1, frozenset())
        await another.retire(worker.writer, 0)
        await worker.commit(settled(second))
        state = await another.writer_state(worker.writer)
    assert state == WriterState(2, frozenset({second.token}))
