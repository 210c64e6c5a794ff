"""One connection to a server: commands go out together, their answers come back in order."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from redis import exceptions
from redis.backoff import NoBackoff
from redis.connection import Connection as Wire
from redis.connection import parse_url
from redis.retry import Retry

from mannerly.dburl import without_password
from mannerly.errors import ConfigError

Reply = Any
"""bytes, int, None, or a list of these."""
Part = bytes | str | int


@dataclass(frozen=True, slots=True)
class TimeOuts:
    """How long anything may take before it becomes a `FrontierError`. Seconds."""

    connect_s: float = 10.0
    answer_s: float = 60.0
    """The server is taken for dead if it says nothing so long."""

    def in_cluster(self) -> "TimeOuts":
        """Shorter, where another node takes over within seconds: one whose machine is gone says
        nothing, and meanwhile nobody asks the others."""
        return TimeOuts(min(self.connect_s, 2.0), min(self.answer_s, 8.0))


class _Wire(Protocol):
    """What is used of redis-py's connection, which has no types."""

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def can_read(self, timeout: float) -> bool: ...

    def pack_commands(self, commands: Sequence[Sequence[Part]]) -> list[bytes]: ...

    def send_packed_command(self, command: list[bytes], check_health: bool) -> None: ...

    def read_response(self) -> Reply: ...


def _wire(url: str, **options: object) -> _Wire:
    try:
        given = dict(parse_url(url))  # type: ignore[no-untyped-call]
        kind = given.pop("connection_class", Wire)
        if not given.get("password") and os.environ.get("REDISCLI_AUTH"):
            given["password"] = os.environ["REDISCLI_AUTH"]
        return cast("_Wire", kind(**given, **options))
    except (TypeError, ValueError):
        # The message may quote the URL, and with it the password.
        raise ConfigError(
            f"{without_password(url)}: the URL cannot be understood; it has the form "
            "redis://USER@HOST:PORT/NUMBER"
        ) from None


class Connection:
    """A blocking connection, for one thread. Nothing is ever sent again by itself."""

    def __init__(self, url: str, client_name: str, limits: TimeOuts) -> None:
        """Connects and logs in. Raises redis-py's errors."""
        self._wire = _wire(
            url,
            protocol=2,
            client_name=client_name,
            socket_connect_timeout=limits.connect_s,
            socket_timeout=limits.answer_s,
            retry=Retry(NoBackoff(), 0),
        )
        self._wire.connect()

    def ask(self, *commands: Sequence[Part]) -> list[Reply | exceptions.ResponseError]:
        """Answers, one each; what the server refused is an error among them. If the connection
        breaks, that is raised, and nobody knows what was done."""
        self.send(commands)
        return self.receive(len(commands))

    def send(self, commands: Sequence[Sequence[Part]]) -> None:
        """The first half of `ask`: others may be asked before the answers are read."""
        self._wire.send_packed_command(self._wire.pack_commands(commands), check_health=False)

    def receive(self, count: int) -> list[Reply | exceptions.ResponseError]:
        replies: list[Reply | exceptions.ResponseError] = []
        for _ in range(count):
            try:
                replies.append(self._wire.read_response())
            except exceptions.ResponseError as exc:
                replies.append(exc)
        return replies

    def is_alive(self) -> bool:
        """Nothing arrives on an idle connection but its end."""
        try:
            return not self._wire.can_read(0)
        except (exceptions.RedisError, OSError):
            return False

    def close(self) -> None:
        with suppress(exceptions.RedisError, OSError):
            self._wire.disconnect()
