"""The file itself: schema versions, damage, the write-ahead log, query plans."""

import sqlite3
from pathlib import Path

import pytest

from mannerly.errors import FrontierError, FrontierMisuseError, SchemaError
from mannerly.frontier.sqlite import database, schema, statements
from mannerly.frontier.sqlite.schema import Migration, migrate, migrations, statements_of
from mannerly.model import Commit, Outcome, Settled
from tests.unit.frontier.sqlite_opening import opened, url


async def test_a_newer_schema_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.add([url("a.example", 1)])
    newest = migrations()[-1].number
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {newest + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=r"frontier\.db.*upgrade"):
        await opened(path).__aenter__()
    assert path.read_bytes() == before


async def test_a_file_of_another_program_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE site (id)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="not a frontier"):
        await opened(path).__aenter__()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


async def test_something_else_than_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    path.write_bytes(b"not a database " * 1000)
    with pytest.raises(FrontierError, match="damaged or not a frontier"):
        await opened(path).__aenter__()


async def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FrontierError, match=r"nowhere/frontier\.db.*directory exists"):
        await opened(tmp_path / "nowhere" / "frontier.db").__aenter__()


async def test_a_damaged_page_is_reported_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.add([url(f"s{n}.example", n) for n in range(3000)])
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(FrontierError, match="damaged"):
        async with opened(path) as frontier:
            await frontier.add([url(f"t{n}.example", n) for n in range(3000)])


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_a_migration_that_fails_changes_nothing() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    known = [Migration(1, "CREATE TABLE a (x);\n")]
    migrate(connection, Path("x.db"), known)
    known.append(Migration(2, "CREATE TABLE b (x);\nINSERT INTO nowhere VALUES (1);\n"))
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection, Path("x.db"), known)
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("a",)]
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    known[1] = Migration(2, "CREATE TABLE b (x);\n")
    migrate(connection, Path("x.db"), known)
    assert schema.version_of(connection, Path("x.db"), known) == 2
    connection.close()


def test_statements_are_cut_at_their_ends_only() -> None:
    script = "-- a; comment;\nCREATE TABLE a (\n  x TEXT DEFAULT ';'\n);\n\nSELECT 1;\n"
    first, second = statements_of(script)
    assert first.startswith("-- a; comment;")
    assert first.rstrip().endswith(");")
    assert second.strip() == "SELECT 1;"
    with pytest.raises(ValueError, match="does not end"):
        list(statements_of("SELECT 1"))


async def test_the_log_is_copied_and_starts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAL_BYTES", 200_000)
    path = tmp_path / "frontier.db"
    log = path.with_name("frontier.db-wal")
    async with opened(path) as first, opened(path) as second:
        sizes = []
        for turn in range(30):
            for number, frontier in enumerate((first, second)):
                base = (turn * 2 + number) * 200
                await frontier.add(
                    [url(f"s{n}.example", n, "x" * 200) for n in range(base, base + 200)]
                )
                sizes.append(log.stat().st_size)
        assert max(sizes) < 800_000
        assert (await first.stats()).urls_known == 12_000


async def test_a_long_reader_delays_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAL_BYTES", 100_000)
    path = tmp_path / "frontier.db"
    async with opened(path) as frontier:
        await frontier.add([url("a.example", 1)])
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM seen").fetchone()
        for turn in range(5):
            base = turn * 500 + 10
            await frontier.add(
                [url(f"s{n}.example", n, "x" * 200) for n in range(base, base + 500)]
            )
        assert reader.execute("SELECT count(*) FROM seen").fetchone() == (1,)
        reader.close()
        assert (await frontier.stats()).urls_known == 2501


@pytest.mark.parametrize(
    "statement",
    [statements.READY, statements.EARLIEST, statements.SITES_READY, statements.UP_TO],
    ids=["ready", "earliest", "sites_ready", "head"],
)
async def test_leasing_walks_an_index_and_sorts_nothing(tmp_path: Path, statement: str) -> None:
    """What makes the cost of a lease independent of how much there is."""
    path = tmp_path / "frontier.db"
    async with opened(path):
        connection = sqlite3.connect(path)
        parameters = (0, 0, 0)[: statement.count("?")]
        rows = connection.execute("EXPLAIN QUERY PLAN " + statement, parameters)
        plan = [row[-1] for row in rows]
        connection.close()
    assert not any("TEMP B-TREE" in line for line in plan), plan
    assert any("clock_ready" in line or "SEARCH q USING PRIMARY KEY" in line for line in plan), plan
    assert not any("SCAN q" in line or line == "SCAN clock" for line in plan), plan


async def test_settling_what_is_not_at_its_place_is_an_error_and_does_nothing(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path / "frontier.db") as frontier:
        writer = await frontier.enlist("a writer")
        await frontier.add([url("a.example", 1), url("a.example", 2)])
        (lease,), _ = await frontier.lease(writer, 1, ttl_s=60, urls_per_site=2)
        one, two = (
            Settled(lease.handle, lease.token, it.priority, it.seq, it.hash, Outcome.FETCHED)
            for it in lease.urls
        )
        for wrong in ([one, one], [one, two._replace(seq=two.seq + 1)], [one._replace(hash=9)]):
            with pytest.raises(FrontierMisuseError, match="not at its place"):
                await frontier.commit(writer, Commit(1, wrong))
        for outcome in (Outcome.PENDING, Outcome.NOT_SENT):
            with pytest.raises(FrontierMisuseError, match="cannot be settled"):
                await frontier.commit(writer, Commit(1, [one._replace(outcome=outcome)]))
        assert (await frontier.stats()).urls_pending == 2
        await frontier.commit(writer, Commit(1, [one, two]))
        assert (await frontier.stats()).urls_pending == 0


async def test_only_enlisted_writers_lease(tmp_path: Path) -> None:
    async with opened(tmp_path / "frontier.db") as frontier:
        writer = await frontier.enlist("a writer")
        await frontier.add([url("a.example", 1)])
        with pytest.raises(FrontierMisuseError, match="never enlisted"):
            await frontier.lease(writer + 1, 1, ttl_s=60, urls_per_site=1)
        await frontier.retire(writer, 0)
        with pytest.raises(FrontierMisuseError, match="retired"):
            await frontier.lease(writer, 1, ttl_s=60, urls_per_site=1)
