"""Whether a frontier's file is whole, by SQLite's own word. Reads only."""

import sqlite3
from pathlib import Path
from urllib.parse import quote

SHOWN = 10


def quick_check(path: Path) -> list[str]:
    """What is wrong with the file, in SQLite's words; nothing if it is whole."""
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
