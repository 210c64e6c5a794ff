"""Where the store keeps what in a data directory.

    journal/<writer>/lock          held (flock) by the living process that writes here
    journal/<writer>/000001.seg    checkpoints of one writer, in order
    pages/<writer>-000001.parquet  what counts of that segment, one directory per table
    fetches/<writer>-000001.parquet
    warc/<writer>-000001.warc.gz   its exchanges, with <writer>-000001.cdxj, the index
    lost+found/                    segments that nobody could vouch for, kept for a person to judge

A file is named after the segment it was rolled from, so rolling a segment twice gives the
same files, not twice the rows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mannerly.store.tables import MARK, TABLES, Table

_WRITER = re.compile(r"[0-9a-f]{16}")
_SEGMENT = re.compile(r"([0-9]{6,})\.seg")
_ROLLED = re.compile(r"([0-9a-f]{16})-([0-9]{6,})\.(parquet|warc\.gz)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The names in one data directory. Only `make` changes the disk."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    @property
    def tables(self) -> list[Path]:
        return [self.root / table.name for table in TABLES]

    @property
    def lost(self) -> Path:
        return self.root / "lost+found"

    def make(self) -> None:
        for directory in (self.journal, *self.tables):
            directory.mkdir(parents=True, exist_ok=True)

    def exists(self) -> bool:
        return self.journal.is_dir() or (self.root / MARK.name).is_dir()

    def writer_dir(self, writer: int) -> Path:
        return self.journal / f"{writer:016x}"

    def writers(self) -> list[int]:
        """Every writer that has a journal, dead or alive."""
        return sorted(int(name, 16) for name in _names(self.journal) if _WRITER.fullmatch(name))

    def segments(self, writer: int) -> list[int]:
        """The numbers of a writer's segments, oldest first. Empty if the directory is gone."""
        found = (_SEGMENT.fullmatch(name) for name in _names(self.writer_dir(writer)))
        return sorted(int(match[1]) for match in found if match)

    def segment(self, writer: int, number: int) -> Path:
        return self.writer_dir(writer) / f"{number:06d}.seg"

    def set_aside(self, writer: int, number: int) -> Path:
        return self.lost / f"{writer:016x}-{number:06d}.seg"

    def file(self, table: Table, writer: int, number: int) -> Path:
        """The file of a segment in `table`."""
        return self.root / table.name / f"{writer:016x}-{number:06d}.{table.suffix}"

    def rolled(self, table: Table) -> set[tuple[int, int]]:
        """(writer, segment number) of every file in `table`."""
        found = (_ROLLED.fullmatch(name) for name in _names(self.root / table.name))
        return {
            (int(match[1], 16), int(match[2]))
            for match in found
            if match and match[3] == table.suffix
        }

    def segment_of(self, file: str) -> tuple[int, int]:
        """(writer, segment number) that a rolled file's name tells."""
        match = _ROLLED.fullmatch(Path(file).name)
        assert match is not None, file
        return int(match[1], 16), int(match[2])

    def archives(self) -> list[Path]:
        """The WARC files."""
        return sorted((self.root / "warc").glob("[!.]*.warc.gz"))

    def unfinished(self, writer: int) -> list[Path]:
        """Files of a writer that were never given their name."""
        return [path for table in self.tables for path in table.glob(f".{writer:016x}-*.tmp")]


def temporary(path: Path) -> Path:
    """Where a file is written before it gets its name; no `*.parquet` matches it."""
    return path.with_name(f".{path.name}.tmp")


def _names(directory: Path) -> Iterator[str]:
    try:
        yield from (path.name for path in directory.iterdir())
    except FileNotFoundError:
        return
