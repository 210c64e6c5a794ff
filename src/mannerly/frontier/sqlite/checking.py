"""A frontier's file as SQLite sees it: whether it is whole, and making it anew."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

SHOWN = 10


def quick_check(path: Path) -> list[str]:
    """What is wrong with the file, in SQLite's words; nothing if it is whole. Reads only."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
    except sqlite3.Error as exc:
        return [str(exc)]
    try:
        found = connection.execute(f"PRAGMA quick_check({SHOWN:d})").fetchall()
    except sqlite3.Error as exc:
        return [str(exc)]
    finally:
        connection.close()
    return [line for (line,) in found if line != "ok"]


def compact(path: Path) -> bool:
    """Make the file anew from what is in it: of deleted rows nothing is left, in its log neither.
    Whether that could be done: not while somebody else uses it. Nobody may be crawling with it."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("VACUUM")
            ((is_busy, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError:
        return False
    return not is_busy
