"""`mannerly migrate`: a crawl goes to another database."""

import asyncio
import json
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mannerly import migrating
from mannerly.cli.options import config_options, load_config, set_up_logging
from mannerly.config import OPTIONS
from mannerly.migrating import Place

SCHEMA = str(OPTIONS["db_schema"].default)


@click.command()
@config_options("data_dir")
@click.option("--from-schema", metavar="NAME", default=SCHEMA, show_default=True,
              help="The crawl's --db-schema where it is.")  # fmt: skip
@click.option("--to-schema", metavar="NAME", default=SCHEMA, show_default=True,
              help="The crawl's --db-schema where it goes.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Take back a move that was cut off.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def migrate(
    config_file: Path | None,
    from_schema: str,
    to_schema: str,
    undo: bool,
    as_json: bool,
    source: str,
    target: str,
    **flags: object,
) -> None:
    """Move a stopped crawl to another database: SQLite, PostgreSQL or Redis.

    \b
    mannerly migrate sqlite:///crawl/frontier.db postgresql://crawler@db.example/crawls
    mannerly crawl --resume --db-url postgresql://crawler@db.example/crawls

    FROM and TO are what --db-url takes. All that the crawl knows goes along, when each site may be
    visited next included. It is read back and compared before it counts. FROM stays as it was, but
    cannot be crawled any more. If it is cut off, the same command begins again. No crawler may run
    meanwhile, and TO must be empty. Pages stay where they are, in the data directory.
    """
    config = load_config(config_file, flags)
    console = Console(stderr=True)
    set_up_logging(config.observe.log_level, console)
    places = Place.of(source, from_schema), Place.of(target, to_schema)
    if undo:
        asyncio.run(migrating.undo(config, *places))
        print(f"taken back; go on with {places[0].words}")
        return
    with _Bar(console) as bar:
        migrated = asyncio.run(migrating.migrate(config, *places, bar.show))
    weight = migrated.weight
    if as_json:
        rows = dict(weight.rows) if weight else {}
        told = {"to": places[1].words, "rows": rows, "digests": weight.digests() if weight else {}}
        print(json.dumps(told, indent=2))
        return
    if weight is None:
        print("the crawl was moved before; nothing was changed")
    else:
        counts = ", ".join(f"{count:,} {part}" for part, count in weight.rows.items())
        print(f"moved and compared: {counts}")
    print(f"go on with {places[1].words}")


class _Bar:
    """A progress bar, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("")

    def show(self, what: str, done: int, total: int) -> None:
        self._bar.update(self._task, description=what, completed=done, total=total)

    def __enter__(self) -> "_Bar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
