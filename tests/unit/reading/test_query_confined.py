"""`mannerly query`: it reads the crawl and does nothing else; formats, files, interrupts."""

import gzip
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from mannerly.errors import UsageError
from mannerly.reading.opening import open_reading
from tests.programs import environment, mannerly
from tests.unit.reading.crawled import fetch_of, fill, page_of, run, run_well


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    fill(
        tmp_path / "data",
        page_of("https://a.test/1", fetched_at=1_800_000_000.0),
        page_of("https://www.a.test/2", fetched_at=1_800_000_100.0),
        fetches=(
            fetch_of("https://a.test/no", outcome="disallowed", status=0, wire_bytes=0),
            fetch_of("https://a.test/gone", outcome="http_error", status=404, wire_bytes=5),
            fetch_of("https://b.test/", outcome="timed_out", status=0, wire_bytes=0),
        ),
    )
    return tmp_path / "data"


def trouble(data_dir: Path, *words: object) -> str:
    error = run("query", "--data-dir", data_dir, *words).exception
    assert isinstance(error, UsageError), error
    assert "\n" not in str(error)
    return str(error)


def test_the_sites(data_dir: Path) -> None:
    sql = "SELECT * FROM sites ORDER BY site"
    first, second = map(
        json.loads,
        run_well("query", "--data-dir", data_dir, "--format", "jsonl", sql).splitlines(),
    )
    assert first == {
        "site": "a.test", "urls": 4, "pages": 2, "redirects": 0, "disallowed": 1, "failures": 1,
        "wire_bytes": 2007, "text_chars": 38,
        "first_visit_at": "2027-01-15T08:00:00", "last_visit_at": "2027-01-15T08:01:40",
    }  # fmt: skip
    assert (second["failures"], second["first_visit_at"]) == (1, None)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY pages TO '{data}/pages/x.parquet' (FORMAT parquet)",
        "EXPLAIN ANALYZE COPY pages TO '{data}/pages/x.parquet' (FORMAT parquet)",
        "/* */ EXPLAIN ANALYZE COPY pages TO '{data}/pages/x.parquet' (FORMAT parquet)",
        "ATTACH '{data}/x.db'",
        "CREATE TABLE x AS SELECT 1",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "CALL enable_logging()",
        "PRAGMA database_list",
        "DROP VIEW pages",
    ],
)
def test_only_queries_are_run(data_dir: Path, sql: str) -> None:
    before = sorted(data_dir.rglob("*"))
    assert "only queries" in trouble(data_dir, sql.format(data=data_dir))
    assert sorted(data_dir.rglob("*")) == before


def test_no_other_file_is_read_and_nobody_is_called(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for sql in (
        f"SELECT * FROM '{tmp_path}/secret.csv'",
        f"SELECT * FROM read_text('{data_dir}/../secret.csv')",
        f"SELECT * FROM glob('{tmp_path}/*')",
    ):
        assert "disabled" in trouble(data_dir, sql)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        port = server.getsockname()[1]
        trouble(data_dir, f"SELECT * FROM read_csv('http://127.0.0.1:{port}/x.csv')")
        with pytest.raises(BlockingIOError):
            server.accept()


def test_no_variable_of_the_program_is_a_table(data_dir: Path) -> None:
    mine = pa.table({"a": [1]})
    with open_reading([data_dir]) as store, pytest.raises(duckdb.CatalogException, match="mine"):
        store.execute("SELECT * FROM mine")
    assert mine.num_rows == 1


def test_one_statement(data_dir: Path) -> None:
    assert "these are 2" in trouble(data_dir, "SELECT 1; SELECT 2")
    assert "1" in run_well("query", "--data-dir", data_dir, "SELECT 1;;  -- and no more;")
    assert "http_error" in run_well(
        "query", "--data-dir", data_dir, "PIVOT (SELECT outcome FROM fetches) ON outcome"
        " USING count(*)",
    )  # fmt: skip
    assert "url_hash" in run_well("query", "--data-dir", data_dir, "DESCRIBE pages")
    assert "explain" in run_well("query", "--data-dir", data_dir, "EXPLAIN SELECT 1")


def test_json_has_no_nan_and_no_column_twice(data_dir: Path) -> None:
    sql = (
        "SELECT 'nan'::DOUBLE AS a, 1.5 AS a, [1, 'inf'::DOUBLE] AS b, MAP {'k': 1} AS c,"
        " '\\xAB'::BLOB AS d, DATE '2026-01-02' AS e, chr(8232) AS f, NULL AS g, 1::HUGEINT AS h"
    )
    text = run_well("query", "--data-dir", data_dir, "--format", "json", sql)
    assert json.loads(text) == [
        {
            "a": None, "a_1": 1.5, "b": [1.0, None], "c": {"k": 1}, "d": "ab", "e": "2026-01-02",
            "f": "\u2028", "g": None, "h": 1,
        }
    ]  # fmt: skip
    assert "\u2028" not in text
    nothing = run_well("query", "--data-dir", data_dir, "--format", "json", "SELECT 1 WHERE false")
    assert json.loads(nothing) == []


def test_the_name_of_the_output_tells_the_format(data_dir: Path, tmp_path: Path) -> None:
    sql = "SELECT url FROM pages ORDER BY url"
    for name in ("a.csv", "a.csv.gz", "a.jsonl.zst", "a.json", "a.parquet", "a.txt"):
        run_well("query", "--data-dir", data_dir, "--output", tmp_path / name, sql)
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (
        (tmp_path / "a.csv").read_bytes()
    )
    packed = (tmp_path / "a.jsonl.zst").read_bytes()
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    assert [json.loads(line) for line in unpacked.splitlines()] == json.loads(
        (tmp_path / "a.json").read_text()
    )
    assert pq.read_table(tmp_path / "a.parquet")["url"].to_pylist()[0] == "https://a.test/1"
    assert "the name says csv" in trouble(
        data_dir, "--format", "json", "--output", tmp_path / "b.csv", sql
    )
    assert "does not tell" in trouble(data_dir, "--output", tmp_path / "b", sql)
    assert "compressed already" in trouble(data_dir, "--output", tmp_path / "b.parquet.gz", sql)
    assert "is a directory" in trouble(data_dir, "--format", "csv", "--output", tmp_path, sql)
    assert "cannot write" in trouble(data_dir, "--output", tmp_path / "no" / "b.csv", sql)


def test_a_query_that_fails_leaves_the_output_as_it_was(data_dir: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        output = tmp_path / name
        output.write_text("from yesterday")
        late = "SELECT CASE WHEN i < 99999 THEN '1' ELSE 'x' END::INT FROM range(100000) r(i)"
        trouble(data_dir, "--output", output, late)
        assert output.read_text() == "from yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.parquet", "data"]


def test_directories_are_read_as_one(data_dir: Path, tmp_path: Path) -> None:
    fill(tmp_path / "other", page_of("https://c.test/"), close=False)
    count = "SELECT count(*) AS n FROM pages"
    words = ["query", "--format", "csv", "--data-dir", data_dir]
    assert run_well(*words, "--data-dir", tmp_path / "other", count).split() == ["n", "3"]
    # The same one by two names is not read twice.
    assert run_well(*words, "--data-dir", f"{data_dir}/../data", count).split() == ["n", "2"]


def test_memory_does_not_grow_with_the_result(data_dir: Path) -> None:
    program = (
        "import resource, sys\n"
        "from mannerly.cli import app\n"
        "for rows in (1_000, 200_000):\n"
        "    sql = f\"SELECT repeat('x', 1000) || i AS t FROM range({rows}) r(i)\"\n"
        "    app.main([*sys.argv[1:], sql], standalone_mode=False)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    words = ["query", "--data-dir", str(data_dir), "--format", "jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, check=True, env=environment(),
    )  # fmt: skip
    few, many = map(int, done.stderr.split())
    assert many - few < 120_000, "kB, for a result of 200,000 kB"


HEARING = """
import signal
from mannerly.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""The program, also where it is started by one that ignores Ctrl-C and hands that down."""


def test_ctrl_c_ends_a_long_query(data_dir: Path, tmp_path: Path) -> None:
    sql = "SELECT count(*) FROM range(1_000_000_000_000) a WHERE a.range % 7 = 3"
    with subprocess.Popen(
        [sys.executable, "-c", HEARING, "query", "--data-dir", str(data_dir),
         "--output", str(tmp_path / "never.parquet"), sql],
        stderr=subprocess.PIPE, text=True, env={**environment(), "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".never*")):  # DuckDB has begun
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            process.kill()
        assert process.stderr is not None
        told = process.stderr.read()
    assert (process.returncode, told) == (130, "\ninterrupted\n")
    assert not list(tmp_path.glob("*never*"))
    assert not list(tmp_path.glob("mannerly-query-*"))


def test_bad_sql_is_exit_code_2(data_dir: Path) -> None:
    done = mannerly("query", "--data-dir", str(data_dir), "SELEC 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mannerly: Parser Error")
