import asyncio
import os
from pathlib import Path

from mannerly.store.deaths import MOST, ReadingNote, count_deaths, deadly


def note_of(data: Path, writer: int) -> int:
    return int.from_bytes((data / "deaths" / str(writer)).read_bytes(), signed=True)


async def test_a_page_is_named_while_it_is_read_and_not_after_the_turn(tmp_path: Path) -> None:
    with ReadingNote(tmp_path, 7) as note:
        assert note_of(tmp_path, 7) == 0
        for page in (-5, 6):
            note.begin(page)
            assert note_of(tmp_path, 7) == page
            note.end()
        await asyncio.sleep(0)
        assert note_of(tmp_path, 7) == 0
        note.begin(8)
        note.end()
        await asyncio.sleep(0)
        assert note_of(tmp_path, 7) == 0
    assert not (tmp_path / "deaths" / "7").exists()


async def test_what_is_left_to_say_goes_into_no_other_file(tmp_path: Path) -> None:
    with ReadingNote(tmp_path, 7) as note:
        note.begin(5)
        note.end()
    others = [os.open(tmp_path / f"other-{n}", os.O_RDWR | os.O_CREAT) for n in range(10)]
    for other in others:
        os.write(other, b"somebody else's")
    await asyncio.sleep(0)
    assert {os.pread(other, 100, 0) for other in others} == {b"somebody else's"}
    for other in others:
        os.close(other)


async def test_who_dies_while_reading_is_counted_and_who_dies_between_pages_is_not(
    tmp_path: Path,
) -> None:
    for writer in range(MOST):
        dying = ReadingNote(tmp_path, writer).__enter__()
        dying.begin(99)
    for writer in range(MOST, 2 * MOST):
        dying = ReadingNote(tmp_path, writer).__enter__()
        dying.begin(98)
        dying.end()
        await asyncio.sleep(0)
    count_deaths(tmp_path, range(2 * MOST))
    assert deadly(tmp_path) == {99}
