"""The dashboard's thread: where it listens, how it begins and ends. It never fails the crawl: what
goes wrong is one warning, and the crawl goes on without it."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mannerly.config import Config
from mannerly.dashboard.asking import Asker
from mannerly.dashboard.desk import Desk
from mannerly.dashboard.guard import LEAST_TOKEN, Guard, is_loopback, new_token
from mannerly.dashboard.http import HttpServer
from mannerly.dashboard.routes import Routes
from mannerly.dashboard.sampling import Sampler
from mannerly.observe.snapshot import Controls, Source

log = logging.getLogger(__name__)

USUAL = ("127.0.0.1", 4280)
BEGIN_S = 5.0
GOODBYE_S = 0.5
"""What streams get for their last line; who reads slowly must not hold up the end."""


@contextmanager
def dashboard_at(config: Config, source: Source, controls: Controls) -> Iterator[None]:
    """Serve it while the body runs, where `--dashboard` says (`auto` is decided before)."""
    if config.observe.dashboard in {"off", "auto"}:
        yield
        return
    board = _Board(config, source, controls)
    board.start()
    try:
        yield
    finally:
        board.end()


class _Board:
    def __init__(self, config: Config, source: Source, controls: Controls) -> None:
        self._config = config
        self._source = source
        self._controls = controls
        self._told = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._work, name="dashboard", daemon=True)

    def start(self) -> None:
        """Returns when it listens, or has said that it cannot."""
        self._thread.start()
        self._told.wait(BEGIN_S)

    def end(self) -> None:
        if self._loop is not None and self._over is not None:
            with suppress(RuntimeError):  # its loop has ended by itself
                self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(3 * GOODBYE_S)

    def _work(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:
            log.exception("the dashboard ended; the crawl goes on without it")
        finally:
            self._told.set()

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        observe = self._config.observe
        token = observe.dashboard_token or new_token()
        if len(token) < LEAST_TOKEN:
            log.warning("no dashboard: its token must have at least %d characters", LEAST_TOKEN)
            return
        host, port = _place(observe.dashboard)
        sampler = Sampler(self._source)
        desk = Desk(self._config)
        guard = Guard(token, open_to_all=not is_loopback(host))
        routes = Routes(sampler, self._controls, guard, desk, Asker(self._config))
        server = HttpServer(routes.answer)
        try:
            port = await _listen(server, host, port, may_move=observe.dashboard == "on")
        except OSError as exc:
            log.warning("no dashboard: cannot listen on %s:%d: %s", host, port, exc.strerror)
            return
        shown = f"[{host}]" if ":" in host else host
        log.info("dashboard: http://%s:%d/?token=%s", shown, port, token)
        self._told.set()
        sampling = asyncio.create_task(sampler.run(), name="sampling")
        await self._over.wait()
        sampling.cancel()
        await asyncio.wait({sampling})
        await sampler.finish()
        await server.aclose(GOODBYE_S)
        desk.close()


def _place(text: str) -> tuple[str, int]:
    if text == "on":
        return USUAL
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


async def _listen(server: HttpServer, host: str, port: int, *, may_move: bool) -> int:
    try:
        return await server.listen(host, port)
    except OSError:
        if not may_move:
            raise
        return await server.listen(host, 0)
