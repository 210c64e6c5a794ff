"""Tables whose rows stand whatever the frontier settles: `requests`, and `runs` without a token."""

from pathlib import Path

from mannerly.store import JournalStore, Rows, dead_writers, recover
from mannerly.store.layout import Layout
from mannerly.store.read import open_store
from tests.unit.engine.runs import run_of
from tests.unit.store.store_records import StillClock, fetch, page, request, seen

WRITER = 9


def requests_seen(data_dir: Path) -> list[tuple[int, bool]]:
    with open_store(data_dir) as store:
        return store.execute("SELECT visit, settled FROM requests ORDER BY visit").fetchall()


def checkpoint(store: JournalStore, sequence: int) -> None:
    """Of two leases; the second, 1000 + sequence, is refused by whoever settles."""
    tokens = [(sequence, sequence), (100 + sequence, 1000 + sequence)]
    rows = Rows(
        [fetch(*pair) for pair in tokens],
        [page(*pair) for pair in tokens],
        [request(*pair) for pair in tokens],
        [run_of(WRITER)] if sequence == 1 else [],
    )
    store.write(sequence, rows)


def test_requests_of_refused_leases_stand_and_are_marked(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, WRITER, clock=StillClock())
    checkpoint(store, 1)
    assert requests_seen(tmp_path) == [(1, False), (101, False)], "they were made, that is certain"
    assert seen(tmp_path, "fetches") == []
    store.settle(1, [1001])
    for _ in ("in the journal", "in Parquet"):
        assert requests_seen(tmp_path) == [(1, True), (101, False)]
        assert seen(tmp_path, "fetches") == seen(tmp_path) == [1]
        with open_store(tmp_path) as connection:
            assert connection.execute("SELECT writer FROM runs").fetchall() == [(WRITER,)]
        assert store.roll(force=True) in (4, 0)
    store.close()


def test_requests_of_a_batch_that_was_never_committed_are_recovered(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, WRITER, clock=StillClock())
    checkpoint(store, 1)
    store.settle(1, [1001])
    checkpoint(store, 2)
    store._lock.release()
    report = recover(tmp_path, lambda _: (1, frozenset({1001})), writers=dead_writers(tmp_path))
    assert (report.batches_kept, report.batches_void) == (1, 1)
    assert report.rows == {"fetches": 1, "pages": 1, "requests": 4, "runs": 1}
    assert requests_seen(tmp_path) == [(1, True), (2, False), (101, False), (102, False)]
    assert seen(tmp_path) == seen(tmp_path, "fetches") == [1]


def test_a_void_batch_alone_leaves_its_requests(tmp_path: Path) -> None:
    """Nothing but the mark is in `fetches`, and a reader does not take the segment for unrolled."""
    store = JournalStore(tmp_path, WRITER, clock=StillClock())
    checkpoint(store, 1)
    store._lock.release()
    recover(tmp_path, lambda _: (0, frozenset()), writers=dead_writers(tmp_path))
    assert requests_seen(tmp_path) == [(1, False), (101, False)]
    assert seen(tmp_path) == seen(tmp_path, "fetches") == []


def test_a_batch_that_was_written_twice_shows_its_requests_once(tmp_path: Path) -> None:
    """Its first attempt is whole on the disk, but was not made durable."""
    store = JournalStore(tmp_path, WRITER, clock=StillClock())
    checkpoint(store, 1)
    store._give_up_segment()
    checkpoint(store, 1)
    assert len(Layout(tmp_path).segments(WRITER)) == 2
    assert requests_seen(tmp_path) == [(1, False), (101, False)]
    store.settle(1, [])
    store.close()
    assert requests_seen(tmp_path) == [(1, True), (101, True)]


def test_tables_without_rows_take_no_file(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, WRITER, clock=StillClock())
    store.write(1, Rows([fetch(1)]))
    store.settle(1, [])
    assert store.roll(force=True) == 1
    store.close()
    assert [path.parent.name for path in tmp_path.rglob("*.parquet")] == ["fetches"]
