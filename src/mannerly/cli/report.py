"""`mannerly report`: what a crawl came to, as one page or as JSON, also while it runs."""

import datetime as dt
import json
from pathlib import Path

import click

from mannerly.cli.options import data_dirs_of, data_dirs_option
from mannerly.reading.output import text_target
from mannerly.reporting.document import document
from mannerly.reporting.gathering import gather
from mannerly.reporting.page import page

PAGE = Path("report.html")


@click.command()
@data_dirs_option
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE",
    help=f"Write to this file; .gz and .zst compress.  [default: {PAGE}; with --json standard "
    "output]",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="For programs: the figures, and their SQL.")
def report(
    config_file: Path | None, data_dirs: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Write a report on a crawl: totals, rates, sites, statuses, sizes, languages, politeness,
    failures, cost.

    One HTML file with plots that needs nothing else and runs no script. The crawl may be running.
    """
    figures = gather(data_dirs_of(config_file, data_dirs), dt.datetime.now(dt.UTC))
    if as_json:
        text = json.dumps(document(figures), indent=2, allow_nan=False) + "\n"
    else:
        text = page(figures)
        output = output or PAGE
    with text_target(output) as target:
        target.write(text)
    if output is not None:
        click.echo(f"written: {output}", err=True)
