"""What runs in a crawl process that a supervisor started: `mannerly crawl-process FD`.

It enlists as a writer of its own and crawls until the crawl is over, its parent says stop or its
parent is gone; then it gives every lease back and leaves everything durable, as it would alone.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from mannerly import assemble, memory, running
from mannerly.config import Config
from mannerly.engine.crawler import STOP_GRACE_S, Crawler
from mannerly.errors import ConfigError, MannerlyError
from mannerly.observe import summing
from mannerly.observe.tally import Tally
from mannerly.supervise.messages import BEAT_S, LINE_BYTES, config_from, decoded, encoded
from mannerly.url import Exclusions
from mannerly.watching import Watch

UNHEARD_BYTES = 2**20
"""What may wait to be read by the parent. One that is stopped itself never hears the rest."""
ORPHANED = "the supervising process is gone"
GOODBYE_S = 2.0


async def crawl(fd: int) -> int:
    """The exit code. `fd` is our end of a socket pair."""
    # Both are for the parent to act on, which has blocked Ctrl-C for us until here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    sock = socket.socket(fileno=fd)
    sock.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=sock, limit=LINE_BYTES)
    order = await reader.readline()
    if not order:
        return 1
    message = decoded(order)
    config = config_from(message["config"])
    parent = Parent(reader, writer, config)
    async with parent.heard():
        try:
            because = await _crawl(config, message["workers"], parent)
        except MannerlyError as exc:
            parent.tell({"failed": str(exc)})
            return 1
        parent.beat()
        parent.tell({"ended": because})
        return 0


async def _crawl(config: Config, workers: int, parent: "Parent") -> str:
    memory.give_back()
    with running.threads(config) as world:
        async with assemble.make_frontier(config, world) as frontier:
            because, _ = await running.run(
                config,
                world,
                frontier,
                assemble.make_transport(config, world.clock),
                site_key=assemble.make_site_key(config),
                exclusions=parent.exclusions,
                workers=workers,
                attended=parent.attended,
            )
            return because


class Parent:
    """The supervisor, as its process sees it: it hears of us, and we do what it says."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, config: Config
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._config = config
        self._tally = Tally(0.0, workers=config.fetch.max_workers)
        self._crawler: Crawler | None = None
        self._watch: Watch | None = None
        self._told: tuple[str, float] | None = None
        """Why to stop and with how much grace: perhaps there is no crawler yet to be stopped."""
        self._paused = False
        file = config.crawl.exclude_file
        self.exclusions = Exclusions.read(file) if file is not None else Exclusions()

    def tell(self, message: dict[str, Any]) -> None:
        unheard = self._writer.transport.get_write_buffer_size()
        if not self._writer.is_closing() and unheard < UNHEARD_BYTES:
            self._writer.write(encoded(message))

    def beat(self) -> None:
        self.tell({"tally": summing.document(self._tally)})
        if self._watch is not None:
            self.tell({"snapshot": self._watch.snapshot().document()})

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[None]:
        """Signs of life go out and orders come in from the first moment to the last."""
        loop = asyncio.get_running_loop()
        _log_to(self, loop, self._config.observe.log_level)
        loop.add_signal_handler(signal.SIGTERM, self._stop, "stopped by SIGTERM", STOP_GRACE_S)
        tasks = {loop.create_task(self._beat_on()), loop.create_task(self._listen())}
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(GOODBYE_S):
                    await self._writer.wait_closed()

    @asynccontextmanager
    async def attended(self, crawler: Crawler, tally: Tally, watch: Watch) -> AsyncIterator[None]:
        """Now there is somebody who can be stopped."""
        self._crawler = crawler
        self._tally = tally
        self._watch = watch
        if self._paused:
            crawler.pause()
        if self._told is not None:
            crawler.stop(*self._told)
        yield

    async def _beat_on(self) -> None:
        while True:
            self.beat()
            await asyncio.sleep(BEAT_S)

    async def _listen(self) -> None:
        with suppress(OSError, ValueError):
            while line := await self._reader.readline():
                match decoded(line):
                    case {"stop": str(why)}:
                        self._stop(why, STOP_GRACE_S)
                    case {"reread": True}:
                        self._reread()
                    case {"pause": bool(paused)}:
                        self._pause(paused)
                    case {"workers": int(workers)} if self._crawler is not None:
                        self._crawler.set_workers(workers)
                    case {"look": True} if self._crawler is not None:
                        self._crawler.look()
        # Whoever wants to go on with the crawl waits for us: what is in flight is broken off.
        self._stop(ORPHANED, 0.0)

    def _stop(self, why: str, grace_s: float) -> None:
        self._told = self._told or (why, grace_s)
        if self._crawler is not None:
            self._crawler.stop(why, grace_s)

    def _pause(self, paused: bool) -> None:
        self._paused = paused
        if self._crawler is not None:
            (self._crawler.pause if paused else self._crawler.go_on)()

    def _reread(self) -> None:
        """The parent has read the file before, and told of what is wrong with it."""
        file = self._config.crawl.exclude_file
        if file is not None:
            with suppress(ConfigError):
                self.exclusions.become(Exclusions.read(file))


class _Told(logging.Handler):
    """Messages go to the parent, who knows where people see them."""

    def __init__(self, parent: Parent, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._parent = parent
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        message = {"log": [record.levelno, self.format(record)]}
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._parent.tell, message)


def _log_to(parent: Parent, loop: asyncio.AbstractEventLoop, level: str) -> None:
    logging.basicConfig(level=level, handlers=[_Told(parent, loop)], format="%(message)s")
