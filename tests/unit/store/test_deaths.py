"""Notes of what is being read, and what is made of them after a death."""

from pathlib import Path

from mannerly.store.deaths import MOST, ReadingNote, count_deaths, deadly

PAGE, OTHER = -(2**63), 17


def dies_reading(data_dir: Path, writer: int, hash_: int) -> None:
    """A process that never comes to the end of its note."""
    note = ReadingNote(data_dir, writer)
    note.__enter__()
    note.begin(hash_)


def test_a_page_is_deadly_when_enough_have_died_over_it(tmp_path: Path) -> None:
    for writer in range(1, MOST + 1):
        assert deadly(tmp_path) == frozenset()
        dies_reading(tmp_path, writer, PAGE)
        count_deaths(tmp_path, [writer])
    assert deadly(tmp_path) == ReadingNote(tmp_path, 99).deadly == {PAGE}


def test_who_dies_over_nothing_or_over_another_page_accuses_nobody(tmp_path: Path) -> None:
    for writer in range(1, 2 * MOST, 2):
        dies_reading(tmp_path, writer, PAGE if writer > 1 else OTHER)
        idle = ReadingNote(tmp_path, writer + 1)
        idle.__enter__()
        idle.begin(PAGE)
        idle.end()
        count_deaths(tmp_path, [writer, writer + 1])
    assert deadly(tmp_path) == frozenset()


def test_a_death_counts_once_however_often_it_is_counted(tmp_path: Path) -> None:
    for _ in range(2 * MOST):
        # As if who counted it was killed before the note was gone.
        dies_reading(tmp_path, 1, PAGE)
        count_deaths(tmp_path, [1])
        count_deaths(tmp_path, [1])
    assert deadly(tmp_path) == frozenset()


def test_who_leaves_alive_leaves_no_note(tmp_path: Path) -> None:
    with ReadingNote(tmp_path, 1) as note:
        note.begin(PAGE)
    assert list((tmp_path / "deaths").iterdir()) == []


def test_a_disk_in_trouble_costs_no_page(tmp_path: Path) -> None:
    (tmp_path / "deaths").write_text("not a folder")
    with ReadingNote(tmp_path, 1) as note:
        note.begin(PAGE)
        note.end()
