"""Reading: empty stores, several at once, odd names, and while somebody writes and rolls."""

import multiprocessing
import re
import shutil
from multiprocessing.synchronize import Event
from pathlib import Path

import duckdb
import pytest

from mannerly.errors import NoCrawlError
from mannerly.records import FetchRecord, PageRecord
from mannerly.store import JournalStore, Rows, segments
from mannerly.store.layout import Layout
from mannerly.store.read import open_store
from mannerly.store.tables import PAGES, VIEWS
from tests.unit.store.store_records import StillClock, fetch, page, parquet_hashes, seen


def fill(data_dir: Path, writer: int, *numbers: int, close: bool = True) -> JournalStore:
    store = JournalStore(data_dir, writer, clock=StillClock())
    store.write(1, Rows([fetch(n) for n in numbers], [page(n) for n in numbers]))
    store.settle(1, [])
    if close:
        store.close()
    return store


def test_an_empty_store_has_empty_views_with_all_columns(tmp_path: Path) -> None:
    JournalStore(tmp_path, 1, clock=StillClock()).close()
    with open_store(tmp_path) as connection:
        for view, record in (("fetches", FetchRecord), ("pages", PageRecord)):
            assert connection.execute(f"SELECT * FROM {view}").fetchall() == []
            types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {view}").fetchall()}
            assert tuple(types) == record._fields[1:]
            assert types["fetched_at"] == "TIMESTAMP"
            assert types["url_hash"] == "BIGINT"


def test_no_store_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NoCrawlError, match="no store in"):
        open_store(tmp_path / "nowhere")
    with pytest.raises(NoCrawlError):
        open_store([tmp_path])


def test_several_stores_are_read_as_one(tmp_path: Path) -> None:
    fill(tmp_path / "a", 1, 1, 2)
    store = fill(tmp_path / "b", 1, 3, close=False)
    with open_store([tmp_path / "a", tmp_path / "b"]) as connection:
        count = "SELECT count(*), sum(url_hash) FROM pages"
        assert connection.execute(count).fetchall() == [(3, 6)]
    store.close()


def test_a_directory_with_any_name_can_be_read(tmp_path: Path) -> None:
    directory = tmp_path / "it's [a-z]*?"
    fill(directory, 1, 1)
    fill(tmp_path / "it's aXX", 1, 99)
    assert seen(directory) == [1]


def test_a_view_stays_as_it_was_opened(tmp_path: Path) -> None:
    store = fill(tmp_path, 1, 1, close=False)
    with open_store(tmp_path) as connection:
        store.roll(force=True)
        store.close()
        assert connection.execute("SELECT url_hash FROM pages").fetchall() == [(1,)]


def test_a_segment_that_is_rolled_and_not_yet_removed_shows_once(tmp_path: Path) -> None:
    store = fill(tmp_path, 1, 1, 2, close=False)
    segment = Layout(tmp_path).segment(1, 1)
    shutil.copy(segment, tmp_path / "copy")
    store.close()
    segment.parent.mkdir()
    shutil.copy(tmp_path / "copy", segment)
    assert seen(tmp_path) == seen(tmp_path, "fetches") == [1, 2]
    (tmp_path / "fetches" / f"{1:016x}-000001.parquet").unlink()
    assert parquet_hashes(tmp_path) == [1, 2]
    assert seen(tmp_path) == seen(tmp_path, "fetches") == [1, 2], "half rolled: the segment counts"


def test_a_segment_that_is_rolled_under_the_readers_eyes_shows_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fill(tmp_path, 1, 1, 2, close=False)
    read_segment = segments.read_segment
    rolled = []

    def roll_then_read(path: Path, writer: int, number: int) -> segments.Segment:
        rolled.append(store.roll(force=True))
        return read_segment(path, writer, number)

    monkeypatch.setattr(segments, "read_segment", roll_then_read)
    assert seen(tmp_path) == [1, 2]
    assert rolled == [2]
    store.close()


def test_parquet_files_have_the_types_that_the_documentation_promises(tmp_path: Path) -> None:
    fill(tmp_path, 1, 1)
    with duckdb.connect() as connection:
        for table in ("pages", "fetches"):
            files = f"{tmp_path}/{table}/*.parquet"
            kinds = dict(
                connection.execute(
                    f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '{files}')"
                ).fetchall()
            )
            assert kinds["fetched_at"] == "TIMESTAMP WITH TIME ZONE"
            assert kinds["status"] == "INTEGER"
            assert kinds["site"] == "VARCHAR"
            codecs = connection.execute(
                f"SELECT DISTINCT compression FROM parquet_metadata('{files}')"
            ).fetchall()
            assert codecs == [("ZSTD",)]
        (size,) = connection.execute(
            f"SELECT max(length(stats_max)) FROM parquet_metadata('{tmp_path}/pages/*.parquet') "
            "WHERE path_in_schema IN ('text', 'title')"
        ).fetchall()
        assert size == (None,), "no statistics that repeat whole texts"


def keep_writing(data_dir: Path, stop: Event) -> None:
    store = JournalStore(data_dir, 3, clock=StillClock(), segment_bytes=15_000)
    sequence = 0
    while not stop.is_set():
        sequence += 1
        store.write(sequence, Rows([fetch(sequence, 1), fetch(-sequence, 2)], [page(sequence)]))
        store.settle(sequence, [2])
        store.roll()
    store.close()


def test_counts_only_grow_while_another_process_writes_and_rolls(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    stop = spawn.Event()
    Layout(tmp_path).make()
    writer = spawn.Process(target=keep_writing, args=(tmp_path, stop))
    writer.start()
    try:
        last = looks = rows = 0
        while looks < 25 or len(Layout(tmp_path).rolled(PAGES)) < 10:
            assert writer.is_alive()
            with open_store(tmp_path) as connection:
                for table in ("pages", "fetches"):
                    counts = (
                        f"SELECT count(*), count(DISTINCT url_hash), max(url_hash) FROM {table}"
                    )
                    rows, distinct, largest = connection.execute(counts).fetchall()[0]
                    assert rows == distinct == (largest or 0) >= last, "1..n, each once"
            if rows:
                looks += 1
            last = rows
    finally:
        stop.set()
        writer.join()
    assert writer.exitcode == 0
    assert parquet_hashes(tmp_path) == list(range(1, max(parquet_hashes(tmp_path)) + 1))
    assert max(parquet_hashes(tmp_path)) >= last


def test_the_documentation_names_every_column() -> None:
    text = (Path(__file__).parents[3] / "docs" / "store.md").read_text(encoding="utf-8")
    for table in VIEWS:
        section = text.split(f"### {table.name}\n", 1)[1].split("\n#", 1)[0]
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == table.public.names
