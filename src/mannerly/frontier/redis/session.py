"""What one process has of a crawl: functions called over a connection that is made anew when it
breaks.

Everything here blocks, and belongs to the one thread that the executor gives it.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from redis import exceptions

from mannerly.clock import Clock
from mannerly.dburl import is_cluster, without_password
from mannerly.errors import SchemaError
from mannerly.frontier.reaching import Reaching
from mannerly.frontier.redis import server
from mannerly.frontier.redis.cluster import Nodes
from mannerly.frontier.redis.connection import Connection, Part, Reply, TimeOuts
from mannerly.frontier.redis.crawlclock import CrawlClock
from mannerly.frontier.redis.library import VERSION, Library
from mannerly.frontier.redis.trouble import ELSEWHERE, NO_FUNCTION, in_our_words
from mannerly.timing import Timings

log = logging.getLogger(__name__)


Answer = list[Any]
"""The clock's three numbers (server's, offset, the frontier's now), then what was asked for."""
NOW = 2
"""Where in an answer the frontier's now is, in milliseconds."""


REPLICA_MS = 1000
"""How long a replica has to take what its master has done. One that needs longer is not waited for
again, until there is another connection."""


class Session:
    """One process's way to one crawl. `close` it when done."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        library: Library,
        clock: Clock,
        timings: Timings,
        time_outs: TimeOuts,
    ) -> None:
        self._name = name
        tag = f"mannerly:{name}"
        self._nodes = Nodes(url, tag, time_outs)
        self._is_cluster = is_cluster(url)
        # A key that is named tells a Cluster's node whether the call is for it.
        self._keys: list[Part] = [1, f"{{{tag}}}:meta"] if self._is_cluster else [0]
        self._library = library
        self._time_outs = time_outs
        self._timings = timings
        self._connection: Connection | None = None
        # The other nodes of a Cluster are there to be asked, and one of them has the crawl soon.
        self._reaching = Reaching(1.0) if is_cluster(url) else Reaching()
        self._warned = False
        self._has_replica = False
        self.clock = CrawlClock(clock)
        self.run_id = ""
        """Of the server, as of the last connection: another one after every start."""
        self.where = f"{without_password(url)} (crawl {name})"

    def call(self, function: str, *arguments: Part) -> Answer:
        """Call one function."""
        return self.calls(function, [arguments])[0]

    def calls(self, function: str, batch: Sequence[Sequence[Part]]) -> list[Answer]:
        """Call a function several times, in one round trip. Others' calls may come in between. If
        one fails, that is raised when all were tried."""
        with self._asking() as connection:
            asked_at = self.clock.now()
            commands = [self._command(function, asked_at, arguments) for arguments in batch]
            answers = _good(self._sent(connection, commands))
            self.clock.read(asked_at, answers[-1])
            return answers

    def _sent(self, connection: Connection, commands: list[list[Part]]) -> list[Reply]:
        """Answers that also a replica can vouch for, where there is one that keeps up."""
        if not self._has_replica:
            return connection.ask(*commands)
        *answers, acknowledged = connection.ask(*commands, ("WAIT", 1, REPLICA_MS))
        if acknowledged == 0:
            self._has_replica = False
            log.warning(
                "%s: no replica keeps up with the master; what it acknowledges from now on may be "
                "lost if it fails",
                self.where,
            )
        return answers

    def command(self, *parts: Part) -> Reply:
        """A command of the server's own, not one of our functions."""
        with self._asking() as connection:
            return _good(connection.ask(parts))[0]

    @contextmanager
    def _asking(self) -> Iterator[Connection]:
        connection = self._connected()
        try:
            yield connection
        except (exceptions.RedisError, OSError) as exc:
            self._after(exc)
            raise in_our_words(self.where, exc) from exc
        except BaseException:
            self._drop()
            raise
        finally:
            self._look_after()

    def _command(self, function: str, asked_at: float, arguments: Sequence[Part]) -> list[Part]:
        bounds = self.clock.bounds(asked_at)
        called = ("FCALL", f"{self._library.name}_{function}", *self._keys)
        return [*called, self._name, *bounds, *arguments]

    def _after(self, exc: Exception) -> None:
        """A server's refusal is an answer like any other; but one that tells of another state
        than we know (promoted, restarted, without our functions or without the crawl) needs a
        look from the start."""
        refused = isinstance(exc, exceptions.ResponseError)
        if not refused or isinstance(exc, ELSEWHERE) or NO_FUNCTION in str(exc):
            self._drop()

    def _look_after(self) -> None:
        """What was done is done: a clock that cannot be looked after now is so next time."""
        connection = self._connection
        if connection is None:
            return
        try:
            self.clock.look_after(lambda *parts: self._ask(connection, *parts))
        except (exceptions.RedisError, OSError):
            self._drop()

    def _ask(self, connection: Connection, function: str, *arguments: Part) -> Answer:
        """Call a function on a connection that is not ready for verbs yet."""
        command = self._command(function, self.clock.now(), arguments)
        return _good(connection.ask(command))[0]

    def _connected(self) -> Connection:
        connection = self._connection
        if connection is not None and connection.is_alive():
            return connection
        self._drop()
        self._connection = connection = self._connect()
        return connection

    def _connect(self) -> Connection:
        try:
            with self._reaching.attempt(self.where), self._timings.measure("connect"):
                return self._prepared()
        except (exceptions.RedisError, OSError) as exc:
            raise in_our_words(self.where, exc) from exc

    def _prepared(self) -> Connection:
        address = self._nodes.address()
        connection = Connection(address, f"mannerly-{self._name}", self._time_outs)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        """The server must be fit, the functions there, the layout ours, the clock known."""
        found = server.look(connection)
        server.refuse_unfit(found, self.where, is_cluster=self._is_cluster)
        if not self._warned:
            self._warned = True
            server.warn(found, self.where)
        self.run_id = found.run_id
        self._has_replica = self._is_cluster and found.replicas > 0
        version = int(self._moment(connection)[5])
        if version > VERSION:
            raise SchemaError(
                f"{self.where} was written by a newer Mannerly (version {version}, this one knows "
                f"{VERSION}); upgrade Mannerly, or name another --db-schema"
            )
        self.clock.open(lambda *parts: self._ask(connection, *parts))
        (rests,) = self._ask(connection, "open", found.run_id, int(found.is_durable))[3:]
        if rests:
            log.warning(
                "%s: the server was restarted and may have lost its last moments; no site is "
                "leased until the longest lease would have lapsed",
                self.where,
            )

    def _moment(self, connection: Connection) -> Answer:
        try:
            return self._ask(connection, "moment")
        except exceptions.ResponseError as exc:
            if NO_FUNCTION not in str(exc):
                raise
        _good(connection.ask(["FUNCTION", "LOAD", "REPLACE", self._library.source]))
        return self._ask(connection, "moment")

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def open(self) -> None:
        """Connect now: what is wrong with the URL or the server is to be told at the start."""
        self._connected()

    def close(self) -> None:
        self._drop()


def _good(replies: list[Any]) -> list[Answer]:
    for reply in replies:
        if isinstance(reply, exceptions.ResponseError):
            raise reply
    return replies
