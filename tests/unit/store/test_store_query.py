"""`mannerly query`."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from mannerly.cli.query import query
from mannerly.errors import NoCrawlError, UsageError
from mannerly.store import JournalStore, Rows
from mannerly.store.tables import PAGES
from tests.unit.store.store_records import StillClock, fetch, page


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    store = JournalStore(tmp_path / "data", 1, clock=StillClock())
    title = 'a, "b"\n[red]\x1b[31m'
    store.write(1, Rows([fetch(1), fetch(2)], [page(1, title=title), page(2, text="long " * 1000)]))
    store.settle(1, [])
    store.close()
    return tmp_path / "data"


def ask(data_dir: Path, *args: str) -> Result:
    return CliRunner().invoke(query, ["--data-dir", str(data_dir), *args], env={"COLUMNS": "60"})


def ask_well(data_dir: Path, *args: str) -> str:
    result = ask(data_dir, *args)
    assert result.exception is None
    return result.output


def test_a_table_fits_the_terminal_and_obeys_no_page(data_dir: Path) -> None:
    output = ask_well(data_dir, "SELECT url_hash, title, text FROM pages ORDER BY 1;")
    assert max(len(line) for line in output.splitlines()) <= 60
    assert "\x1b" not in output
    assert "url_hash" in output
    assert "[red]" in ask_well(data_dir, "SELECT title FROM pages")
    assert "…" in output


def test_a_table_with_many_columns_says_what_it_left_out(data_dir: Path) -> None:
    result = ask(data_dir, "SELECT * FROM pages")
    assert max(len(line) for line in result.stdout.splitlines()) <= 60
    left_out = len(PAGES.public.names) - 5
    assert f"{left_out} more columns do not fit" in result.stderr


def test_csv(data_dir: Path) -> None:
    output = ask_well(
        data_dir, "--format", "csv", "SELECT title, fetched_at FROM pages WHERE url_hash = 1"
    )
    assert list(csv.reader(io.StringIO(output, newline=""))) == [
        ["title", "fetched_at"],
        ['a, "b"\n[red]\x1b[31m', "2027-01-15 08:00:01.250000"],
    ]


def test_jsonl_is_an_object_a_line(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    ask_well(
        data_dir, "--format", "jsonl", "--output", str(output),
        "SELECT url, truncated, fetched_at FROM pages ORDER BY url",
    )  # fmt: skip
    first, second = map(json.loads, output.read_text().splitlines())
    assert first["url"] == "https://site.test/1"
    assert second == {
        "url": "https://site.test/2",
        "truncated": False,
        "fetched_at": "2027-01-15T08:00:02.250000",
    }


def test_parquet(data_dir: Path, tmp_path: Path) -> None:
    output = tmp_path / "it's.parquet"
    sql = "SELECT url_hash FROM fetches ORDER BY 1; -- all"
    ask_well(data_dir, "--format", "parquet", "--output", str(output), sql)
    assert pq.read_table(output)["url_hash"].to_pylist() == [1, 2]
    with pytest.raises(UsageError, match="--output"):
        raise ask(data_dir, "--format", "parquet", sql).exception or AssertionError


def test_without_sql_the_views_and_examples_are_shown_and_the_examples_work(data_dir: Path) -> None:
    output = ask_well(data_dir)
    assert output.split()[:3] == ["pages", "url", "varchar"]
    assert "fetches\n" in output
    examples = [
        line.split('"')[1] for line in output.splitlines() if line.startswith("  mannerly query")
    ]
    assert len(examples) == 3
    for example in examples:
        ask_well(data_dir, example)


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT nope FROM pages", "", "/* nothing */"])
def test_bad_sql_is_one_line(data_dir: Path, sql: str) -> None:
    error = ask(data_dir, sql).exception
    assert isinstance(error, UsageError)
    assert "\n" not in str(error)


def test_no_store_is_one_line(tmp_path: Path) -> None:
    error = ask(tmp_path / "nowhere", "SELECT 1").exception
    assert isinstance(error, NoCrawlError)
    assert "\n" not in str(error)
