"""The schema and how a database gets it: numbered migrations, applied in one transaction.

The table `migration` says which were applied. Processes that start at the same time take turns by
an advisory lock of the schema's name, so one of them makes it and the others find it.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from mannerly.errors import SchemaError

Connection = psycopg.Connection[Any]


class Migration(NamedTuple):
    number: int
    sql: str


def migrations() -> list[Migration]:
    """All migrations of this version of Mannerly, in order."""
    folder = resources.files("mannerly.frontier.postgres") / "migrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return sorted(Migration(int(file.name[:4]), file.read_text("utf-8")) for file in files)


def version_of(connection: Connection, schema: str, known: Sequence[Migration]) -> int:
    """The schema's version, 0 if there is nothing in it yet. Changes nothing.

    `SchemaError` if it is newer than we are, or holds something that is not a frontier.
    """
    tables = {
        name
        for (name,) in connection.execute(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = %s", (schema,)
        )
    }
    if not tables:
        return 0
    if "migration" not in tables:
        raise SchemaError(
            f"the schema {schema} holds tables that are not a frontier's; name another schema"
        )
    query = sql.SQL("SELECT coalesce(max(number), 0) FROM {}").format(
        sql.Identifier(schema, "migration")
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    version: int = row[0]
    newest = known[-1].number
    if version > newest:
        raise SchemaError(
            f"the schema {schema} was written by a newer Mannerly (version {version}, this one "
            f"knows {newest}); upgrade Mannerly, or name another schema"
        )
    return version


def migrate(connection: Connection, schema: str, known: Sequence[Migration]) -> None:
    """Bring the schema up to the newest version: all of it, or nothing.

    `connection` is in autocommit mode and has the schema in its `search_path`.
    """
    if version_of(connection, schema, known) == known[-1].number:
        return
    with connection.transaction():
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtext('mannerly'), hashtext(%s))", (schema,)
        )
        version = version_of(connection, schema, known)
        if version == 0:
            _make_schema(connection, schema)
            connection.execute(
                "CREATE TABLE migration (number integer PRIMARY KEY, "
                "applied_at timestamptz NOT NULL DEFAULT now())"
            )
        for migration in known:
            if migration.number > version:
                connection.execute(migration.sql.encode())
                connection.execute(
                    "INSERT INTO migration (number) VALUES (%s)", (migration.number,)
                )


def _make_schema(connection: Connection, schema: str) -> None:
    """Unless an administrator made it: `IF NOT EXISTS` asks for the right to make one anyway."""
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
    if found.fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
