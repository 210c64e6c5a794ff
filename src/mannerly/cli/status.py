"""`mannerly status`."""

import asyncio
import dataclasses
import json
import random
from pathlib import Path

import click

from mannerly import assemble
from mannerly.assemble import World
from mannerly.cli.options import config_options, load_config
from mannerly.clock import InlineExecutor, SystemClock
from mannerly.config import Config
from mannerly.datadir import is_held
from mannerly.errors import NoCrawlError
from mannerly.model import FrontierStats
from mannerly.observe.progress import failures_text


@click.command()
@config_options("data_dir", "db_url")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(config_file: Path | None, as_json: bool, **flags: object) -> None:
    """How a crawl is doing: what is known, fetched, pending; whether it runs."""
    config = load_config(config_file, flags)
    settings, stats = asyncio.run(_look(config))
    running = is_held(config.crawl.data_dir)
    if as_json:
        print(json.dumps(_document(settings, stats, running=running), indent=2))
    else:
        print(_text(config, settings, stats, running=running))


async def _look(config: Config) -> tuple[dict[str, str], FrontierStats]:
    database = assemble.frontier_path(config)
    missing = NoCrawlError(f"there is no crawl at {database}; name its directory with --data-dir")
    if not database.exists():
        raise missing
    world = World(SystemClock(), InlineExecutor(), InlineExecutor(), random.SystemRandom())
    async with assemble.make_frontier(config, world) as frontier:
        settings = await frontier.settings()
        if settings is None:
            raise missing
        return settings, await frontier.stats()


def _document(
    settings: dict[str, str], stats: FrontierStats, *, running: bool
) -> dict[str, object]:
    document: dict[str, object] = {"running": running, "settings": settings}
    document |= dataclasses.asdict(stats)
    document["settled"] = {outcome.name.lower(): n for outcome, n in stats.settled.items()}
    document["pages"] = stats.fetched
    return document


def _text(config: Config, settings: dict[str, str], stats: FrontierStats, *, running: bool) -> str:
    pending = stats.urls_pending - stats.urls_abandoned
    state = "running" if running else ("stopped" if pending else "finished")
    lines = [
        f"crawl in {config.crawl.data_dir}: {state}",
        f"  pages      {stats.fetched:,}",
        f"  urls       {stats.urls_known:,} known, {pending:,} pending",
        f"  not pages  {failures_text(stats.settled) or '-'}",
        f"  sites      {stats.sites:,} known, {stats.sites_ready:,} ready, "
        f"{stats.sites_waiting:,} waiting, {stats.sites_abandoned:,} abandoned",
        f"  leases     {stats.leases:,} given, {stats.refused:,} refused as stale",
        f"  settings   delay {settings['delay_s']} s, sites by {settings['site_by']}, "
        f"scope {settings['scope']}, contact {settings['email']}",
    ]
    return "\n".join(lines)
