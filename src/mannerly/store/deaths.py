"""Which page a process was reading when it died, and which pages nobody reads any more.

A page can kill the process that reads it: by a fault in the compiled part of a parser, or by memory
that is not there. Nothing is settled then, so it would come again at every start, for ever. So each
process notes which page it reads; who finishes what the dead left counts these notes; and a page
that was being read at `MOST` deaths is given up.

    DIR/deaths/<writer>   what that process is reading: a hash, 0 for nothing
    DIR/deaths/counted    a line for each death: the writer and the hash

A note outlives its process, but is not synced: a power cut is no page's fault. A process that is
killed from outside may be reading something, too, but not the same page `MOST` times. There are
only hashes here, nothing that names a page or a site.

(Why not a count of lapsed leases in the frontier: every page that a dead process held would be
suspected with the one that killed it, and where it dies within its first second nothing that it
held would ever clear itself.)
"""

import os
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

MOST = 3
_FOLDER = "deaths"
_COUNTED = "counted"
_BYTES = 8
_NOTHING = bytes(_BYTES)


class ReadingNote:
    """One process's note. Leaving it says that nobody died."""

    def __init__(self, data_dir: Path, writer: int) -> None:
        self._path = data_dir / _FOLDER / str(writer)
        self.deadly = deadly(data_dir)
        """Hashes of the pages that nobody reads any more."""
        self._file = -1

    def begin(self, hash_: int) -> None:
        self._write(hash_.to_bytes(_BYTES, signed=True))

    def end(self) -> None:
        self._write(_NOTHING)

    def _write(self, note: bytes) -> None:
        try:  # noqa: SIM105 - twice a page, and `suppress` costs as much as the write
            os.pwrite(self._file, note, 0)
        except OSError:
            pass  # a disk in trouble must not cost a page: the store tells of it, and waits

    def __enter__(self) -> Self:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.end()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            os.close(self._file)
            self._path.unlink()


def count_deaths(data_dir: Path, dead: Collection[int]) -> None:
    """Take down what these writers were reading. May be cut off and done again: a death counts
    once."""
    for writer in dead:
        path = data_dir / _FOLDER / str(writer)
        with suppress(OSError):  # it left none, or the disk is in trouble, which others tell of
            note = path.read_bytes()
            if len(note) == _BYTES and note != _NOTHING:
                with (path.parent / _COUNTED).open("a") as counted:
                    counted.write(f"{writer} {int.from_bytes(note, signed=True)}\n")
            path.unlink()


def deadly(data_dir: Path) -> frozenset[int]:
    """Hashes of the pages that were being read at `MOST` deaths or more."""
    try:
        lines = (data_dir / _FOLDER / _COUNTED).read_text().splitlines()
    except OSError:
        return frozenset()
    writers: dict[int, set[str]] = defaultdict(set)
    for line in lines:
        writer, _, hash_ = line.partition(" ")
        with suppress(ValueError):  # cut off in the middle of it
            writers[int(hash_)].add(writer)
    return frozenset(hash_ for hash_, died in writers.items() if len(died) >= MOST)
