"""Questions of people to the frontier, on a thread and a connection of their own: neither does a
question hold up a lease, nor does a database that hangs hold up the dashboard."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from mannerly.config import Config
from mannerly.errors import FrontierError, MannerlyError
from mannerly.frontier.contract import Frontier
from mannerly.opening import existing_crawl

T = TypeVar("T")

PATIENCE_S = 10.0
GOODBYE_S = 0.5
MOST_WAITING = 16


class Desk:
    """Opens the frontier when the first question comes."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._questions: asyncio.Queue[Callable[[Frontier], Awaitable[None]] | None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._waiting = 0

    async def ask(self, question: Callable[[Frontier], Awaitable[T]]) -> T:
        """What the frontier answers; `FrontierError` if it does not within a while."""
        if self._waiting >= MOST_WAITING:
            raise FrontierError("too many questions wait for the database")
        self._waiting += 1
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._answered(question)
        except TimeoutError:
            raise FrontierError(f"the database did not answer within {PATIENCE_S:.0f} s") from None
        finally:
            self._waiting -= 1

    async def _answered(self, question: Callable[[Frontier], Awaitable[T]]) -> T:
        asker = asyncio.get_running_loop()
        answer: asyncio.Future[T] = asker.create_future()

        def tell(set_: Callable[[], None]) -> None:
            if not answer.done():
                set_()

        async def work(frontier: Frontier) -> None:
            try:
                found = await question(frontier)
            except Exception as exc:  # noqa: BLE001 - handed on to whoever waits
                failure = exc
                asker.call_soon_threadsafe(tell, lambda: answer.set_exception(failure))
            else:
                asker.call_soon_threadsafe(tell, lambda: answer.set_result(found))

        def gone(why: MannerlyError) -> None:
            asker.call_soon_threadsafe(tell, lambda: answer.set_exception(why))

        if self._thread is None or not self._thread.is_alive():
            await self._start(gone)
        assert self._loop is not None
        assert self._questions is not None
        with suppress(
            RuntimeError
        ):  # its loop is closed already: `gone` tells why, or time runs out
            self._loop.call_soon_threadsafe(self._questions.put_nowait, work)
        return await answer

    async def _start(self, gone: Callable[[MannerlyError], None]) -> None:
        opened = asyncio.Event()
        asker = asyncio.get_running_loop()

        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._questions = asyncio.Queue()
            asker.call_soon_threadsafe(opened.set)
            try:
                async with existing_crawl(self._config) as (frontier, _):
                    while (work := await self._questions.get()) is not None:
                        await work(frontier)
            except MannerlyError as exc:
                gone(exc)

        self._thread = threading.Thread(
            target=lambda: asyncio.run(serve()), name="dashboard-frontier", daemon=True
        )
        self._thread.start()
        await opened.wait()

    def close(self) -> None:
        """A thread that the database keeps is left behind; it dies with the process."""
        if self._thread is not None and self._thread.is_alive():
            assert self._loop is not None
            assert self._questions is not None
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._questions.put_nowait, None)
            self._thread.join(GOODBYE_S)
