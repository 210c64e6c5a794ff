"""A connection that does not wait for ever, and how it is made."""

import logging
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import pq
from psycopg.abc import RV, PQGen

from mannerly.errors import FrontierError
from mannerly.frontier.postgres.trouble import in_our_words

# In a pipeline psycopg warns of an error a second time, after it was raised.
logging.getLogger("psycopg").setLevel(logging.ERROR)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TimeOuts:
    """How long anything may take before it becomes a `FrontierError`. Seconds."""

    connect_s: float = 10.0
    lock_s: float = 10.0
    """Waiting for one lock: a slice of an add holds it for 20 ms, a person for longer."""
    statement_s: float = 60.0
    idle_s: float = 30.0
    """The server ends a transaction that stands still so long: its process was stopped, say."""
    answer_s: float = 90.0
    """The server is taken for dead if it says nothing so long. Longer than a statement may take."""


class _Round(psycopg.Pipeline):
    """A pipeline that ends with Sync. psycopg's own sends a Flush after it, which the server takes
    for the start of the next statement: `idle_in_transaction_session_timeout` would never fire."""

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            yield from self._fetch_gen(flush=False)


class Connection(psycopg.Connection[Row]):
    """A connection that does not wait for ever. TCP's own time-outs notice a machine that is
    gone; this one also notices a server, or a proxy in between, that just stopped answering."""

    answer_s = 90.0

    @contextmanager
    def round(self) -> Iterator[None]:
        """Send all statements of the block together; their answers are there when it is left."""
        self._pipeline = _Round(self)
        with self.pipeline():
            yield

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        return super().wait(gen, interval, self.answer_s if timeout is None else timeout)

    def is_alive(self) -> bool:
        """Nothing arrives on an idle connection but its end: a server that was restarted is noticed
        before a verb fails by it."""
        if self.closed or self.info.transaction_status is not pq.TransactionStatus.IDLE:
            return False
        poller = select.poll()
        poller.register(self.pgconn.socket, select.POLLIN)
        for _ in range(3):
            if not poller.poll(0):
                break
            try:
                self.pgconn.consume_input()
                self.pgconn.is_busy()
            except psycopg.Error:
                return False
        return self.pgconn.status == pq.ConnStatus.OK


def connect(url: str, schema: str, limits: TimeOuts, where: str) -> Connection:
    """`where`: the URL without its password, for messages."""
    try:
        return Connection.connect(
            url,
            autocommit=True,
            connect_timeout=max(2, round(limits.connect_s)),
            tcp_user_timeout=round(limits.connect_s * 1000),
            keepalives=1,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            application_name=f"mannerly {schema}",
        )
    except psycopg.ProgrammingError:
        # The message quotes the URL, and with it the password.
        raise FrontierError(
            f"{where}: the URL cannot be understood; it has the form "
            "postgresql://USER@HOST:PORT/NAME"
        ) from None
    except psycopg.Error as exc:
        raise in_our_words(where, exc) from exc
