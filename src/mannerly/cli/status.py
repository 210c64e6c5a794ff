"""`mannerly status`."""

import asyncio
import concurrent.futures
import dataclasses
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import click

from mannerly import assemble
from mannerly.cli.operations_table import operations_document, operations_lines
from mannerly.cli.options import config_options, load_config
from mannerly.config import Config
from mannerly.datadir import is_held
from mannerly.errors import FrontierError
from mannerly.frontier.contract import CrawlerFacts
from mannerly.joining import place_text
from mannerly.model import FrontierStats
from mannerly.observe import operations
from mannerly.observe.left_out import left_out_lines, not_followed_lines
from mannerly.observe.progress import failures_text
from mannerly.observe.strain import strain_lines
from mannerly.observe.words import clock_text
from mannerly.opening import existing_crawl

PATIENCE_S = 10.0
"""How long the database may take to answer. What else is known is shown then."""

SILENT_S = 15.0
"""Crawlers tell of themselves every five seconds. Of one that has not for longer it is said."""


class Looked(NamedTuple):
    settings: dict[str, str]
    stats: FrontierStats
    crawlers: list[CrawlerFacts]


@click.command()
@config_options("data_dir", "db_url", "db_schema")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(config_file: Path | None, as_json: bool, **flags: object) -> None:
    """How a crawl is doing: what is known, fetched, pending; whether it runs; how long its database
    takes. Where the database does not answer, the rest is shown, and the exit code is 1."""
    config = load_config(config_file, flags)
    assemble.check_database(config)
    looked: Looked | None = None
    trouble: FrontierError | None = None
    try:
        looked = _looked(config)
    except FrontierError as exc:
        trouble = exc
    data_dir = config.crawl.data_dir
    running = is_held(data_dir)
    processes = operations.read(data_dir)
    if as_json:
        document: dict[str, object] = {"running": running, "trouble": str(trouble or "")}
        document |= _document(looked) if looked else {}
        document["not_followed"], document["repeating"] = _not_followed(processes)
        print(json.dumps(document | operations_document(processes), indent=2))
    else:
        lines = _lines(config, looked, running=running) if looked else _bare(config, running)
        left_out, closed = _not_followed(processes)
        lines += not_followed_lines(left_out.items(), closed)
        lines += strain_lines({process.label: process.strain for process in processes})
        lines += operations_lines(processes, time.time())
        print("\n".join(lines))
    if trouble is not None:
        raise trouble


def _looked(config: Config) -> Looked:
    """What the frontier says. On a thread that is left behind if it does not answer: neither a disk
    nor a database driver that hangs can be told to stop."""
    answer: concurrent.futures.Future[Looked] = concurrent.futures.Future()

    def look() -> None:
        try:
            answer.set_result(asyncio.run(_look(config)))
        except BaseException as exc:  # noqa: BLE001 - handed on to whoever waits
            answer.set_exception(exc)

    threading.Thread(target=look, daemon=True).start()
    try:
        return answer.result(PATIENCE_S)
    except TimeoutError:
        raise FrontierError(
            f"the database in {place_text(config)} did not answer within {PATIENCE_S:.0f} s"
        ) from None


async def _look(config: Config) -> Looked:
    async with existing_crawl(config) as (frontier, settings):
        return Looked(settings, await frontier.stats(), await frontier.crawlers())


def _document(looked: Looked) -> dict[str, object]:
    settings, stats, crawlers = looked
    document: dict[str, object] = {"settings": settings, **dataclasses.asdict(stats)}
    document["settled"] = {outcome.name.lower(): n for outcome, n in stats.settled.items()}
    document["dropped"] = {cause.name.lower(): n for cause, n in stats.dropped.items()}
    document["pages"] = stats.fetched
    document["crawlers"] = [facts._asdict() for facts in crawlers]
    return document


def _lines(config: Config, looked: Looked, *, running: bool) -> list[str]:
    settings, stats, crawlers = looked
    pending = stats.urls_pending - stats.urls_abandoned
    state = "running" if running else ("stopped" if pending + stats.urls_spilt else "finished")
    return [
        f"crawl in {config.crawl.data_dir}: {state}",
        f"  pages      {stats.fetched:,}",
        f"  urls       {stats.urls_known:,} known, {pending:,} pending",
        f"  not pages  {failures_text(stats.settled) or '-'}",
        f"  sites      {stats.sites:,} known, {stats.sites_ready:,} ready, "
        f"{stats.sites_waiting:,} waiting, {stats.sites_abandoned:,} abandoned",
        *left_out_lines(stats),
        f"  leases     {stats.leases:,} given, {stats.refused:,} refused as stale",
        f"  settings   delay {settings['delay_s']} s, sites by {settings['site_by']}, "
        f"scope {settings['scope']}, contact {settings['email']}",
        *_crawler_lines(crawlers),
    ]


def _crawler_lines(crawlers: list[CrawlerFacts]) -> list[str]:
    """A line for each process that crawls, on whatever machine: '  crawling   vm:4711 …'."""
    lines = []
    for facts in crawlers:
        silent = facts.silent_s > SILENT_S
        now = (
            f"not heard of for {clock_text(facts.silent_s)}"
            if silent
            else (f"{facts.rate:.1f}/s now, {facts.in_flight:,} in flight")
        )
        lines.append(
            f"  crawling   {facts.label}  for {clock_text(facts.since_s)}, {facts.pages:,} pages, "
            f"{now}"
        )
    return lines


def _not_followed(
    processes: list[operations.ProcessOperations],
) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """What all processes of the run left out, and the patterns that they found to repeat."""
    left_out: Counter[str] = Counter()
    for process in processes:
        left_out.update(process.left_out)
    return dict(left_out), [closed for process in processes for closed in process.closed]


def _bare(config: Config, running: bool) -> list[str]:
    """What is known without the frontier."""
    return [
        f"crawl in {config.crawl.data_dir}: {'running' if running else 'not running'}",
        "  its database gives no answer; see the message below",
    ]
