"""The way to one server: a connection to it, fit for a crawl and with our functions.

What it acknowledges a replica can vouch for, too, where there is one that keeps up.
"""

import logging
import time
from collections.abc import Sequence
from typing import Any

from redis import exceptions

from mannerly.frontier.redis import server
from mannerly.frontier.redis.connection import Connection, Part, Reply, TimeOuts
from mannerly.frontier.redis.library import Library
from mannerly.frontier.redis.trouble import NO_FUNCTION

log = logging.getLogger(__name__)

REPLICA_MS = 1000
"""How long a replica has to take what its master has done. One that needs longer is not waited for
again, until it is looked for anew."""

LOOK_AGAIN_S = 10.0
"""How often a master that no replica kept up with is asked whether one does now: after a restart of
either of them it takes some seconds."""


class Link:
    """Lives as long as its connection. Where nothing else is said it raises redis-py's errors."""

    def __init__(
        self, address: str, name: str, library: Library, limits: TimeOuts, where: str
    ) -> None:
        self.address = address
        self.opened: set[int] = set()
        """The parts of the crawl that may be asked for here: see `Session`."""
        self.has_parted = False
        """Its clock is not the crawl's: it was set, or is another machine's."""
        self._library = library
        self._where = where
        self._wants_replica = False
        self._waits = False
        self._look_at = 0.0
        self._more: list[Sequence[Part]] = []
        """What was asked behind the commands that were given."""
        self._expected = 0
        self._broken: Exception | None = None
        self._connection = Connection(address, f"mannerly-{name}", limits)
        try:
            self.server = server.look(self._connection)
        except BaseException:
            self.close()
            raise

    def wait_for_replica(self) -> None:
        """From now on, whenever there is one."""
        self._wants_replica = True
        self._waits = self.server.replicas > 0
        self._look_at = time.monotonic() + LOOK_AGAIN_S

    def asked_first(self, command: Sequence[Part]) -> Any:
        """Ask a server that may not have the functions yet: they are loaded then."""
        try:
            return self.ask(command)
        except exceptions.ResponseError as exc:
            if NO_FUNCTION not in str(exc):
                raise
        self.ask(["FUNCTION", "LOAD", "REPLACE", self._library.source])
        return self.ask(command)

    def send(self, commands: Sequence[Sequence[Part]]) -> None:
        """To be followed by `receive`, which tells if it failed."""
        self._expected = len(commands)
        self._more = []
        if self._waits:
            self._more = [("WAIT", 1, REPLICA_MS)]
        elif self._wants_replica and time.monotonic() >= self._look_at:
            self._more = [("INFO", "replication")]
        try:
            self._connection.send([*commands, *self._more])
        except (exceptions.RedisError, OSError) as exc:
            self._broken = exc

    def receive(self) -> list[Reply | Exception]:
        """One reply for each command: what the server refused, or what broke the connection, is an
        error among them."""
        try:
            if self._broken is not None:
                raise self._broken
            replies = self._connection.receive(self._expected + len(self._more))
        except (exceptions.RedisError, OSError) as exc:
            return [exc] * self._expected
        if self._more:
            self._heed(replies.pop())
        return [*replies]

    def _heed(self, reply: Reply) -> None:
        """What was said of replicas."""
        if not self._waits:
            self._waits = isinstance(reply, bytes) and server.has_replica(reply)
            self._look_at = time.monotonic() + LOOK_AGAIN_S
        elif reply == 0:
            self._waits = False
            self._look_at = time.monotonic() + LOOK_AGAIN_S
            log.warning(
                "%s: no replica keeps up with the master; what it acknowledges may be lost if it "
                "fails, until one does",
                self._where,
            )

    def ask(self, command: Sequence[Part]) -> Any:
        """One command; its answer, for which no replica vouches."""
        (reply,) = self._connection.ask(command)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def is_alive(self) -> bool:
        return self._connection.is_alive()

    def close(self) -> None:
        self._connection.close()
