"""`mannerly crawl`."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click
import uvloop
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from mannerly import session
from mannerly.cli.options import config_options, load_config, set_up_logging
from mannerly.config import Config
from mannerly.dburl import without_password
from mannerly.observe.left_out import left_out_lines, not_followed_lines
from mannerly.observe.progress import deferred_text, failures_text, view_for
from mannerly.observe.strain import strain_lines, strain_of
from mannerly.observe.words import clock_text, size_text
from mannerly.seeding import Seeding
from mannerly.session import Ended

EXAMPLE_QUERY = "SELECT url, title, length(text) FROM pages LIMIT 10"


@click.command()
@config_options()
@click.option("--resume", is_flag=True, help="Go on with the crawl that is there.")
@click.option("--quiet", is_flag=True, help="Show errors only: no progress, no summary.")
def crawl(config_file: Path | None, resume: bool, quiet: bool, **flags: object) -> None:
    """Crawl the web from a file of domains, politely.

    \b
    mannerly crawl --seed-file domains.txt --email you@example.org
    mannerly crawl --resume

    Durations and sizes take units: 70s, 1h30m, 2MiB. Every option can also stand in the file given
    with --config, or in the environment (MANNERLY_DELAY=70s).
    """
    config = load_config(config_file, flags)
    if quiet:
        shown = replace(config.observe, log_level="ERROR", progress="off")
        config = replace(config, observe=shown)
    run(config, resume=resume, summary=not quiet)


def run(config: Config, *, resume: bool, resumable: bool = True, summary: bool = True) -> None:
    """Crawl, show progress, print the summary."""
    console = Console(stderr=True)
    observe = config.observe
    as_json = observe.log_format == "json"
    set_up_logging(observe.log_level, console, as_json=as_json)
    if observe.dashboard == "auto" and console.is_terminal and summary:
        config = replace(config, observe=replace(observe, dashboard="on"))
    ended = uvloop.run(
        session.crawl(
            config,
            resume=resume,
            view=view_for(observe.progress, console, as_json=as_json),
            on_seeding=SeedingBar(console).show,
        )
    )
    if summary:
        print_summary(ended, config, resumable=resumable)


class SeedingBar:
    """A progress bar for large seed files, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Progress(
            TextColumn("reading seeds"),
            BarColumn(),
            DownloadColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("seeds")

    def show(self, seeding: Seeding) -> None:
        if not seeding.total_bytes:
            return
        self._bar.start()
        self._bar.update(self._task, completed=seeding.read_bytes, total=seeding.total_bytes)
        if seeding.done:
            self._bar.stop()


def print_summary(ended: Ended, config: Config, *, resumable: bool) -> None:
    """What happened, and what to do next, on standard output."""
    tally, stats = ended.tally, ended.stats
    rate = tally.fetched / ended.elapsed_s if ended.elapsed_s else 0.0
    data_dir = config.crawl.data_dir
    where = f"--data-dir {data_dir}"
    if config.crawl.db_url:
        where += f" --db-url {without_password(config.crawl.db_url)}"
    if "db_schema" in config.given:
        where += f" --db-schema {config.crawl.db_schema}"
    print(f"\n{ended.because}")
    print(
        f"  this run   {tally.fetched:,} pages in {clock_text(ended.elapsed_s)} ({rate:.1f}/s), "
        f"{tally.pages_stored:,} with text stored, {size_text(tally.wire_bytes)} received"
    )
    print(
        f"  the crawl  {stats.fetched:,} pages of {stats.urls_known:,} known URLs on "
        f"{stats.sites:,} sites; {stats.urls_pending - stats.urls_abandoned:,} URLs pending"
    )
    print(f"  not pages  {failures_text(stats.settled) or '-'}")
    if tally.deferred:
        print(f"  in vain    {deferred_text(tally)}")
    if stats.sites_abandoned:
        print(
            f"  abandoned  {stats.sites_abandoned:,} sites, {stats.urls_abandoned:,} URLs on them"
        )
    told = left_out_lines(stats) + not_followed_lines(tally.left_out.items(), tally.closed)
    for line in told + strain_lines({"this run": strain_of(tally)}):
        print(line)
    print(f'\nlook at the pages:  {program()} query --data-dir {data_dir} "{EXAMPLE_QUERY}"')
    if resumable and stats.urls_pending - stats.urls_abandoned + stats.urls_spilt:
        print(f"go on later:        {program()} crawl --resume {where}")


def program() -> str:
    """How the user called us, for commands that are shown to be copied."""
    called = Path(sys.argv[0])
    if called.name != "mannerly":
        return "python -m mannerly"
    found = shutil.which("mannerly")
    return "mannerly" if found and Path(found).samefile(called) else str(called)
