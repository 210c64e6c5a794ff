"""sqlite3's errors in our words: translated once, here, with what to do next."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mannerly.errors import FrontierError

_PRIMARY = 0xFF
"""The low byte of an extended result code is the primary one."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Whatever sqlite3 or the file system raise inside comes out as `FrontierError`."""
    try:
        yield
    except sqlite3.Error as exc:
        raise FrontierError(f"{path}: {_advice(exc)}") from exc
    except OSError as exc:
        raise FrontierError(f"{path}: {exc.strerror or exc}; mend it and go on") from exc


def _advice(exc: sqlite3.Error) -> str:
    code = getattr(exc, "sqlite_errorcode", None)
    name = getattr(exc, "sqlite_errorname", type(exc).__name__)
    match code & _PRIMARY if code is not None else None:
        case sqlite3.SQLITE_FULL:
            return "the disk is full; free some space, the crawl goes on from where it is"
        case sqlite3.SQLITE_IOERR:
            return f"the disk could not be read or written ({name}); check it and its free space"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"the file is damaged or not a frontier ({exc}); restore it from a copy"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another program holds the file locked; end it (a shell, a backup) and go on"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return "the file cannot be written; check its owner and permissions"
        case sqlite3.SQLITE_CANTOPEN:
            return "the file cannot be opened; check that its directory exists and is writable"
        case _:
            return f"SQLite says {name}: {exc}"
