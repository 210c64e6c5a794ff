"""The connection of one process: transactions, the frontier's time in them, the write-ahead log.

Everything here blocks, and belongs to the one thread that the executor gives it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

from mannerly.clock import Clock
from mannerly.errors import FrontierError, FrontierMisuseError
from mannerly.frontier.leases import duration_ms
from mannerly.frontier.sqlite import schema, statements
from mannerly.frontier.sqlite.timekeeping import Epoch, Instant, first_epoch, instant, resumed
from mannerly.frontier.sqlite.trouble import translated
from mannerly.frontier.sqlite.turn import Turn
from mannerly.timing import Timings

Synchronous = Literal["FULL", "NORMAL"]

CACHE_BYTES = 64 * 1024 * 1024
"""Pages that SQLite keeps in memory, per process."""

BUSY_TIMEOUT_S = 10
"""For programs that do not take turns: a shell, a backup, a copy of ours that is just closing."""

WAL_BYTES = 16 * 1024 * 1024
"""The log is copied into the database when it is longer than this. Longer means fewer writes,
because a page that changed many times is copied once; it also means a longer pause."""


class Transaction:
    """What the verbs see inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, epoch: Epoch, now: Instant, seq: int):
        self._connection = connection
        self.execute = connection.execute
        self.executemany = connection.executemany
        self.cursor = connection.cursor
        self.now = now
        self.rest_until = epoch.rest_until
        self.next_seq = seq

    def changes(self) -> int:
        """Rows changed so far, since the file was opened."""
        return self._connection.total_changes

    def reserve(self, count: int) -> int:
        """The first of `count` fresh places in queues: behind every place given before."""
        first = self.next_seq
        self.next_seq += count
        return first


class Database:
    """One open frontier file. `close` it on the thread that opened it."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        boot_id: str,
        synchronous: Synchronous,
        timings: Timings,
    ) -> None:
        """Open the file, make or migrate its schema, and go on with its clock.

        `SchemaError` (nothing was changed) if it is newer than we are or not a frontier.
        """
        self.path = path
        self._clock = clock
        self._boot_id = boot_id
        self._timings = timings
        self._synchronous = self._mode = synchronous
        self._checkpoint_above = WAL_BYTES
        self._wal = path.with_name(path.name + "-wal")
        with translated(path):
            # Used from one thread at a time, but an executor may not always be the same thread.
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            try:
                known = schema.migrations()
                self._look_before_touching(known)
                self._turn = Turn(path)
            except BaseException:
                self._connection.close()
                raise
            try:
                self._prepare(synchronous, known)
            except BaseException:
                self.close()
                raise

    def _look_before_touching(self, known: list[schema.Migration]) -> None:
        """Refuse a file that is not for us, while nothing of it or beside it is written yet."""
        # One view for all the questions: another process may be making the schema just now.
        self._connection.execute("BEGIN")
        try:
            schema.version_of(self._connection, self.path, known)
        finally:
            self._connection.execute("ROLLBACK")

    def _prepare(self, synchronous: Synchronous, known: list[schema.Migration]) -> None:
        execute = self._connection.execute
        with self._turn.taken():
            execute("PRAGMA journal_mode = WAL")
            execute(f"PRAGMA synchronous = {synchronous}")
            execute(f"PRAGMA cache_size = {-CACHE_BYTES // 1024:d}")
            execute("PRAGMA temp_store = MEMORY")
            # Some builds overwrite what is deleted with zeros, which doubles the writing.
            execute("PRAGMA secure_delete = OFF")
            # Copying the log is our business: `_copy_log`.
            execute("PRAGMA wal_autocheckpoint = 0")
            with self._begun():
                schema.migrate(self._connection, self.path, known)
                self._go_on()

    def _go_on(self) -> None:
        """Carry the frontier's clock over from whoever had the file open before."""
        execute = self._connection.execute
        row = execute(statements.EPOCH).fetchone()
        now_s, wall_s = self._clock.now(), self._clock.wall()
        if row is None:
            execute(statements.FIRST_EPOCH, first_epoch(self._boot_id, now_s, wall_s))
            return
        delay = execute(statements.DELAY).fetchone()
        delay_s = float(delay[0]) if delay is not None else 0.0
        before = Epoch._make(row[:-1])
        after = resumed(before, self._boot_id, now_s, wall_s, delay_s)
        if after != before:
            execute(statements.NEW_EPOCH, after)
            # A wall clock that is ahead must not cut their pauses short either. Of each it is only
            # known that it was not visited since the boot.
            execute(statements.REST_AFTER_BOOT, (after.last_at + 1, duration_ms(delay_s)))

    def sync(self) -> None:
        """Make durable what was written without being so."""
        with self.writing("sync") as transaction:
            transaction.reserve(1)  # something has to be written for it

    @contextmanager
    def reading(self, name: str, **sizes: int) -> Iterator[Transaction]:
        """A consistent view of what is committed. Waits for nobody and delays nobody. Timed as
        `name`, as `writing` is."""
        with translated(self.path), self._timings.measure(name, **sizes):
            self._connection.execute("BEGIN")
            try:
                yield self._transaction()
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, name: str, *, durable: bool = True, **sizes: int) -> Iterator[Transaction]:
        """The one transaction that may write now. Durable when the block is left; if anything is
        raised in it, nothing happened. A block that changes nothing writes nothing.

        Not `durable`: a power cut may undo it, until the next durable one that writes anything, of
        any process (they share one log, and what is synced is all of it). Timed as `name`, without
        the waiting for the turn, which is an operation of its own.
        """
        with translated(self.path):
            self._sync("NORMAL" if not durable else self._synchronous)
            with self._taken_turn(), self._timings.measure(name, **sizes), self._begun():
                changes = self._connection.total_changes
                transaction = self._transaction()
                first_seq = transaction.next_seq
                yield transaction
                if (self._connection.total_changes, transaction.next_seq) != (changes, first_seq):
                    seen = (transaction.now.at, self._clock.wall(), transaction.next_seq)
                    self._connection.execute(statements.RECORD_MOMENT, seen)
            self._copy_log()

    def wanted(self) -> bool:
        """Whether another process waits for the turn that this one has."""
        return self._turn.wanted()

    def _sync(self, mode: Synchronous) -> None:
        if mode != self._mode:
            self._connection.execute(f"PRAGMA synchronous = {mode}")
            self._mode = mode

    @contextmanager
    def _taken_turn(self) -> Iterator[None]:
        with ExitStack() as stack:
            with self._timings.measure("wait for turn"):
                stack.enter_context(self._turn.taken())
            yield

    @contextmanager
    def _begun(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            # After some errors SQLite has rolled back already, after others it has not.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _transaction(self) -> Transaction:
        *fields, seq = self._connection.execute(statements.EPOCH).fetchone()
        epoch = Epoch._make(fields)
        if epoch.boot_id != self._boot_id:
            raise FrontierMisuseError(
                f"{self.path} was opened by another machine meanwhile; use the file on one "
                "machine only, and start this process again"
            )
        return Transaction(self._connection, epoch, instant(epoch, self._clock.now()), seq)

    def _copy_log(self) -> None:
        """Copy a long write-ahead log into the database and start it anew.

        First without the turn, while others go on writing; then, with it, what they wrote in the
        meantime. With SQLite's own rule (`wal_autocheckpoint`) all of it would happen inside a
        commit and hold up every process; copying only without the turn would never reach the end
        of a log that others write to, so it would never become shorter.
        """
        size = self._wal_size()
        if size < self._checkpoint_above:
            return
        execute = self._connection.execute
        # What was committed is safe in the log, so a failure to copy it is no failure of the verb.
        # The log stays as it is, and whatever is wrong will meet the next transaction by itself.
        with suppress(sqlite3.OperationalError, FrontierError), self._timings.measure("copy log"):
            execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            with self._turn.taken():
                # A reader of an old view stands in the way of the last step: do not wait for it.
                execute("PRAGMA busy_timeout = 0")
                try:
                    execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                finally:
                    execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000:d}")
        self._checkpoint_above = self._wal_size() + WAL_BYTES

    def _wal_size(self) -> int:
        try:
            return self._wal.stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close the file. The last process to do so copies the log into the database."""
        with translated(self.path):
            try:
                with self._turn.taken():
                    self._connection.close()
            finally:
                self._connection.close()
                self._turn.close()
