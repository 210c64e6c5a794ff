"""`mannerly query`: SQL over what was crawled, also while the crawl runs."""

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TextIO

import click
import duckdb
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mannerly.cli.options import config_options, load_config
from mannerly.errors import UsageError
from mannerly.store import open_store
from mannerly.store.tables import TABLES

_EXAMPLES = """\
examples:
  mannerly query "SELECT outcome, count(*) FROM fetches GROUP BY ALL ORDER BY 2 DESC"
  mannerly query "SELECT site, count(*) FROM pages GROUP BY ALL ORDER BY 2 DESC LIMIT 20"
  mannerly query "SELECT url, title FROM pages WHERE text ILIKE '%privacy%' LIMIT 10"\
"""
_ROWS_AT_A_TIME = 1_000
# A table is laid out as a whole, in memory, to be looked at; the other formats have no such bound.
_TABLE_ROWS = 1_000
_CELL_WIDTH = 8
_BORDER = 3


@click.command()
@config_options("data_dir")
@click.option(
    "--format", "layout", type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table", show_default=True,
    help="How the result is written; json is one object a line, parquet needs --output.",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)  # fmt: skip
@click.argument("sql", required=False)
def query(
    config_file: Path | None, layout: str, output: Path | None, sql: str | None, **flags: object
) -> None:
    """Ask the crawl's tables in SQL (DuckDB). Without SQL: list them."""
    if layout == "parquet" and output is None:
        raise UsageError("--format parquet needs --output FILE")
    data_dir = load_config(config_file, flags).crawl.data_dir
    with closing(open_store(data_dir)) as store:
        if sql is None:
            _describe(store)
            return
        try:
            if layout == "parquet":
                assert output is not None
                _copy(store, sql, output)
                return
            with _target(output) as target:
                _write(store, sql, layout, target)
        except duckdb.Error as exc:
            raise UsageError(_one_line(exc)) from exc


def _describe(store: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        click.echo(table.name)
        for name, kind, *_ in store.execute(f"DESCRIBE {table.name}").fetchall():
            click.echo(f"  {name:15} {kind.lower()}")
    click.echo(_EXAMPLES)


def _copy(store: duckdb.DuckDBPyConnection, sql: str, output: Path) -> None:
    quoted = str(output).replace("'", "''")
    selection = sql.strip().rstrip(";")
    # On a line of its own, the bracket is not lost in a comment that ends the query.
    store.execute(f"COPY ({selection}\n) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")


def _write(store: duckdb.DuckDBPyConnection, sql: str, layout: str, target: TextIO) -> None:
    if store.execute(sql) is None or store.description is None:
        raise UsageError("the query is empty")
    names = [column[0] for column in store.description]
    if layout == "table":
        _write_table(store, names, target)
    elif layout == "csv":
        rows = csv.writer(target)
        rows.writerow(names)
        rows.writerows(_rows(store))
    else:
        for row in _rows(store):
            document = dict(zip(names, row, strict=True))
            target.write(json.dumps(document, default=str, ensure_ascii=False) + "\n")


def _write_table(store: duckdb.DuckDBPyConnection, names: list[str], target: TextIO) -> None:
    console = Console(file=target)
    shown = names[: max(1, console.width // (_CELL_WIDTH + _BORDER))]
    rows = store.fetchmany(_TABLE_ROWS + 1)
    # What the web wrote is shown, never obeyed: no markup, no escape sequences, one line.
    cells = [[_printable(value) for value in row[: len(shown)]] for row in rows[:_TABLE_ROWS]]
    table = Table()
    columns = zip(shown, *cells, strict=True)
    widest = [max(cell_len(cell) for cell in column) for column in columns]
    room = console.width - _BORDER * len(shown) - 1
    for name, width in zip(shown, _share(room, widest), strict=True):
        table.add_column(Text(name), no_wrap=True, overflow="ellipsis", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)
    if len(shown) < len(names):
        left_out = len(names) - len(shown)
        click.echo(f"{left_out} more columns do not fit; --format json shows all", err=True)
    if len(rows) > _TABLE_ROWS:
        click.echo(f"the first {_TABLE_ROWS} rows; --format csv gives all of them", err=True)


def _share(room: int, widest: list[int]) -> list[int]:
    """Widths that fit into `room`: narrow columns get all they want, wide ones share the rest."""
    widths = list(widest)
    narrow_first = sorted(range(len(widest)), key=widest.__getitem__)
    for done, index in enumerate(narrow_first):
        widths[index] = min(widest[index], room // (len(widest) - done))
        room -= widths[index]
    return widths


def _printable(value: object) -> str:
    text = str(value)[:1_000]
    return "".join(char if char.isprintable() else " " for char in text)


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[object, ...]]:
    while rows := store.fetchmany(_ROWS_AT_A_TIME):
        yield from rows


@contextmanager
def _target(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    try:
        file = output.open("w", encoding="utf-8", newline="")
    except OSError as exc:
        raise UsageError(f"cannot write {output}: {exc.strerror}") from exc
    with file:
        yield file


def _one_line(error: duckdb.Error) -> str:
    """DuckDB's message without the lines that point into the query."""
    return str(error).split("\n", 1)[0]
