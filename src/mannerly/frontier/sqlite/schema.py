"""The schema and how a file gets it: numbered migrations, applied in one transaction.

`user_version` is the number of the last migration applied; `application_id` says that the file is
one of ours at all.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from mannerly.errors import SchemaError

APPLICATION_ID = 0x4D4E4C59
"""'MNLY': what `file` and every SQLite tool show."""


class Migration(NamedTuple):
    number: int
    sql: str


def migrations() -> list[Migration]:
    """All migrations of this version of Mannerly, in order."""
    folder = resources.files("mannerly.frontier.sqlite") / "migrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return sorted(Migration(int(file.name[:4]), file.read_text("utf-8")) for file in files)


def version_of(connection: sqlite3.Connection, path: Path, known: Sequence[Migration]) -> int:
    """The file's schema version, read without changing a byte of it. Inside a transaction.

    `SchemaError` if it is newer than we are, or not a frontier.
    """
    version = _number(connection, "PRAGMA user_version")
    ours = _number(connection, "PRAGMA application_id") == APPLICATION_ID
    empty = _number(connection, "SELECT count(*) FROM sqlite_schema") == 0
    if not ours and not (empty and version == 0):
        raise SchemaError(f"{path} is an SQLite file, but not a frontier; name another file")
    newest = known[-1].number
    if version > newest:
        raise SchemaError(
            f"{path} was written by a newer Mannerly (schema {version}, this one knows {newest}); "
            "upgrade Mannerly, or name another file"
        )
    return version


def migrate(connection: sqlite3.Connection, path: Path, known: Sequence[Migration]) -> None:
    """Bring the file up to the newest schema: all of it, or nothing. Inside a transaction."""
    version = version_of(connection, path, known)
    for migration in known:
        if migration.number > version:
            for statement in statements_of(migration.sql):
                connection.execute(statement)
            # A PRAGMA takes no parameters; the number comes from a file name of this package.
            connection.execute(f"PRAGMA user_version = {migration.number:d}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def statements_of(sql: str) -> Iterator[str]:
    """The statements of a script, one by one.

    `executescript` would do it too, but commits whatever transaction is open before it starts.
    """
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise ValueError(f"a statement of a migration does not end: {statement.strip()[:80]}")


def _number(connection: sqlite3.Connection, sql: str) -> int:
    number: int = connection.execute(sql).fetchone()[0]
    return number
