"""`mannerly query`: SQL over what was crawled, also while the crawl runs."""

from pathlib import Path

import click
import duckdb

from mannerly.cli.options import data_dirs_of, data_dirs_option
from mannerly.reading.asking import Answer, single_query
from mannerly.reading.layouts import LAYOUTS, TEXT_LAYOUTS, layout_for, write_parquet
from mannerly.reading.opening import open_reading, views_of
from mannerly.reading.output import text_target, whole_file
from mannerly.reading.table import TABLE_ROWS, write_table

_EXAMPLES = """\
examples:
  mannerly query "SELECT outcome, count(*) FROM fetches GROUP BY ALL ORDER BY 2 DESC"
  mannerly query "SELECT site, pages, failures FROM sites ORDER BY pages DESC LIMIT 20"
  mannerly query "SELECT url, title FROM pages WHERE text ILIKE '%privacy%' LIMIT 10"\
"""


@click.command()
@data_dirs_option
@click.option(
    "--format", "layout", type=click.Choice(LAYOUTS),
    help="How the result is written: json is one array, jsonl an object a line, parquet needs "
    "--output.  [default: what the name of --output says, else table]",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="Write to this file instead of standard output; .gz and .zst compress.",
)  # fmt: skip
@click.argument("sql", required=False)
def query(
    config_file: Path | None,
    data_dirs: tuple[str, ...],
    layout: str | None,
    output: Path | None,
    sql: str | None,
) -> None:
    """Ask the crawl's tables in SQL (DuckDB). Without SQL: list them.

    One statement that reads; it sees the crawl and no other file. The crawl may be running.
    """
    chosen = layout_for(layout, output)
    roots = data_dirs_of(config_file, data_dirs)
    if chosen == "parquet" and output is not None:
        with whole_file(output) as path, open_reading(roots, output=path) as store:
            if sql is not None:
                write_parquet(store, single_query(store, sql), path)
                return
    with open_reading(roots) as store:
        if sql is None:
            _describe(store)
            return
        answer = Answer(store, single_query(store, sql))
        with text_target(output) as target:
            if chosen == "table":
                left_out = write_table(answer, target)
            else:
                TEXT_LAYOUTS[chosen](answer, target)
                return
        if left_out.columns:
            click.echo(f"{left_out.columns} more columns do not fit; --format jsonl shows all",
                       err=True)  # fmt: skip
        if left_out.more_rows:
            click.echo(f"the first {TABLE_ROWS} rows; --format csv gives all of them", err=True)


def _describe(store: duckdb.DuckDBPyConnection) -> None:
    for view in views_of(store):
        click.echo(view)
        columns = store.execute(f"DESCRIBE {view}").fetchall()
        width = max(15, *(len(name) for name, *_ in columns))
        for name, kind, *_ in columns:
            click.echo(f"  {name:{width}} {kind.lower()}")
    click.echo(_EXAMPLES)
