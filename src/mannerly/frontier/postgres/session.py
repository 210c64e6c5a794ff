"""What one process has of a crawl: transactions in few round trips, over a connection that is made
anew when it breaks.

Everything here blocks, and belongs to the one thread that the executor gives it. One connection is
enough: a process's verbs run one after the other, and `add` gives way after every slice.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg import pq

from mannerly.clock import Clock
from mannerly.dburl import without_password
from mannerly.frontier.postgres import arrays, schema, statements
from mannerly.frontier.postgres.arrays import Texts
from mannerly.frontier.postgres.connection import Connection, Row, TimeOuts, connect
from mannerly.frontier.postgres.crawlclock import Asked, CrawlClock
from mannerly.frontier.postgres.trouble import in_our_words
from mannerly.frontier.reaching import Reaching
from mannerly.timing import Timings

Answer = psycopg.Cursor[Row]


class Transaction:
    """What the verbs see inside a transaction. Statements are sent in rounds: all of one round go
    out together, and their answers are there when it is left."""

    def __init__(self, connection: Connection, clock: CrawlClock, slot: int, begin: str) -> None:
        self._connection = connection
        self._begin = begin
        self._state = "new"
        self.clock = clock
        self.slot = slot

    @contextmanager
    def round(self) -> Iterator[None]:
        with self._connection.round():
            if self._state == "new":
                self._state = "open"
                self.send(self._begin)
            yield

    def send(self, statement: str, *parameters: object) -> Answer:
        """Send a statement, within a round. Its answer may be read after the round."""
        return self._connection.execute(
            statement.encode(), parameters or None, prepare=True, binary=True
        )

    def ask(self, statement: str, *parameters: object) -> list[Row]:
        """A round of one statement."""
        with self.round():
            answer = self.send(statement, *parameters)
        return answer.fetchall()

    def moment(self) -> Asked:
        """Send the question for the time, within a round; `clock.read` it after the round."""
        return Asked(self.clock.now(), self.send(statements.MOMENT))

    def commit(self) -> None:
        """Send COMMIT along with this round, the last one. If anything in the round fails, the
        server skips it."""
        self.send(statements.COMMIT)
        self._state = "done"

    def end(self) -> None:
        """Commit, unless that was done."""
        if self._state == "open":
            self._connection.execute(statements.COMMIT)
            self._state = "done"


class Session:
    """One process's way to one crawl. `close` it when done."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        clock: Clock,
        timings: Timings,
        time_outs: TimeOuts,
    ) -> None:
        self._url = url
        self.schema = name
        self._time_outs = time_outs
        self._timings = timings
        self._connection: Connection | None = None
        self._slot = 0
        self._clock = CrawlClock(clock)
        self._reaching = Reaching()
        self.where = f"{without_password(url)} (schema {name})"

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction, durable when the block is left; if anything is raised in it, nothing
        happened (or, if the connection broke at the very end, nobody knows yet)."""
        with self._transaction(statements.BEGIN) as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view of what is committed. Waits for nobody and delays nobody."""
        with self._transaction(statements.BEGIN_READING) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        connection = self._connected()
        transaction = Transaction(connection, self._clock, self._slot, begin)
        try:
            with self._timings.measure("held"):
                yield transaction
                transaction.end()
        except psycopg.Error as exc:
            self._give_up(connection)
            raise in_our_words(self.where, exc) from exc
        except BaseException:
            self._give_up(connection)
            raise
        # What was done is done: a clock that cannot be looked after now is looked after next time.
        try:
            self._clock.look_after(connection)
        except psycopg.Error:
            self._give_up(connection)

    def _give_up(self, connection: Connection) -> None:
        """Undo what is open. A connection on which that fails is not used again."""
        status = connection.info.transaction_status
        if status is pq.TransactionStatus.IDLE:
            return
        if status in (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR):
            with suppress(psycopg.Error):
                connection.execute(statements.ROLLBACK)
                return
        self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def _connected(self) -> Connection:
        connection = self._connection
        if connection is not None and connection.is_alive():
            return connection
        self._drop()
        self._connection = connection = self._connect()
        return connection

    def _connect(self) -> Connection:
        with self._reaching.attempt(self.where), self._timings.measure("connect"):
            connection = connect(self._url, self.schema, self._time_outs, self.where)
            self._prepare(connection)
        return connection

    def _prepare(self, connection: Connection) -> None:
        """Set up what belongs to a connection: time-outs, plans, the schema, a slot, the clock."""
        limits = self._time_outs
        connection.answer_s = limits.answer_s
        settings = {
            "search_path": self.schema,
            "lock_timeout": _ms(limits.lock_s),
            "statement_timeout": _ms(limits.statement_s),
            "idle_in_transaction_session_timeout": _ms(limits.idle_s),
            "client_min_messages": "warning",
            **statements.PLANNING,
        }
        try:
            arrays.register(connection)
            connection.execute(
                statements.CONFIGURE, (Texts(list(settings)), Texts(list(settings.values())))
            )
            schema.migrate(connection, self.schema, schema.migrations())
            row = connection.execute(statements.TAKE_SLOT, (self.schema,)).fetchone()
            assert row is not None, "ten thousand processes"
            self._slot = row[0]
            self._clock.open(connection)
        except psycopg.Error as exc:
            connection.close()
            raise in_our_words(self.where, exc) from exc
        except BaseException:
            connection.close()
            raise

    def open(self) -> None:
        """Connect now: what is wrong with the URL or the schema is to be told at the start."""
        self._connected()

    def close(self) -> None:
        self._drop()


def _ms(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))
