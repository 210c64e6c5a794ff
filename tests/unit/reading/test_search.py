"""`mannerly search`: what is found and in which order; the index follows the store."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mannerly.errors import StoreError, UsageError
from mannerly.reading.index import index_path
from mannerly.reading.searching import search
from mannerly.reading.words import asked_for, snippet
from tests.programs import environment
from tests.unit.reading.crawled import fill, page_of, run, run_well


def urls(
    data_dir: Path | list[Path], words: str, told: list[str] | None = None, **more: Any
) -> Any:
    dirs = data_dir if isinstance(data_dir, list) else [data_dir]
    lines = [] if told is None else told
    found = search(dirs, words, limit=more.pop("limit", 10), tell=lines.append, **more)
    assert found.total >= len(found.best)
    return [hit.url for hit in found.best]


def test_what_is_found_and_in_which_order(tmp_path: Path) -> None:
    garden, bridge, both = (f"https://{name}.test/" for name in ("garden", "bridge", "both"))
    fill(
        tmp_path,
        page_of(bridge, title="Bridges", text="A bridge has an old garden. " + "word " * 50),
        page_of(garden, title="The Garden", text="Old trees, a Bridge and a fish pond."),
        page_of(both, title="", text="Caf\u00e9 M\u00dcNCHEN\x00after \u6771\u4eac\u306e\u56f3"),
    )
    assert urls(tmp_path, "garden") == [garden, bridge]
    assert urls(tmp_path, "bridge") == [garden, bridge]  # the shorter text
    assert urls(tmp_path, "GARDEN pond") == [garden]
    assert urls(tmp_path, '"old garden"') == [bridge]
    assert urls(tmp_path, "bridg*") == [bridge, garden]
    assert urls(tmp_path, "garden nowhere") == []
    assert urls(tmp_path, "garden", sites=["bridge.test"]) == [bridge]
    assert urls(tmp_path, "garden", sites=["bridge.test", "garden.test"], limit=1) == [garden]
    for words in ("cafe", "munchen", "M\u00fcnchen", "after", "\u4eac", "\u6771\u4eac"):
        assert urls(tmp_path, words) == [both], words
    assert urls(tmp_path, "\u4eac\u6771") == []
    # Nothing that is typed is an operator of the index.
    for words in ("garden)", 'a "garden', "title:garden", "garden NEAR(", "gar*den", "-garden"):
        assert isinstance(urls(tmp_path, words), list)


def test_at_the_terminal_and_for_programs(tmp_path: Path) -> None:
    text = "filler " * 100 + "the needle\x1b[31m is here " + "filler " * 100
    fill(tmp_path, page_of("https://a.test/x", title="A\n\x1b[2J title", text=text),
         page_of("https://b.test/", title="needle", text=""))  # fmt: skip
    result = run("search", "--data-dir", tmp_path, "needle")
    assert result.stdout.splitlines()[:4] == [
        "  1 needle",
        "    https://b.test/",
        "  2 A [2J title",
        "    https://a.test/x",
    ]
    assert "needle [31m is here" in result.stdout
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    document = json.loads(run_well("search", "--data-dir", tmp_path, "--json", "needle"))
    assert document["total"] == 2
    assert [hit["url"] for hit in document["hits"]] == ["https://b.test/", "https://a.test/x"]
    assert document["hits"][0]["score"] > document["hits"][1]["score"]
    nothing = run("search", "--data-dir", tmp_path, "nowhere")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "no page has all of these words" in nothing.stderr


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    for words in (["--data-dir", tmp_path, "x"], ["--data-dir", tmp_path / "none", "x"]):
        assert "no store in" in str(run("search", *words).exception)
    assert not list(tmp_path.iterdir())
    fill(tmp_path, page_of("https://a.test/"))
    error = run("search", "--data-dir", tmp_path, "?!").exception
    assert isinstance(error, UsageError)
    (tmp_path / "search").write_text("not a directory")
    error = run("search", "--data-dir", tmp_path, "page").exception
    assert isinstance(error, UsageError)
    assert "cannot be written" in str(error)


def test_only_what_is_new_is_added(tmp_path: Path) -> None:
    told: list[str] = []
    fill(tmp_path, page_of("https://a.test/1"), page_of("https://a.test/2"))
    assert len(urls(tmp_path, "page", told)) == 2
    assert len(urls(tmp_path, "page", told)) == 2
    fill(tmp_path, page_of("https://b.test/"), writer=2)
    assert len(urls(tmp_path, "page", told)) == 3
    assert [line.split(" in ")[0] for line in told] == [
        "indexed 2 new pages",
        "indexed 1 new pages",
    ]


def test_journalled_pages_are_found_and_known_when_they_are_rolled(tmp_path: Path) -> None:
    told: list[str] = []
    store = fill(tmp_path, page_of("https://a.test/"), close=False)
    assert urls(tmp_path, "page", told) == ["https://a.test/"]
    store.close()
    assert urls(tmp_path, "page", told) == ["https://a.test/"]
    assert len(told) == 1


def test_a_page_that_was_removed_leaves_no_word(tmp_path: Path) -> None:
    told: list[str] = []
    fill(tmp_path, page_of("https://a.test/", text="unmentionable"))
    fill(tmp_path, page_of("https://b.test/", text="other"), writer=2)
    assert urls(tmp_path, "unmentionable", told)
    for name in ("pages", "fetches"):
        (tmp_path / name / f"{1:016x}-000001.parquet").unlink()
    assert urls(tmp_path, "unmentionable", told) == []
    assert urls(tmp_path, "other", told) == ["https://b.test/"]
    assert "made anew" in told[1]
    for path in (tmp_path / "search").iterdir():
        assert b"unmentionable" not in path.read_bytes()


def test_files_that_were_merged_are_not_indexed_again(tmp_path: Path) -> None:
    told: list[str] = []
    fill(tmp_path, page_of("https://a.test/"))
    assert urls(tmp_path, "page", told)
    for name in ("pages", "fetches"):
        old = tmp_path / name / f"{1:016x}-000001.parquet"
        old.rename(old.with_name(f"{1:016x}-000007.parquet"))
    assert urls(tmp_path, "page", told) == ["https://a.test/"]
    assert len(told) == 1


def test_a_damaged_or_older_index_is_made_anew(tmp_path: Path) -> None:
    fill(tmp_path, page_of("https://a.test/"))
    assert urls(tmp_path, "page")
    index_path(tmp_path).write_bytes(b"nonsense" * 1000)
    assert urls(tmp_path, "page") == ["https://a.test/"]
    with sqlite3.connect(index_path(tmp_path)) as index:
        index.execute("PRAGMA user_version = 99")
    index.close()
    assert urls(tmp_path, "page") == ["https://a.test/"]
    damaged = bytearray(index_path(tmp_path).read_bytes())
    damaged[4096:] = bytes(len(damaged) - 4096)
    index_path(tmp_path).write_bytes(damaged)
    with pytest.raises(StoreError, match="delete"):
        urls(tmp_path, "page")


def test_several_directories(tmp_path: Path) -> None:
    fill(tmp_path / "a", page_of("https://a.test/", title="Needle"))
    fill(tmp_path / "b", page_of("https://b.test/", text="needle"), page_of("https://c.test/"))
    found = urls([tmp_path / "a", tmp_path / "b", tmp_path / "a"], "needle")
    assert sorted(found) == ["https://a.test/", "https://b.test/"]


def test_killed_while_indexing_it_goes_on(tmp_path: Path) -> None:
    pages = [page_of(f"https://a.test/{n}", text=f"page {n} " * 20_000) for n in range(400)]
    fill(tmp_path, *pages)
    command = [sys.executable, "-m", "mannerly", "search", "--data-dir", str(tmp_path), "page"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    ) as process:
        deadline = time.monotonic() + 60
        while _indexed(tmp_path) < 40:
            assert time.monotonic() < deadline
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
    left = _indexed(tmp_path)
    assert 40 <= left < 400
    told: list[str] = []
    found = search([tmp_path], "page", limit=5, tell=told.append)
    assert found.total == 400
    assert f"indexed {400 - left} new pages" in told[-1]
    with sqlite3.connect(index_path(tmp_path)) as index:
        index.execute("INSERT INTO words(words) VALUES ('integrity-check')")
    index.close()


def test_two_searches_at_once_index_each_page_once(tmp_path: Path) -> None:
    fill(tmp_path, *(page_of(f"https://a.test/{n}", text="page " * 5_000) for n in range(60)))
    command = [sys.executable, "-m", "mannerly", "search", "--json", "--data-dir", str(tmp_path)]
    both = [
        subprocess.Popen([*command, "page"], stdout=subprocess.PIPE, text=True, env=environment())
        for _ in range(2)
    ]
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert json.loads(output)["total"] == 60
        assert process.returncode == 0
    assert _indexed(tmp_path) == 60


def _indexed(data_dir: Path) -> int:
    if not index_path(data_dir).exists():
        return 0
    index = sqlite3.connect(index_path(data_dir), timeout=10)
    try:
        return int(index.execute("SELECT count(*) FROM docs").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        index.close()


def test_the_snippet_is_where_most_words_are() -> None:
    text = "alpha " + "x " * 500 + "alpha and b\u00e9ta\n\nmeet " + "y " * 500 + "beta"
    part = snippet(text, asked_for("beta alpha"))
    assert "alpha and b\u00e9ta meet" in part.text
    assert [part.text[start:end] for start, end in part.marks] == ["alpha", "b\u00e9ta"]
    assert part.text[0] == part.text[-1] == "…"
    assert len(part.text) <= 210
    assert snippet("short", asked_for("absent")).text == "short"
    assert snippet("", asked_for("absent")).text == ""
