"""A query's result as CSV, JSON or Parquet, streamed."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import duckdb

from mannerly.errors import UsageError
from mannerly.reading.asking import Answer, interruptibly, told_plainly
from mannerly.reading.output import compression_of, layout_suffix
from mannerly.reading.values import cell, json_line

LAYOUTS = ("table", "csv", "json", "jsonl", "parquet")
_SUFFIXES = {
    ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".pq": "parquet", ".txt": "table",
}  # fmt: skip


def layout_for(asked: str | None, output: Path | None) -> str:
    """The layout that was asked for, or the one that the name of the output stands for.

    Where both speak they must agree: a file that is not what its name says misleads every tool
    that is given it."""
    if output is None:
        if asked == "parquet":
            raise UsageError("--format parquet needs --output FILE")
        return asked or "table"
    named = _SUFFIXES.get(layout_suffix(output))
    if asked is None:
        if named is None:
            raise UsageError(
                f"{output} does not tell the format: add --format, or a suffix such as .csv, "
                ".jsonl or .parquet"
            )
        asked = named
    if named not in (None, asked):
        raise UsageError(f"--format {asked} into {output}: the name says {named}; change one")
    if asked == "parquet" and compression_of(output):
        raise UsageError(f"Parquet is compressed already: leave {output.suffix} out of --output")
    return asked


def write_csv(answer: Answer, target: TextIO) -> None:
    # RFC 4180 line ends: with others the module leaves a carriage return in a text unquoted.
    rows = csv.writer(target)
    rows.writerow(answer.names)
    for row in answer:
        rows.writerow([cell(value) for value in row])


def write_jsonl(answer: Answer, target: TextIO) -> None:
    for row in answer:
        target.write(json_line(dict(zip(answer.names, row, strict=True))) + "\n")


def write_json(answer: Answer, target: TextIO) -> None:
    """One array, an object a line."""
    between = "[\n"
    for row in answer:
        target.write(between + json_line(dict(zip(answer.names, row, strict=True))))
        between = ",\n"
    target.write("[]\n" if between == "[\n" else "\n]\n")


TEXT_LAYOUTS: dict[str, Callable[[Answer, TextIO], None]] = {
    "csv": write_csv,
    "json": write_json,
    "jsonl": write_jsonl,
}


def write_parquet(connection: duckdb.DuckDBPyConnection, sql: str, path: Path) -> None:
    """`path` must be the output that `open_reading` was told of."""
    quoted = str(path).replace("'", "''")
    with told_plainly():
        # On a line of its own, the bracket is not lost in a comment that ends the query.
        copy = f"COPY ({sql}\n) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)"
        interruptibly(connection, lambda: connection.execute(copy))
