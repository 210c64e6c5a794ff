"""Settled pages on their way from a crawl's thread to the loop that consumes them.

Bounded: when as many wait as it may hold, it tells the engine that it is behind, and no further
visit is started. What is in flight then still comes, so it holds a little more than its bound.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mannerly.api.page import Page
from mannerly.engine.consumer import Response
from mannerly.errors import ExtractError
from mannerly.records import ExtractRecord, PageRecord
from mannerly.store.contract import Rows

HELD_PAGES = 500
HELD_CHARACTERS = 32_000_000

Extract = Callable[[Response], Mapping[str, Any] | None]


class Feed:
    """A `mannerly.engine.consumer.Consumer`. One thread gives, another takes."""

    def __init__(self, extract: Extract | None, on_room: Callable[[], None]) -> None:
        """`on_room` is called, on the taking side, when it is no longer behind."""
        self._extract = extract
        self._on_room = on_room
        self._lock = threading.Lock()
        self._held: deque[Page] = deque()
        self._characters = 0
        self._behind = False
        self._ended = False
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    # -- the crawl's side ----------------------------------------------------------------------

    @property
    def extracts(self) -> bool:
        return self._extract is not None

    def extract(self, response: Response) -> str:
        if self._extract is None:
            return ""
        try:
            found = self._extract(response)
            return "" if found is None else json.dumps(dict(found), ensure_ascii=False)
        except Exception as exc:
            raise ExtractError(
                f"the extraction failed at {response.url}: {exc!r}; the crawl was stopped, and "
                "that page comes again when it goes on"
            ) from exc

    def settled(self, rows: Rows, refused: Collection[int]) -> None:
        data = {it.url_hash: it.data for it in rows.of(ExtractRecord)}
        pages = [
            Page.of(record, data.get(record.url_hash, ""))
            for record in rows.of(PageRecord)
            if record.token not in refused
        ]
        with self._lock:
            self._held.extend(pages)
            self._characters += sum(len(page.text) for page in pages)
            self._behind = self._behind or self._is_full()
            self._tell()

    @property
    def behind(self) -> bool:
        return self._behind

    def end(self) -> None:
        """Nothing comes after this."""
        with self._lock:
            self._ended = True
            self._tell()

    # -- the consumer's side -------------------------------------------------------------------

    async def take(self) -> Page | None:
        """The next page; None: there is none, and none will come."""
        while True:
            with self._lock:
                if self._held:
                    return self._pop()
                if self._ended:
                    return None
                loop = asyncio.get_running_loop()
                news: asyncio.Future[None] = loop.create_future()
                self._waiting = (loop, news)
            await news

    def _pop(self) -> Page:
        page = self._held.popleft()
        self._characters -= len(page.text)
        if self._behind and not self._is_half_full():
            self._behind = False
            self._on_room()
        return page

    def _tell(self) -> None:
        if self._waiting is not None:
            loop, news = self._waiting
            self._waiting = None
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, news)

    def _is_full(self) -> bool:
        return len(self._held) >= HELD_PAGES or self._characters >= HELD_CHARACTERS

    def _is_half_full(self) -> bool:
        """It goes on below half, so that a slow consumer does not stop and start it with each
        page."""
        return len(self._held) > HELD_PAGES // 2 or self._characters > HELD_CHARACTERS // 2


def _wake(news: "asyncio.Future[None]") -> None:
    if not news.done():
        news.set_result(None)
