"""A person steers a crawl from another thread: `Controls` over a crawler, or over several."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from mannerly.config import Config
from mannerly.engine.plan import parameter_rules
from mannerly.errors import ConfigError, FrontierError, UrlError, UsageError
from mannerly.fetch import descriptors
from mannerly.frontier.contract import Frontier
from mannerly.observe.snapshot import Refused
from mannerly.seeding import load_seeds
from mannerly.url import Exclusions, SiteKey, canonical, host_of

T = TypeVar("T")

PATIENCE_S = 30.0
"""How long a person is kept waiting for the database."""


class Steered(Protocol):
    """A crawler, or who runs several. On the crawl's own event loop."""

    def pause(self) -> None: ...

    def go_on(self) -> None: ...

    def stop(self, why: str) -> None: ...

    def set_workers(self, workers: int) -> None: ...

    def wake(self) -> None: ...


class Steering:
    """To be made on the crawl's own event loop, and used from other threads."""

    def __init__(
        self,
        config: Config,
        steered: Steered,
        frontier: Frontier,
        site_key: SiteKey,
        exclusions: Exclusions,
    ) -> None:
        self._config = config
        self._steered = steered
        self._frontier = frontier
        self._site_key = site_key
        self._exclusions = exclusions
        self._loop = asyncio.get_running_loop()

    def pause(self) -> None:
        self._call(self._steered.pause)

    def go_on(self) -> None:
        self._call(self._steered.go_on)

    def stop(self, why: str) -> None:
        self._call(lambda: self._steered.stop(why))

    def set_workers(self, workers: int) -> int:
        if workers < 1:
            raise Refused("at least one visit at once is needed")
        try:
            allowed = descriptors.apply(workers).workers
        except UsageError as exc:
            raise Refused(str(exc)) from exc
        self._call(lambda: self._steered.set_workers(allowed))
        return allowed

    def exclude(self, domain: str) -> str:
        site = self._site_key.site_of(host_named(domain))
        self._wait(self._frontier.exclude([site]))
        return site

    def add_seeds(self, lines: Sequence[str]) -> str:
        seeding = self._wait(
            load_seeds(
                lines,
                self._frontier,
                self._site_key,
                self._exclusions,
                lambda _: None,
                parameters=parameter_rules(self._config),
            )
        )
        self._call(self._steered.wake)
        parts = [f"{seeding.new:,} new", f"{seeding.seeds - seeding.new:,} known or excluded"]
        return ", ".join(parts + ([f"{seeding.bad:,} not a URL"] if seeding.bad else []))

    def _call(self, work: Callable[[], None]) -> None:
        """Have the crawl's own thread do it, and wait until it has."""

        async def do() -> None:
            work()

        self._wait(do())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(PATIENCE_S)
        except TimeoutError:
            future.cancel()
            raise Refused("the crawl did not answer in time; it may still do it") from None
        except (ConfigError, FrontierError) as exc:
            raise Refused(str(exc)) from exc


def host_named(domain: str) -> str:
    """The host of a domain or a URL that a person wrote."""
    try:
        return host_of(canonical(domain if "://" in domain else f"http://{domain}/"))
    except UrlError as exc:
        raise Refused(f"{domain!r} is not a domain ({exc}); give e.g. example.org") from exc
