"""The way to one server: a connection to it, fit for a crawl and with our functions.

What it acknowledges a replica can vouch for, too, where there is one that keeps up.
"""

import logging
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
again, until there is another connection."""


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
        self._waits = False
        self._expected = 0
        self._broken: Exception | None = None
        self._connection = Connection(address, f"mannerly-{name}", limits)
        try:
            self.server = server.look(self._connection)
        except BaseException:
            self.close()
            raise

    def wait_for_replica(self) -> None:
        """From now on, if there is one."""
        self._waits = self.server.replicas > 0

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
        wait = [("WAIT", 1, REPLICA_MS)] if self._waits else []
        try:
            self._connection.send([*commands, *wait])
        except (exceptions.RedisError, OSError) as exc:
            self._broken = exc

    def receive(self) -> list[Reply | Exception]:
        """One reply for each command: what the server refused, or what broke the connection, is an
        error among them."""
        try:
            if self._broken is not None:
                raise self._broken
            replies = self._connection.receive(self._expected + self._waits)
        except (exceptions.RedisError, OSError) as exc:
            return [exc] * self._expected
        if self._waits and replies.pop() == 0:
            self._waits = False
            log.warning(
                "%s: no replica keeps up with the master; what it acknowledges from now on may be "
                "lost if it fails",
                self._where,
            )
        return [*replies]

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
