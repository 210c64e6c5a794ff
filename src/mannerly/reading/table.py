"""A query's result as a table for people: as wide as the terminal, a screen or some of rows."""

import itertools
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mannerly.reading.asking import Answer
from mannerly.reading.values import printable

# A table is laid out as a whole, in memory, to be looked at; the other formats have no such bound.
TABLE_ROWS = 1_000
_CELL_WIDTH = 8
_BORDER = 3
_CELL_CHARS = 1_000


class LeftOut(NamedTuple):
    columns: int
    more_rows: bool


def write_table(answer: Answer, target: TextIO) -> LeftOut:
    """Write what fits, and tell what did not."""
    console = Console(file=target)
    shown = answer.names[: max(1, console.width // (_CELL_WIDTH + _BORDER))]
    rows = list(itertools.islice(answer, TABLE_ROWS + 1))
    cells = [[_shown(value) for value in row[: len(shown)]] for row in rows[:TABLE_ROWS]]
    table = Table()
    columns = zip(shown, *cells, strict=True)
    widest = [max(cell_len(cell) for cell in column) for column in columns]
    room = console.width - _BORDER * len(shown) - 1
    for name, width in zip(shown, _share(room, widest), strict=True):
        table.add_column(Text(name), no_wrap=True, overflow="ellipsis", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)
    return LeftOut(len(answer.names) - len(shown), len(rows) > TABLE_ROWS)


def _share(room: int, widest: list[int]) -> list[int]:
    """Widths that fit into `room`: narrow columns get all they want, wide ones share the rest."""
    widths = list(widest)
    narrow_first = sorted(range(len(widest)), key=widest.__getitem__)
    for done, index in enumerate(narrow_first):
        widths[index] = min(widest[index], room // (len(widest) - done))
        room -= widths[index]
    return widths


def _shown(value: object) -> str:
    return "" if value is None else printable(str(value)[:_CELL_CHARS])
