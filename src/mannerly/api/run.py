"""A crawl on a thread of its own, with its own event loop.

Not a task in the consumer's loop: a consumer that blocks (a database, a model, a breakpoint) would
hold up every fetch that is under way, and time-outs would be blamed on the sites. And a thread can
be told to stop from anywhere, also where a loop is being torn down.
"""

import asyncio
import atexit
import random
import threading
from collections.abc import Iterable
from pathlib import Path

import uvloop

from mannerly import assemble, session
from mannerly.api.feed import Extract, Feed
from mannerly.assemble import World
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import Config
from mannerly.engine.crawler import Crawler
from mannerly.errors import ConfigError, MannerlyError
from mannerly.observe.progress import NoView
from mannerly.session import Host

GOODBYE_S = 20.0
"""What a crawl gets to end when the program does. It needs less, unless its database is gone."""


class Run:
    """One run of a crawl. Starts once, can be stopped by any thread at any time."""

    def __init__(self, config: Config, seeds: Iterable[str], extract: Extract | None) -> None:
        self._config = config
        self._seeds = seeds
        self.feed = Feed(extract, on_room=self._wake)
        self.failure: BaseException | None = None
        self.because = ""
        self._lock = threading.Lock()
        self._crawler: tuple[asyncio.AbstractEventLoop, Crawler] | None = None
        self._started = self._stopping = False
        # A daemon, so that a program which forgets its crawl can end; `_stop_all` sees to it.
        self._thread = threading.Thread(target=self._work, name="mannerly", daemon=True)

    @property
    def data_dir(self) -> Path:
        return self._config.crawl.data_dir

    @property
    def started(self) -> bool:
        return self._started

    @property
    def stopping(self) -> bool:
        return self._stopping

    def start(self) -> None:
        with self._lock:
            if self._started or self._stopping:
                return
            self._started = True
            _running.add(self)
            self._thread.start()

    def stop(self) -> None:
        """Ask it to end: visits in flight are finished, leases given back, everything is durable.
        Returns at once; `join` waits."""
        with self._lock:
            self._stopping = True
            if not self._started:
                self.feed.end()
            elif self._crawler is not None:
                loop, crawler = self._crawler
                loop.call_soon_threadsafe(crawler.stop, "stopped by the program")

    def join(self, timeout_s: float | None = None) -> None:
        if self._started:
            self._thread.join(timeout_s)

    def _wake(self) -> None:
        with self._lock:
            if self._crawler is not None:
                loop, crawler = self._crawler
                loop.call_soon_threadsafe(crawler.wake)

    def _work(self) -> None:
        try:
            ended = uvloop.run(self._crawl())
            self.because = ended.because
        except BaseException as exc:  # noqa: BLE001 - handed on to whoever iterates
            self.failure = exc
        finally:
            with self._lock:
                self._crawler = None
            _running.discard(self)
            self.feed.end()

    async def _crawl(self) -> session.Ended:
        config = self._config
        assemble.check_database(config)
        world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
        resume = await assemble.stored_settings(config, world) is not None
        if not resume and not config.crawl.email:
            raise ConfigError(
                "a contact address is needed, for the owners of the sites: "
                'contact="you@example.org"'
            )
        host = Host(list(self._seeds), self.feed, self._can_be_stopped)
        return await session.crawl(config, resume=resume, view=NoView(), host=host)

    def _can_be_stopped(self, crawler: Crawler) -> None:
        with self._lock:
            self._crawler = (asyncio.get_running_loop(), crawler)
            if self._stopping:
                crawler.stop("stopped by the program")

    def raise_failure(self) -> None:
        """What ended it, if it was not meant to end. Ours are raised as they are."""
        failure, self.failure = self.failure, None
        if isinstance(failure, Exception):
            raise failure
        if failure is not None:
            raise MannerlyError(f"the crawl's thread ended: {failure!r}") from failure


_running: set[Run] = set()


def ending_in(data_dir: Path) -> list[Run]:
    """Runs of this process that were told to stop and still use the directory."""
    where = data_dir.resolve()
    return [run for run in list(_running) if run.stopping and run.data_dir.resolve() == where]


@atexit.register
def _stop_all() -> None:
    for run in list(_running):
        run.stop()
    for run in list(_running):
        run.join(GOODBYE_S)
