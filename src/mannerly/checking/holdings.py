"""What a store holds, by key: which URL has how many records. For comparing, not for reading.

Not `open_store`: that refuses as a whole where one file is damaged, and of a dead process's journal
it shows what the process itself had marked; here the frontier says what counts of it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from mannerly.frontier.contract import WriterState
from mannerly.store import segments
from mannerly.store.layout import Layout
from mannerly.store.tables import EXTRACTS, FETCHES, LINKS, MARK, PAGES, Table

KEYS = {
    FETCHES.name: pa.schema(
        [("site", pa.string()), ("url_hash", pa.int64()), ("outcome", pa.string())]
    ),
    **{
        table.name: pa.schema([("site", pa.string()), ("url_hash", pa.int64())])
        for table in (PAGES, EXTRACTS, LINKS)
    },
}
COMPARED = (PAGES, EXTRACTS, LINKS, FETCHES)

States = Mapping[int, WriterState | None]


class Holdings(NamedTuple):
    """By table: Parquet files to read, and the keys of what is still in journals."""

    files: dict[str, list[Path]]
    journalled: dict[str, pa.Table]


def holdings(data_dirs: Sequence[Path], states: States, without: Collection[Path]) -> Holdings:
    """As of now. `states`: of dead writers, what the frontier says; the others speak for
    themselves. `without`: files that cannot be read."""
    while True:
        try:
            return _look(data_dirs, states, without)
        except FileNotFoundError:
            continue  # a segment was rolled under our eyes: it is in a Parquet file by now


def _look(data_dirs: Sequence[Path], states: States, without: Collection[Path]) -> Holdings:
    files: dict[str, list[Path]] = {name: [] for name in KEYS}
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in KEYS}
    for layout in map(Layout, data_dirs):
        # Segments before files: one that is rolled in between shows in both, and is left out.
        journals = {writer: layout.segments(writer) for writer in layout.writers()}
        marked = layout.rolled(MARK)
        for table in COMPARED:
            paths = [layout.file(table, *name) for name in layout.rolled(table) & marked]
            files[table.name] += [path for path in paths if path not in without]
        for writer, numbers in journals.items():
            left = [number for number in numbers if (writer, number) not in marked]
            for table, batch in _journalled(layout, writer, left, states):
                if table.name in KEYS:
                    batches[table.name].append(batch.select(KEYS[table.name].names))
    return Holdings(
        files,
        {
            name: pa.Table.from_batches(
                [pa.record_batch(batch.columns, schema=schema) for batch in batches[name]], schema
            )
            for name, schema in KEYS.items()
        },
    )


def _journalled(
    layout: Layout, writer: int, numbers: Sequence[int], states: States
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    journal = [
        segments.read_segment(layout.segment(writer, number), writer, number) for number in numbers
    ]
    if writer in states:
        state = states[writer]
        vouched = segments.vouched_by_frontier(journal, *state) if state is not None else {}
    else:
        vouched = segments.marks_of(journal)
    plan = segments.counted(journal, vouched, void=False)
    for segment, counted in zip(journal, plan, strict=True):
        yield from segments.rows(segment.path, counted)
