"""The writer's side: what is written, settled, rolled; what happens when the disk fails."""

import errno
from pathlib import Path

import pytest

from mannerly.errors import CrawlBusyError, StoreError
from mannerly.store import JournalStore, Rows, dead_writers, recover
from mannerly.store.read import open_store
from tests.unit.store.store_records import (
    FailingDisk,
    StillClock,
    exchange,
    fetch,
    page,
    parquet_hashes,
    seen,
)


def make(data_dir: Path, writer: int = 7, **options: object) -> JournalStore:
    return JournalStore(data_dir, writer, clock=StillClock(), **options)  # type: ignore[arg-type]


def checkpoint(store: JournalStore, sequence: int, *numbers: int) -> None:
    store.write(sequence, Rows([fetch(n) for n in numbers], [page(n) for n in numbers]))
    store.settle(sequence, [])


def _unnested(value: object) -> object:
    """As the record has it: a map and a list of structs are tuples there."""
    if isinstance(value, dict):
        return tuple(value.items())
    if isinstance(value, list):
        return tuple(tuple(it.values()) for it in value)
    return value


def test_every_column_comes_back(tmp_path: Path) -> None:
    odd_fetch = fetch(
        -(2**63), token=2**63 - 1, outcome="broken", status=0, detail="reset by peer",
        redirect_to="https://other.test/?a='b'", referrer_hash=2**63 - 1, wire_bytes=2**40,
        fetched_at=1_799_999_999.123456,
    )  # fmt: skip
    odd_page = page(
        5, token=-(2**63), title='a\x00b "q" \n', text="å\u2028\U0001f600 \ufffe", truncated=True,
        language="", links=0, content_hash=-1, body_bytes=0,
    )  # fmt: skip
    store = make(tmp_path)
    store.write(1, Rows([fetch(1), odd_fetch], [page(1), odd_page]))
    store.settle(1, [])
    for _ in ("in the journal", "in Parquet"):
        with open_store(tmp_path) as connection:
            for table, records in (
                ("fetches", [fetch(1), odd_fetch]),
                ("pages", [page(1), odd_page]),
            ):
                rows = connection.execute(
                    f"SELECT * REPLACE (epoch_us(fetched_at) AS fetched_at) FROM {table}"
                ).fetchall()
                rows = [tuple(map(_unnested, row)) for row in rows]
                names = [column[0] for column in connection.description]
                assert tuple(names) == records[0]._fields[1:]
                wanted = [r._replace(fetched_at=round(r.fetched_at * 1e6))[1:] for r in records]
                assert sorted(rows, key=str) == sorted(wanted, key=str)
        store.roll(force=True)
    store.close()


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(
        1, Rows([fetch(1, detail="\udcff")], [page(1, text="a\ud800b\udfff", title="fine")])
    )
    store.settle(1, [])
    store.close()
    with open_store(tmp_path) as connection:
        assert connection.execute("SELECT text, title FROM pages").fetchall() == [
            ("a\ufffdb\ufffd", "fine")
        ]
        assert connection.execute("SELECT detail FROM fetches").fetchall() == [("\ufffd",)]


def test_headings_and_properties_are_nested_columns(tmp_path: Path) -> None:
    store = make(tmp_path)
    odd = page(2, headings=((1, "a\ud800"),), open_graph=(("title", "\udfff"),))
    store.write(1, Rows([fetch(1), fetch(2)], [page(1), odd]))
    store.settle(1, [])
    asked = (
        "SELECT headings[1].text, headings[1].level, open_graph['title'] FROM pages ORDER BY url"
    )
    expected = [("Page 1", 1, "Page 1"), ("a\ufffd", 1, "\ufffd")]
    with open_store(tmp_path) as connection:
        assert connection.execute(asked).fetchall() == expected
    store.roll(force=True)
    store.close()
    with open_store(tmp_path) as connection:
        assert connection.execute(asked).fetchall() == expected


def test_a_batch_is_seen_when_it_is_settled_and_not_before(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(1, Rows([fetch(1)], [page(1)]))
    assert seen(tmp_path) == []
    assert store.roll(force=True) == 0
    store.settle(1, [])
    store.settle(1, [])
    assert seen(tmp_path) == [1]
    assert store.roll(force=True) == 2
    assert seen(tmp_path) == seen(tmp_path, "fetches") == parquet_hashes(tmp_path) == [1]
    store.close()


def test_rows_of_refused_leases_are_void(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(1, Rows([fetch(1, 10), fetch(2, 20), fetch(3, 30)], [page(1, 10), page(2, 20)]))
    store.settle(1, [20, -5])
    assert seen(tmp_path) == [1]
    assert seen(tmp_path, "fetches") == [1, 3]
    store.close()
    assert parquet_hashes(tmp_path) == [1]
    assert parquet_hashes(tmp_path, "fetches") == [1, 3]


def test_nothing_but_empty_or_refused_batches_leaves_no_file(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(1, Rows())
    store.settle(1, [])
    store.write(2, Rows([fetch(1, 5)], [page(1, 5)]))
    store.settle(2, [5])
    assert seen(tmp_path) == seen(tmp_path, "fetches") == []
    assert store.roll(force=True) == 0
    store.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_pages_without_fetches_are_seen_too(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(1, Rows([page(1)]))
    store.settle(1, [])
    assert seen(tmp_path) == [1]
    store.close()
    assert (seen(tmp_path), seen(tmp_path, "fetches")) == ([1], [])


def test_a_segment_ends_by_size_or_age(tmp_path: Path) -> None:
    clock = StillClock()
    store = JournalStore(tmp_path, 1, clock=clock, segment_bytes=40_000, segment_age_s=60)
    checkpoint(store, 1, 1)
    assert store.roll() == 0
    clock.at += 60
    assert store.roll() == 2, "it has more than an eighth of the size"
    checkpoint(store, 2, 2)
    checkpoint(store, 3, 3)
    assert store.roll() == 0
    store.write(4, Rows([page(n, text=str(2**n)) for n in range(10, 500)]))
    assert store.roll() == 0, "its last batch is not settled"
    store.settle(4, [])
    assert store.roll() == 2
    checkpoint(store, 5, 4)
    store.close()
    assert seen(tmp_path) == [1, 2, 3, 4, *range(10, 500)]
    assert len(list((tmp_path / "pages").glob("*.parquet"))) == 3


def test_a_small_segment_is_rolled_only_when_it_is_very_old(tmp_path: Path) -> None:
    clock = StillClock()
    store = JournalStore(tmp_path, 1, clock=clock, segment_bytes=200_000, segment_age_s=60)
    checkpoint(store, 1, 1)
    clock.at += 11 * 60
    assert store.roll() == 0
    clock.at += 60
    assert store.roll() == 2
    store.close()


def test_what_goes_into_a_warc_file_does_not_make_the_other_files_small(tmp_path: Path) -> None:
    store = make(tmp_path, segment_bytes=40_000)
    for sequence in range(1, 5):
        store.write(sequence, Rows([exchange(sequence, 15_000)]))
        store.settle(sequence, [])
        assert store.roll() == 0
    store.write(5, Rows([exchange(5, 60_000)]))
    store.settle(5, [])
    assert store.roll() == 3, "twice the size in all: WARC file, index, mark"
    store.close()


def test_a_large_batch_is_cut_into_bounded_pieces(tmp_path: Path) -> None:
    store = make(tmp_path)
    text = "x" * (1 << 20)
    store.write(
        1, Rows([page(n, text=text) for n in range(40)] + [page(n) for n in range(40, 2500)])
    )
    store.settle(1, [])
    assert seen(tmp_path) == list(range(2500))
    store.close()
    assert parquet_hashes(tmp_path) == list(range(2500))


def test_order_is_insisted_on(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write(5, Rows([page(1)]))
    with pytest.raises(StoreError, match="before 5 was settled"):
        store.write(6, Rows())
    with pytest.raises(StoreError, match="6 was to be settled"):
        store.settle(6, [])
    store.write(5, Rows([page(2)]))
    store.settle(5, [])
    with pytest.raises(StoreError, match="7 was to be written after 5"):
        store.write(7, Rows())
    assert seen(tmp_path) == [2], "of two batches of a sequence the later counts"
    store.close()
    assert seen(tmp_path) == [2]


def test_a_journal_has_one_owner(tmp_path: Path) -> None:
    store = make(tmp_path)
    with pytest.raises(CrawlBusyError):
        make(tmp_path)
    other = make(tmp_path, writer=8)
    assert dead_writers(tmp_path) == []
    checkpoint(store, 1, 1)
    store.write(2, Rows([fetch(2)], [page(2)]))
    store.close()
    other.close()
    assert dead_writers(tmp_path) == [7]
    with pytest.raises(StoreError, match="recover it first"):
        make(tmp_path)
    recover(tmp_path, {7: (1, frozenset[int]())}.get, writers=[7])
    again = make(tmp_path)
    checkpoint(again, 2, 2)
    again.close()
    assert parquet_hashes(tmp_path) == [1, 2], "numbers go on: no file was overwritten"


@pytest.mark.parametrize("step", ["create", "append", "sync", "sync_dir"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_failed_write_counts_for_nothing_and_can_be_repeated(
    tmp_path: Path, step: str, code: int
) -> None:
    """Also with a settled mark, with refusals in it, in the tail that is not to be trusted."""
    disk = FailingDisk()
    store = make(tmp_path, disk=disk, segment_bytes=1)
    for sequence in range(1, 4):
        store.write(sequence, Rows([fetch(sequence, 1), fetch(-sequence, 2)], [page(sequence, 1)]))
        store.settle(sequence, [2])
        disk.fails = lambda name: code if name == step else None
        for _ in range(3):
            with pytest.raises(StoreError, match="cannot write to the journal"):
                store.write(sequence + 1, Rows([page(999)]))
        disk.fails = lambda _: None
    store.write(4, Rows([fetch(4)], [page(4)]))
    assert seen(tmp_path) == [1, 2, 3]
    store.settle(4, [])
    assert seen(tmp_path) == seen(tmp_path, "fetches") == [1, 2, 3, 4]
    store.close()
    assert parquet_hashes(tmp_path) == parquet_hashes(tmp_path, "fetches") == [1, 2, 3, 4]
    assert dead_writers(tmp_path) == []


def test_nothing_is_appended_after_a_failed_fsync(tmp_path: Path) -> None:
    disk = FailingDisk()
    store = make(tmp_path, disk=disk)
    checkpoint(store, 1, 1)
    first = tmp_path / "journal" / f"{7:016x}" / "000001.seg"
    disk.fails = lambda name: errno.EIO if name == "sync" else None
    with pytest.raises(StoreError):
        store.write(2, Rows([page(999)]))
    size = first.stat().st_size
    disk.fails = lambda _: None
    checkpoint(store, 2, 2)
    assert first.stat().st_size == size
    assert first.with_name("000002.seg").exists()
    assert seen(tmp_path) == [1, 2], "of two whole batches of a sequence the later counts"
    store._lock.release()
    recover(tmp_path, {7: (2, frozenset[int]())}.get, writers=[7])
    assert parquet_hashes(tmp_path) == [1, 2]


def test_a_batch_that_awaits_its_commit_is_not_rolled_with_a_segment_that_failed(
    tmp_path: Path,
) -> None:
    disk = FailingDisk()
    store = make(tmp_path, disk=disk)
    store.write(1, Rows([fetch(1)], [page(1)]))
    disk.fails = lambda name: errno.EIO if name == "sync" else None
    with pytest.raises(StoreError):
        store.write(1, Rows([fetch(1)], [page(1)]))
    disk.fails = lambda _: None
    assert store.roll(force=True) == 0
    store.settle(1, [])
    assert store.roll(force=True) == 2
    assert seen(tmp_path) == [1]
    store.close()


def test_a_mark_that_cannot_be_written_is_made_up_for(tmp_path: Path) -> None:
    disk = FailingDisk()
    store = make(tmp_path, disk=disk)
    store.write(1, Rows([fetch(1, 1), fetch(2, 2)], []))
    disk.fails = lambda name: errno.ENOSPC if name == "append" else None
    store.settle(1, [2])
    disk.fails = lambda _: None
    store.write(2, Rows([fetch(3)], []))
    assert seen(tmp_path, "fetches") == [1]
    store.close()
    recover(tmp_path, {7: (2, frozenset[int]())}.get, writers=[7])
    assert parquet_hashes(tmp_path, "fetches") == [1, 3]


@pytest.mark.parametrize("step", ["sync_file", "rename", "sync_dir", "remove"])
def test_a_failed_roll_can_be_repeated(tmp_path: Path, step: str) -> None:
    disk = FailingDisk()
    store = make(tmp_path, disk=disk)
    checkpoint(store, 1, 1, 2)
    for skip in range(3):
        left = [skip]

        def fails(name: str, left: list[int] = left) -> int | None:
            if name != step:
                return None
            left[0] -= 1
            return errno.EIO if left[0] < 0 else None

        disk.fails = fails
        if step == "remove" and skip:
            break
        with pytest.raises(StoreError, match="roll the journal"):
            store.roll(force=True)
        assert seen(tmp_path) == seen(tmp_path, "fetches") == [1, 2]
        if step in ("sync_file", "rename") and skip:
            break
    disk.fails = lambda _: None
    checkpoint(store, 2, 3)
    store.close()
    assert parquet_hashes(tmp_path) == parquet_hashes(tmp_path, "fetches") == [1, 2, 3]
