"""A private Redis for tests: a real server in a temporary folder, on a free port of 127.0.0.1. Its
log is synced before each answer, as a crawl should have it. With REDIS_SERVER=valkey-server in the
environment it is a Valkey, wherever no program is named.

`shared()` is one server for the whole test session: another name per crawl is cheap. A test that
breaks its server starts one of its own. It ends with the process that started it.
"""

import atexit
import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import exceptions

from mannerly.frontier.redis.connection import Connection, TimeOuts

START_WITHIN_S = 60.0

REDIS, VALKEY = "redis-server", "valkey-server"
USUAL = os.environ.get("REDIS_SERVER", REDIS)

CONFIGURATION = {
    "bind": "127.0.0.1",
    "save": "",
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory-policy": "noeviction",
    "zset-max-listpack-value": "1024",
}
"""As docs/redis.md recommends."""


class RedisServer:
    """`with RedisServer() as server: Connection(server.url, ...)`."""

    def __init__(self, program: str = USUAL, /, **settings: str) -> None:
        """`settings` go over `CONFIGURATION`, with _ for -."""
        self._program = _found(program)
        self._folder = Path(tempfile.mkdtemp(prefix="mannerly-redis-"))
        self._log = self._folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        given = {name.replace("_", "-"): value for name, value in settings.items()}
        own = {"port": str(self.port), "dir": str(self._folder)}
        self.settings = {**CONFIGURATION, **own, **given}
        text = "".join(f'{name} "{value}"\n' for name, value in self.settings.items())
        (self._folder / "redis.conf").write_text(text)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start and wait until it takes connections and has loaded its data."""
        self.begin()
        self.wait()

    def wait(self) -> None:
        assert self._process is not None
        give_up_at = time.monotonic() + START_WITHIN_S
        while True:
            try:
                self.execute("PING")
            except (exceptions.RedisError, OSError):
                if self._process.poll() is not None or time.monotonic() > give_up_at:
                    said = self._log.read_text("utf-8", "replace")[-2000:]
                    raise RuntimeError(f"{self._program} did not start: {said}") from None
                time.sleep(0.02)
            else:
                return

    def begin(self) -> None:
        """Start it, and do not wait."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self._program, str(self._folder / "redis.conf")],
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal is for the tests, not for it
            )

    def kill(self) -> None:
        """kill -9: whatever it had not written is gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(timeout=START_WITHIN_S)
            self._process = None

    def crash(self) -> None:
        self.kill()
        self.start()

    def execute(self, *command: str | bytes | int) -> Any:
        """One command; its answer."""
        connection = Connection(self.url, "test", TimeOuts())
        try:
            (reply,) = connection.ask(command)
        finally:
            connection.close()
        if isinstance(reply, exceptions.ResponseError):
            raise reply
        return reply

    def connections(self, name: str) -> int:
        """Of clients of that name."""
        lines: list[bytes] = self.execute("CLIENT", "LIST").splitlines()
        return sum(f" name={name} ".encode() in line for line in lines)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


@functools.cache
def shared(program: str = USUAL) -> RedisServer:
    """The server of this test session, started at first use and removed when Python ends. It is
    never killed, so its log is synced once a second."""
    server = RedisServer(program, appendfsync="everysec")
    atexit.register(server.remove)
    server.start()
    return server


def _found(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RuntimeError(f"{program} is missing; run tools/services to install it")
    return found


HIGHEST_PORT = 55_535
"""A node of a cluster talks to the others 10,000 ports higher."""


def free_port() -> int:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port <= HIGHEST_PORT:
            return port
