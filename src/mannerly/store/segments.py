"""What a journal says: its segments' batches and marks, and which batches count. Reading only.

A batch counts if somebody vouches for its sequence: the writer's own SETTLED mark, or, after its
death, the frontier. Where a sequence was written twice (the first attempt failed, or was never
committed), the later one counts.

Of a batch that nobody vouches for, the rows of lasting tables stand all the same: `counted` takes
it along, as void.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from mannerly.errors import StoreError
from mannerly.store import frames, tables
from mannerly.store.frames import Frame, Kind
from mannerly.store.layout import Layout
from mannerly.store.tables import Table

Refused = frozenset[int]


@dataclass(slots=True)
class Segment:
    """One file of a journal, as far as it is whole."""

    number: int
    path: Path
    after: int | None
    """The last sequence that was journalled before this segment was begun. None: not readable."""
    batches: dict[int, Frame] = field(default_factory=dict)
    marks: dict[int, Refused] = field(default_factory=dict)
    size: int = 0
    """Bytes up to the end of the last whole frame."""
    torn: bool = False
    """There is something behind the last whole frame, or between two of them."""
    rolled: bool = False
    """Its rows are durable in Parquet."""


class Counted(NamedTuple):
    """A batch whose rows count, but for those of the refused tokens."""

    frame: Frame
    refused: Refused | None
    """None: the batch is void, but for what lasts."""


def read_segment(path: Path, writer: int, number: int, *, past_damage: bool = False) -> Segment:
    """`FileNotFoundError` if it was rolled meanwhile, `SchemaError` if it is of a newer format.

    Safe while the segment is being written: it gives what is whole at this moment.
    """
    segment = Segment(number, path, after=None)
    fd = os.open(path, os.O_RDONLY)
    try:
        for frame in frames.scan(fd, past_damage=past_damage):
            if frame.kind is Kind.HEADER:
                owner = frames.read_header(fd, frame)
                if owner != writer:
                    raise StoreError(f"{path} was written by {owner:016x}: put it back there")
                segment.after = frame.sequence
            elif frame.kind is Kind.BATCH:
                segment.batches[frame.sequence] = frame
            else:
                segment.marks[frame.sequence] = frames.read_settled(fd, frame)
            if segment.size != frame.offset - frames.OVERHEAD:
                segment.torn = True
            segment.size = frame.offset + frame.length
        segment.torn |= segment.size < os.fstat(fd).st_size
    finally:
        os.close(fd)
    return segment


def read_journal(layout: Layout, writer: int, *, past_damage: bool = False) -> list[Segment]:
    """All segments of a writer, oldest first."""
    return [
        read_segment(layout.segment(writer, number), writer, number, past_damage=past_damage)
        for number in layout.segments(writer)
    ]


def rows(
    path: Path, batches: Sequence[Counted], of: Collection[Table] = tables.TABLES
) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """The rows of a segment that count, as readers see them, one record batch at a time."""
    with path.open("rb", buffering=0) as file:
        for frame, refused in batches:
            for part in frames.read_batch(file.fileno(), frame):
                table = tables.named(part.table)
                if table not in of:
                    continue
                file.seek(part.offset)
                for batch in tables.decode(file):
                    counting = tables.public(table, batch, refused)
                    if counting is not None:
                        yield table, counting


def marks_of(journal: Sequence[Segment]) -> dict[int, Refused]:
    """What the writer itself says was committed. A mark may stand in a later segment."""
    return {sequence: refused for segment in journal for sequence, refused in segment.marks.items()}


def counted(
    journal: Sequence[Segment], vouched: Mapping[int, Refused], *, void: bool
) -> list[list[Counted]]:
    """Per segment, the batches that count, in order of sequence; with `void` also the others, for
    what stands of them."""
    home = {sequence: segment.number for segment in journal for sequence in segment.batches}
    return [
        [
            Counted(segment.batches[sequence], vouched.get(sequence))
            for sequence in sorted(segment.batches)
            if (void or sequence in vouched) and home[sequence] == segment.number
        ]
        for segment in journal
    ]


def vouched_by_frontier(
    journal: Sequence[Segment], sequence: int, refused: Refused
) -> dict[int, Refused]:
    """What a dead writer's last committed sequence says of its batches.

    Up to that sequence all count. What was refused in the last one the frontier knows; of the ones
    before it the marks do, which were durable before the next batch was. Later ones are void even
    if they are marked: their URLs are still pending and will be fetched again.
    """
    marks = marks_of(journal)
    return {
        number: refused if number == sequence else marks.get(number, frozenset())
        for segment in journal
        for number in segment.batches
        if number <= sequence
    }


def missing(journal: Sequence[Segment], sequence: int) -> list[int]:
    """Sequences that were committed and never rolled, and yet cannot be read: a damaged disk."""
    begins = [segment.after for segment in journal if segment.after is not None]
    if not begins:
        return []
    present = {number for segment in journal for number in segment.batches}
    return [number for number in range(begins[0] + 1, sequence + 1) if number not in present]
