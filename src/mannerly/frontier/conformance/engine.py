"""What the suite asks of an engine under test."""

import importlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from mannerly.frontier.contract import Frontier
from mannerly.model import Caps

DEFAULT_CAPS = Caps()


class OldVersion(NamedTuple):
    """An earlier schema of an engine."""

    name: str
    make: Callable[[], Awaitable[None]]
    """Write the crawl of `old_crawl` in that schema, where `Engine.open` will find it."""


class Engine(Protocol):
    """One empty crawl of one engine, on a clock that the suite moves."""

    def open(self, *, caps: Caps = DEFAULT_CAPS) -> AbstractAsyncContextManager[Frontier]:
        """Another handle on the crawl, as another process would have it, on a clock that only
        `advance` moves (or that runs on by itself, besides)."""

    async def advance(self, seconds: float) -> None:
        """So much time passes on the frontier's clock, for all handles, and on the wall clock."""

    async def set_wall_clock(self, seconds: float) -> None:
        """Somebody puts the wall clock of whatever keeps the frontier's time (machine, server)
        ahead by so much, or back if negative. Handles may be open. No time passes."""

    async def restart(self, away_s: float) -> None:
        """Whatever keeps the frontier's time was restarted and away so long. Every handle was
        closed before."""

    def address(self) -> str:
        """For the opener, in this process or another. Not to be mixed with handles of `open`."""

    def connections(self) -> int | None:
        """How many connections to a server this crawl has open now, of all processes together.
        None where there is no such thing."""

    def old_versions(self) -> Sequence[OldVersion]:
        """Every earlier schema that this engine goes on with."""

    def close(self) -> None:
        """Remove what is kept outside the folder the engine was made in. Handles are closed."""


MakeEngine = Callable[[Path], Engine]
"""A new, empty crawl. What it keeps on disk, it keeps in that folder."""

Opener = Callable[[str], AbstractAsyncContextManager[Frontier]]
"""Opens an address as the crawler would: real time, durable, blocking work on its own thread."""


def opener_named(name: str) -> Opener:
    """The opener at "package.module:function": the form in which other processes are told."""
    module, _, function = name.partition(":")
    return cast("Opener", getattr(importlib.import_module(module), function))
