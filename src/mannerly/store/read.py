"""Reading the store: its tables as views in DuckDB, also while the crawl runs.

A reader takes no lock and keeps nobody waiting. It sees the Parquet files that are there now, plus
the batches that are still in a journal (the settled ones, and of the others what happened whoever
settles them), each row once:

- segments are listed before Parquet files. A segment that is rolled in between shows in both
  lists, and is then left out; one that was rolled before is only in the second;
- a segment that is gone when it is opened was rolled since: all is listed again;
- the views name the files they found, so what is rolled later cannot show twice.

A view is a moment: to see what came later, open the store again.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

import duckdb
import pyarrow as pa

from mannerly.errors import NoCrawlError
from mannerly.store import segments
from mannerly.store.layout import Layout
from mannerly.store.tables import MARK, TIMESTAMP, VIEWS, Table


class _Moment(NamedTuple):
    """What there is to read of one table at one moment, with the journalled rows in a
    memory-mapped file."""

    files: list[Path]
    journalled: pa.Table


def open_store(data_dirs: Path | Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with a view for each table over one or more data directories.

    Instants are of type TIMESTAMP, in UTC. `NoCrawlError` if there is no store in a directory.
    Whoever opens closes.
    """
    layouts = [Layout(path) for path in ([data_dirs] if isinstance(data_dirs, Path) else data_dirs)]
    for layout in layouts:
        if not layout.exists():
            raise NoCrawlError(f"there is no store in {layout.root}: name a crawl's data directory")
    moments = _look(layouts)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for table, moment in zip(VIEWS, moments, strict=True):
        _view(connection, table, moment)
    return connection


def _view(connection: duckdb.DuckDBPyConnection, table: Table, moment: _Moment) -> None:
    # Parquet keeps instants with their zone. The views show them without, because DuckDB gives
    # those to Python only where the package pytz happens to be installed.
    instants = [field.name for field in table.public if field.type == TIMESTAMP]
    replaced = ", ".join(f"{name} AT TIME ZONE 'UTC' AS {name}" for name in instants)
    columns = f"* REPLACE ({replaced})" if instants else "*"
    name = f"journalled_{table.name}"
    connection.register(name, moment.journalled)
    sources = [name]
    if moment.files:
        sources.append(f"read_parquet([{', '.join(literal(path) for path in moment.files)}])")
    selects = [f"SELECT {columns} FROM {source}" for source in sources]  # noqa: S608
    connection.execute(f"CREATE VIEW {table.name} AS {' UNION ALL '.join(selects)}")


def literal(path: Path) -> str:
    """A path as SQL. DuckDB takes it for a pattern; bracketed, a character stands for itself."""
    pattern = re.sub(r"[*?\[]", r"[\g<0>]", str(path)).replace("'", "''")
    return f"'{pattern}'"


def _look(layouts: Sequence[Layout]) -> list[_Moment]:
    while True:
        moments = _look_once(layouts)
        if moments is not None:
            return moments


def _look_once(layouts: Sequence[Layout]) -> list[_Moment] | None:
    """In the order of `VIEWS`. None if a segment was rolled under our eyes: it is in a Parquet
    file by now."""
    files: dict[str, list[Path]] = {table.name: [] for table in VIEWS}
    unrolled: list[tuple[Layout, int, list[int]]] = []
    for layout in layouts:
        journals = {writer: layout.segments(writer) for writer in layout.writers()}
        # The mark gets its name last, so no file of a segment that has it can be missing here.
        marked = layout.rolled(MARK)
        for table in VIEWS:
            there = sorted(layout.rolled(table) & marked)
            files[table.name] += [layout.file(table, *name) for name in there]
        for writer, numbers in journals.items():
            left = [number for number in numbers if (writer, number) not in marked]
            unrolled.append((layout, writer, left))
    with ExitStack() as stack:
        spools = {table.name: stack.enter_context(_Spool(table)) for table in VIEWS}
        try:
            for source in unrolled:
                for table, batch in _journalled_rows(*source):
                    spools[table.name].add(batch)
        except FileNotFoundError:
            return None
        return [_Moment(files[table.name], spools[table.name].mapped()) for table in VIEWS]


def _journalled_rows(
    layout: Layout, writer: int, numbers: Sequence[int]
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    journal = [
        segments.read_segment(layout.segment(writer, number), writer, number) for number in numbers
    ]
    plan = segments.counted(journal, segments.marks_of(journal), void=True)
    for segment, batches in zip(journal, plan, strict=True):
        yield from segments.rows(segment.path, batches, VIEWS)


class _Spool:
    """Journalled rows on their way to DuckDB: in a nameless temporary file, mapped into memory, so
    that a look at many busy journals does not need them all in memory at once."""

    def __init__(self, table: Table) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="mannerly-")  # noqa: SIM115
        self._stream = pa.ipc.new_stream(self._file, table.public)

    def add(self, batch: pa.RecordBatch) -> None:
        self._stream.write_batch(batch)

    def mapped(self) -> pa.Table:
        self._stream.close()
        self._file.flush()
        with pa.memory_map(self._file.name) as mapping, pa.ipc.open_stream(mapping) as reader:
            return reader.read_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stream.close()
        self._file.close()
