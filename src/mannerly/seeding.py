"""From a file of seeds into the frontier: streaming, so that a million lines take little memory."""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mannerly.errors import ConfigError
from mannerly.frontier.contract import Frontier
from mannerly.model import NewUrl, Priority, Source
from mannerly.url import (
    BadLine,
    Exclusions,
    ParameterRules,
    Seed,
    SiteKey,
    host_of,
    seeds,
    url_hash,
)

log = logging.getLogger(__name__)

SEEDS_A_BATCH = 20_000
BAD_LINES_SHOWN = 20


@dataclass(slots=True)
class Seeding:
    """How far it is."""

    total_bytes: int
    """0 if it is not known (standard input)."""
    read_bytes: int = 0
    seeds: int = 0
    new: int = 0
    bad: int = 0
    excluded: int = 0
    done: bool = False


async def load_seeds(
    source: Path | Iterable[str],
    frontier: Frontier,
    site_key: SiteKey,
    exclusions: Exclusions,
    on_progress: Callable[[Seeding], None],
    parameters: ParameterRules | None = None,
) -> Seeding:
    """Add every seed of a file, or of lines; bad ones are reported by number and skipped.

    `ConfigError` if there is not a single good line. May be repeated: what is known stays as it is.
    """
    with _opened(source) as (lines, total_bytes):
        seeding = Seeding(total_bytes)
        batch: list[NewUrl] = []
        for item in seeds.read(_counted(lines, seeding), parameters):
            if isinstance(item, BadLine):
                _report(seeding, item)
                continue
            seeding.seeds += 1
            host = host_of(item.url)
            site = site_key.site_of(host)
            if exclusions.covers(item.url, host, site):
                seeding.excluded += 1
                continue
            batch.append(_new_url(item, site))
            if len(batch) >= SEEDS_A_BATCH:
                seeding.new += (await frontier.add(batch)).new
                batch.clear()
                on_progress(seeding)
        if batch:
            seeding.new += (await frontier.add(batch)).new
    seeding.done = True
    on_progress(seeding)
    if seeding.excluded:
        log.info("%d seeds are on the exclusion list", seeding.excluded)
    if seeding.bad > BAD_LINES_SHOWN:
        log.warning("%d bad lines in all were skipped", seeding.bad)
    if not seeding.seeds:
        named = f"--seed-file {source}" if isinstance(source, Path) else "the seeds"
        raise ConfigError(f"{named}: not a single seed in it (one domain or URL a line)")
    return seeding


@contextmanager
def _opened(source: Path | Iterable[str]) -> Iterator[tuple[Iterable[str | bytes], int]]:
    if not isinstance(source, Path):
        yield source, 0
        return
    if str(source) == "-":
        yield sys.stdin.buffer, 0
        return
    try:
        file = source.open("rb")
    except OSError as exc:
        raise ConfigError(f"--seed-file {source}: {exc.strerror}") from exc
    with file:
        yield file, source.stat().st_size


def _counted(lines: Iterable[str | bytes], seeding: Seeding) -> Iterator[str | bytes]:
    for line in lines:
        seeding.read_bytes += len(line)
        yield line


def _report(seeding: Seeding, line: BadLine) -> None:
    seeding.bad += 1
    if seeding.bad <= BAD_LINES_SHOWN:
        log.warning("line %d of the seeds is skipped: %r: %s", line.number, line.text, line.reason)


def _new_url(seed: Seed, site: str) -> NewUrl:
    source = Source.BARE_SEED if seed.bare else Source.SEED
    return NewUrl(site, url_hash(seed.url), seed.url, 0, Priority.SEED, source, 0)
