"""The schema: versions, upgrades, names, neighbours; and the plans of its statements."""

import re
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest

from mannerly.errors import ConfigError, FrontierError, SchemaError
from mannerly.frontier.conformance.shapes import Worker, names, url
from mannerly.frontier.postgres import schema, statements
from mannerly.frontier.postgres.arrays import Bools, Ints, Texts
from mannerly.frontier.postgres.schema import Migration, migrate, migrations
from tests.services.postgres import shared
from tests.unit.frontier.postgres.opening import opened

NUMBERS = count(1)
Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def name() -> str:
    return f"schema_{next(NUMBERS)}"


@pytest.fixture
def connection(name: str) -> Iterator[Connection]:
    options = f"-c search_path={name}"
    with psycopg.connect(shared().url, autocommit=True, options=options) as connection:
        yield connection


def tables(connection: Connection, name: str) -> set[object]:
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (name,))
    return {table for (table,) in rows}


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


async def test_a_newer_schema_is_refused_and_nothing_is_changed(
    name: str, connection: Connection
) -> None:
    async with opened(shared().url, name) as frontier:
        await frontier.add([url("a.example", 1)])
    newest = migrations()[-1].number
    connection.execute("INSERT INTO migration (number) VALUES (%s)", (newest + 1,))
    before = connection.execute("SELECT xmin FROM crawl").fetchall()
    with pytest.raises(SchemaError, match=f"{name} was written by a newer.*upgrade"):
        await opened(shared().url, name).__aenter__()
    assert connection.execute("SELECT xmin FROM crawl").fetchall() == before


async def test_a_schema_of_another_program_is_refused_and_nothing_is_changed(
    name: str, connection: Connection
) -> None:
    connection.execute(f"CREATE SCHEMA {name}".encode())
    connection.execute("CREATE TABLE site (id int)")
    with pytest.raises(SchemaError, match="not a frontier's; name another"):
        await opened(shared().url, name).__aenter__()
    assert tables(connection, name) == {"site"}


def test_upgrading_applies_what_is_missing_and_keeps_what_is_there(
    name: str, connection: Connection
) -> None:
    first = Migration(1, "CREATE TABLE a (x int); INSERT INTO a VALUES (7);")
    second = Migration(2, "ALTER TABLE a ADD COLUMN y int DEFAULT 8;")
    migrate(connection, name, [first])
    migrate(connection, name, [first, second])
    migrate(connection, name, [first, second])
    assert connection.execute("SELECT x, y FROM a").fetchall() == [(7, 8)]
    assert schema.version_of(connection, name, [first, second]) == 2
    with pytest.raises(SchemaError):
        migrate(connection, name, [first])


def test_a_migration_that_fails_changes_nothing(name: str, connection: Connection) -> None:
    first = Migration(1, "CREATE TABLE a (x int);")
    broken = Migration(2, "CREATE TABLE b (x int); INSERT INTO nowhere VALUES (1);")
    migrate(connection, name, [first])
    with pytest.raises(psycopg.errors.UndefinedTable):
        migrate(connection, name, [first, broken])
    assert tables(connection, name) == {"migration", "a"}
    assert schema.version_of(connection, name, [first]) == 1


async def test_a_schema_that_an_administrator_made_is_used(
    name: str, connection: Connection
) -> None:
    """By a role that may not make one."""
    role = f"role_{name}"
    connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'".encode())
    address = shared().url.replace("postgres@", f"{role}:secret@")
    with pytest.raises(FrontierError, match="the role may not do this"):
        await opened(address, name).__aenter__()
    connection.execute(f"CREATE SCHEMA {name} AUTHORIZATION {role}".encode())
    async with opened(address, name) as frontier:
        await frontier.add([url("a.example", 1)])
        assert len(await (await Worker.enlist(frontier)).lease()) == 1


async def test_crawls_in_two_schemas_of_one_database_know_nothing_of_each_other(name: str) -> None:
    async with (
        opened(shared().url, name) as one,
        opened(shared().url, f"{name}_b") as two,
    ):
        await one.create({"delay_s": "1"})
        assert await two.settings() is None
        await one.add([url("a.example", 1)])
        assert (await two.stats()).sites == 0
        assert names(await (await Worker.enlist(one)).lease()) == ["a.example"]


@pytest.mark.parametrize("bad", ["", "Mannerly", "a b", 'a"; DROP', "pg_mine", "x" * 64, "1a"])
def test_a_name_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError):
        opened(shared().url, bad)


PARAMETERS: dict[str, tuple[object, ...]] = {
    "FIND_SITES": (Texts(["a"]),),
    "LOCK_SITES": (Ints([1]),),
    "WRITE_BUDGETS": (Ints([1]),) * 8,
    "GAIN": (Ints([1]),) * 4,
    "KNOWN": (Ints([1]),) * 2,
    "SPILT": (Ints([1]),) * 2,
    "WAKE": (Ints([1]),),
    "EARLIEST": (0,),
    "PICK": (0, 1, Ints([1]), 10),
    "HEADS": (Ints([1]), 2),
    "ROBOTS": (Ints([1]), Texts(["a"])),
    "STAMP": (1, 1, Ints([1]), Ints([1])),
    "TOKENS": (Ints([1]),),
    "DEQUEUE": (*(Ints([1]),) * 4, 1),
    "SETTLE": (*(Ints([1]),) * 3, 1),
    "DEFER": (*(Ints([1]),) * 6, 1),
    "RELEASE": (Ints([1]), Ints([1]), Bools([True])),
    "COME_BACK": (Ints([1]), Ints([1]), 1),
    "BRING_BACK": (Ints([1]), Ints([1]), Bools([True]), 1),
    "SITES_READY": (1,),
    "PENDING_AFTER": (1, 1, 1, 10),
    "SETTLED_AFTER": (1, 1, 10, 10),
}
TYPES = {Ints: "bigint[]", Texts: "text[]", Bools: "boolean[]", int: "bigint"}
INDEX = re.compile(r"Index(?: Only)? Scan using (\w+) on \w+[^\n]*\n([^\n]*)")


def generic_plan(connection: Connection, statement: str, parameters: tuple[object, ...]) -> str:
    """The plan that is made without knowing the parameters: the one that is kept and used."""
    numbers = count(1)
    text = re.sub("%s", lambda _: f"${next(numbers)}", statement)
    types = ", ".join(TYPES[type(parameter)] for parameter in parameters)
    nulls = ", ".join(["NULL"] * len(parameters))
    connection.execute(f"PREPARE planned ({types}) AS {text}".encode())
    rows = connection.execute(f"EXPLAIN EXECUTE planned ({nulls})".encode()).fetchall()
    connection.execute("DEALLOCATE planned")
    return "\n".join(str(line) for (line,) in rows)


@pytest.mark.parametrize("rows", [0, 20_000])
async def test_statements_walk_an_index_however_much_there_is(
    name: str, connection: Connection, rows: int
) -> None:
    """Planned once, on tables that nobody has analysed: what makes the cost of a lease flat."""
    async with opened(shared().url, name) as frontier:
        await frontier.add([url(f"s{n % 5000}.example", n) for n in range(rows)])
    for setting, value in statements.PLANNING.items():
        connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
    for statement, parameters in PARAMETERS.items():
        plan = generic_plan(connection, getattr(statements, statement), parameters)
        assert "Seq Scan" not in plan, f"{statement}\n{plan}"
        assert "Hash Join" not in plan, f"{statement}\n{plan}"
        assert "Merge Join" not in plan, f"{statement}\n{plan}"
        # A whole index is never read where single rows are wanted: each leaf has its condition.
        for index in INDEX.finditer(plan):
            assert "Cond" in index[2] or "clock_ready" in index[1], f"{statement}\n{plan}"
