"""The full-text index of one data directory: SQLite's FTS5, made on demand, in DIR/search.

The index is a shadow of the store and may be deleted at any time. It has the words of every page,
not the texts: those are in the store. What is new is added before a search:

- Parquet files that were not read before. A file is noted when all of it is in the index;
- rows that are still in a journal. They come again in a Parquet file, and are known by then: a
  page is known by the hash of its URL and the instant of its fetch;
- when files are gone (merged into others, or their pages removed), the store is asked whether
  every page of the index is still there. If not the index is made anew: of a page that was
  removed on purpose no word may stay, and an index without texts cannot take out single ones.

Killed at any moment it is whole: pages are added in transactions, and the next run goes on. Runs at
the same time wait for each other (a lock on DIR/search/lock); searching needs no lock.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mannerly.errors import StoreError, UsageError
from mannerly.reading.asking import Answer
from mannerly.reading.opening import open_reading
from mannerly.reading.words import spaced
from mannerly.store.inspection import store_files
from mannerly.store.layout import Layout
from mannerly.store.tables import PAGES

DIRECTORY = "search"
_VERSION = 1
_SCHEMA = """\
CREATE TABLE files (name TEXT PRIMARY KEY, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL);
CREATE TABLE docs (
    id INTEGER PRIMARY KEY, url_hash INTEGER NOT NULL, fetched_us INTEGER NOT NULL,
    site TEXT NOT NULL, UNIQUE (url_hash, fetched_us)
);
CREATE VIRTUAL TABLE words USING fts5(
    title, text, content='', tokenize="unicode61 remove_diacritics 2"
);
"""
_COLUMNS = ["url_hash", "fetched_at", "site", "title", "text"]
_ROWS_AT_A_TIME = 200
# A transaction: what a kill costs, against the price of a commit.
_CHARS_PER_TURN = 8 << 20
_TOLD_EVERY_S = 5.0

Page = tuple[int, int, str, str, str]
"""url_hash, fetched_us, site, title, text"""


def index_path(data_dir: Path) -> Path:
    return data_dir / DIRECTORY / "index.db"


def refresh(data_dir: Path, tell: Callable[[str], None]) -> None:
    """Bring the index up to date with the store. `tell` is given a line now and then."""
    with _alone(data_dir, tell):
        try:
            with _opened(index_path(data_dir)) as index:
                _Builder(data_dir, index, tell).run()
        except sqlite3.Error as exc:
            raise StoreError(
                f"cannot write the search index ({exc}): make room, or delete "
                f"{data_dir / DIRECTORY}, it is made anew"
            ) from exc


def forget_words(data_dir: Path, site: str) -> None:
    """Of a site that is no longer in the store no word may stay: an index that has any is removed.

    Not left to the next search, which may never come.
    """
    path = index_path(data_dir)
    if not path.exists():
        return
    with _alone(data_dir, lambda _: None):
        if _has_site(path, site):
            _remove(path)


def _has_site(path: Path, site: str) -> bool:
    """True also where it cannot be told."""
    try:
        with closing(sqlite3.connect(path, timeout=60.0)) as index:
            sql = "SELECT 1 FROM docs WHERE site = ? LIMIT 1"
            return index.execute(sql, (site,)).fetchone() is not None
    except sqlite3.Error:
        return True


def _remove(path: Path) -> None:
    # The log first: alone it means nothing, the file alone is an index.
    for name in (Path(f"{path}-wal"), Path(f"{path}-shm"), path):
        name.unlink(missing_ok=True)


class _Builder:
    def __init__(
        self, data_dir: Path, index: sqlite3.Connection, tell: Callable[[str], None]
    ) -> None:
        self._data_dir = data_dir
        self._index = index
        self._tell = tell
        self._added = 0
        self._told_at = time.monotonic()

    def run(self) -> None:
        began_at = time.monotonic()
        if self._is_any_file_gone():
            self._drop_what_is_gone()
        self._read_new_files()
        with open_reading([self._data_dir]) as store:
            self._add(_journalled(store))
        # What was rolled since the files were listed is in neither of the two: once more.
        self._read_new_files()
        if self._added:
            took_s = time.monotonic() - began_at
            self._tell(f"indexed {self._added:,} new pages in {took_s:.1f} s")

    def _is_any_file_gone(self) -> bool:
        return bool(self._noted() - _files(self._data_dir))

    def _noted(self) -> set[tuple[str, int, int]]:
        return set(self._index.execute("SELECT name, size, changed_ns FROM files"))

    def _drop_what_is_gone(self) -> None:
        gone = self._noted() - _files(self._data_dir)
        with open_reading([self._data_dir]) as store:
            is_whole = _has_all(store, self._index)
        if not is_whole:
            self._tell("pages were removed from the store: the search index is made anew")
            _create(self._index)
            return
        with self._index:
            self._index.executemany("DELETE FROM files WHERE name = ?", [(f[0],) for f in gone])

    def _read_new_files(self) -> None:
        noted = self._noted()
        for file in sorted(_files(self._data_dir) - noted):
            try:
                self._read_file(self._data_dir / "pages" / file[0])
            except FileNotFoundError:
                continue  # merged into another, which is listed the next time
            except pa.ArrowInvalid as exc:
                raise StoreError(f"{file[0]} cannot be read ({exc}): see mannerly check") from exc
            with self._index:
                self._index.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", file)

    def _read_file(self, path: Path) -> None:
        with pq.ParquetFile(path) as file:
            if not self._is_all_known(file):
                self._add(_rolled(file))

    def _is_all_known(self, file: pq.ParquetFile) -> bool:
        """Files that were merged bring nothing new: no text of theirs is read."""
        for batch in file.iter_batches(batch_size=10_000, columns=_COLUMNS[:2]):
            keys = zip(batch["url_hash"].to_pylist(), _micros(batch["fetched_at"]), strict=True)
            if not all(self._knows(*key) for key in keys):
                return False
        return True

    def _knows(self, url_hash: int, fetched_us: int) -> bool:
        sql = "SELECT 1 FROM docs WHERE url_hash = ? AND fetched_us = ?"
        return self._index.execute(sql, (url_hash, fetched_us)).fetchone() is not None

    def _add(self, pages: Iterable[Page]) -> None:
        chars = 0
        try:
            for url_hash, fetched_us, site, title, text in pages:
                if self._knows(url_hash, fetched_us):
                    continue
                # The first statement that writes begins a transaction.
                row = self._index.execute(
                    "INSERT INTO docs (url_hash, fetched_us, site) VALUES (?, ?, ?)",
                    (url_hash, fetched_us, site),
                )
                self._index.execute(
                    "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
                    (row.lastrowid, spaced(title), spaced(text)),
                )
                self._added += 1
                chars += len(text)
                if chars > _CHARS_PER_TURN:
                    self._index.commit()
                    chars = 0
                    self._tell_progress()
        finally:
            # Also what was added before an interrupt: each page is whole.
            self._index.commit()

    def _tell_progress(self) -> None:
        if time.monotonic() - self._told_at > _TOLD_EVERY_S:
            self._told_at = time.monotonic()
            self._tell(f"indexing: {self._added:,} new pages so far")


def _files(data_dir: Path) -> set[tuple[str, int, int]]:
    found = set()
    for file in store_files(Layout(data_dir)):
        if file.table is PAGES:
            try:
                facts = file.path.stat()
            except FileNotFoundError:
                continue
            found.add((file.path.name, facts.st_size, facts.st_mtime_ns))
    return found


def _rolled(file: pq.ParquetFile) -> Iterator[Page]:
    for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME, columns=_COLUMNS):
        columns = [batch[name].to_pylist() for name in ("url_hash", "site", "title", "text")]
        columns.insert(1, _micros(batch["fetched_at"]))
        yield from zip(*columns, strict=True)


def _journalled(store: duckdb.DuckDBPyConnection) -> Iterator[Page]:
    sql = "SELECT url_hash, epoch_us(fetched_at), site, title, text FROM journalled_pages"
    for row in Answer(store, sql):
        yield row[0], row[1], row[2], row[3], row[4]


def _has_all(store: duckdb.DuckDBPyConnection, index: sqlite3.Connection) -> bool:
    """Whether every page of the index is still in the store."""
    rows = index.execute("SELECT url_hash, fetched_us FROM docs ORDER BY id").fetchall()
    keys = pa.table(
        {
            "url_hash": pa.array([row[0] for row in rows], pa.int64()),
            "fetched_us": pa.array([row[1] for row in rows], pa.int64()),
        }
    )
    store.register("indexed", keys)
    ((missing,),) = Answer(
        store,
        "SELECT count(*) FROM indexed ANTI JOIN"
        " (SELECT url_hash, epoch_us(fetched_at) AS fetched_us FROM pages) AS p"
        " USING (url_hash, fetched_us)",
    )
    return int(missing) == 0


def _micros(instants: pa.Array) -> list[int]:
    micros: list[int] = pc.cast(instants, pa.int64()).to_pylist()
    return micros


@contextmanager
def _alone(data_dir: Path, tell: Callable[[str], None]) -> Iterator[None]:
    directory = data_dir / DIRECTORY
    try:
        directory.mkdir(exist_ok=True)
        fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as exc:
        raise UsageError(
            f"the search index is kept in {directory}, which cannot be written: {exc.strerror}"
        ) from exc
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("another search is indexing: waiting for it")
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, for writing. One of another version, or a damaged one, is made anew."""
    index = sqlite3.connect(path, timeout=60.0)
    try:
        (version,) = index.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        index.close()
        raise
    except sqlite3.DatabaseError:
        index.close()
        _remove(path)
        index = sqlite3.connect(path, timeout=60.0)
        version = 0
    with closing(index):
        index.execute("PRAGMA cache_size = -65536")
        index.execute("PRAGMA synchronous = NORMAL")
        if version != _VERSION:
            _create(index)
        yield index


def _create(index: sqlite3.Connection) -> None:
    index.execute("PRAGMA journal_mode = WAL")
    drop = "".join(f"DROP TABLE IF EXISTS {name};" for name in ("words", "docs", "files"))
    index.executescript(f"BEGIN; {drop} {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT; VACUUM")
