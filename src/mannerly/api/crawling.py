"""`mannerly.crawl`: a crawl as an asynchronous iterator of its pages.

**What exactly once means here.** In the store every page is exactly once, whatever is killed. The
loop is given a page after that, when it is settled and durable: so it sees each page at most once,
over all runs, and never one that the store does not have. A page that was settled and not yet taken
when the loop is left, or the process dies, is in the store and not given again. Who must handle
every page reads the store (`mannerly.open(...).pages()`), during the crawl or after it.
"""

import asyncio
import weakref
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Self

from mannerly.api.feed import Extract
from mannerly.api.options import config_of
from mannerly.api.page import Page
from mannerly.api.run import Run, ending_in


def crawl(
    seeds: Iterable[str] = (),
    *,
    contact: str = "",
    extract: Extract | None = None,
    **options: object,
) -> "Crawl":
    """Crawl politely from `seeds` (domains or URLs), and give each page as it is settled.

        async for page in mannerly.crawl(["example.org"], contact="you@example.org"):
            print(page.url, page.title)

    `options` are those of the command line, by name (`delay="5s"`, `max_pages=100`, `data_dir=d`).
    If there is a crawl in the data directory it goes on, with the seeds added that are new to it;
    `contact` and `seeds` may be left out then. `extract` is called with each page before it is
    stored (a `Response`: url, status, headers, content, html, text); the dict it returns is stored
    with the page as JSON, and comes back as `page.extracted`. It runs on the crawl's own thread:
    keep it quick.

    Leaving the loop stops the crawl: what is in flight is finished, leases are given back, and
    everything that was settled is durable. `ConfigError` for options that do not fit; other errors
    come from the loop.
    """
    if contact:
        options["email"] = contact
    return Crawl(Run(config_of(options), seeds, extract))


class Crawl(AsyncIterator[Page]):
    """A crawl that is being iterated. It begins with the first page that is asked for, and stops
    when nobody has this object any more; `async with`, or `aclose`, also waits until it has."""

    def __init__(self, run: Run) -> None:
        self._run = run
        # Not `__del__`: this one also runs when the program ends with the object in a variable.
        weakref.finalize(self, run.stop)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Page:
        if not self._run.started:
            await _ended_before(self._run)
            self._run.start()
        page = await self._run.feed.take()
        if page is None:
            self._run.raise_failure()
            raise StopAsyncIteration
        # A loop body that never waits would keep everybody else from running.
        await asyncio.sleep(0)
        return page

    @property
    def ended_because(self) -> str:
        """Why the crawl ended, in words; '' while it runs."""
        return self._run.because

    async def aclose(self) -> None:
        """Stop the crawl and wait until it has ended and its data is durable."""
        self._run.stop()
        await _joined(self._run)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


async def _ended_before(run: Run) -> None:
    """Wait for a crawl in the same directory that was left by `break` a moment ago."""
    for before in ending_in(run.data_dir):
        await _joined(before)


async def _joined(run: Run) -> None:
    """Where the loop cannot wait any more, the thread goes on: it was told to stop."""
    await asyncio.to_thread(run.join)
