"""`mannerly show`."""

import json
from pathlib import Path

import pytest

from mannerly.errors import UsageError
from mannerly.records import ExtractRecord
from mannerly.store import JournalStore, Rows
from tests.unit.reading.crawled import fetch_of, fill, page_of, run, run_well
from tests.unit.store.store_records import StillClock

URL = "https://www.example.org/a/b?q=1"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    fill(
        tmp_path,
        page_of(URL, title="Mind the\n\x1b[31mgap", text="word \x1b[2J" * 300),
        page_of("http://plain.test/", text="\x00one\r\ntwo\u2028three "),
        fetches=(
            fetch_of("https://moved.test/", outcome="redirected", status=301, redirect_to=URL),
            fetch_of("https://late.test/", outcome="timed_out", status=0, detail="60 s were up"),
        ),
    )
    return tmp_path


@pytest.mark.parametrize(
    "spelling",
    [URL, "www.example.org/a/b?q=1", "HTTPS://WWW.Example.ORG:443/x/../a/./b?q=1#top",
     "http://www.example.org/a/b?q=1"],
)  # fmt: skip
def test_a_page_is_found_by_any_spelling(data_dir: Path, spelling: str) -> None:
    output = run_well("show", "--data-dir", data_dir, spelling)
    assert output.startswith(f"{URL}\n\n  Mind the")
    assert f"{len('word x[2J' * 300):,} characters" in output
    assert "fetched, status 200" in output
    assert "\x1b" not in output
    assert max(map(len, output.splitlines())) <= 80


def test_the_text_alone_is_exact(data_dir: Path) -> None:
    output = run("show", "--data-dir", data_dir, "--text", "plain.test").stdout_bytes
    assert output.decode() == "\x00one\r\ntwo\u2028three \n"


def test_for_programs(data_dir: Path) -> None:
    document = json.loads(run_well("show", "--data-dir", data_dir, "--json", "plain.test"))
    assert document["url"] == "http://plain.test/"
    assert document["pages"][0]["text"] == "\x00one\r\ntwo\u2028three "
    assert [fetch["outcome"] for fetch in document["fetches"]] == ["fetched"]


def test_what_is_not_a_page_shows_its_fetches(data_dir: Path) -> None:
    output = run_well("show", "--data-dir", data_dir, "moved.test")
    assert "no page is stored of it" in output
    assert "redirected, status 301" in output
    assert f"redirect to {URL}" in output
    assert "60 s were up" in run_well("show", "--data-dir", data_dir, "late.test")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["https://www.example.org/other"], "(1 other pages of its host are stored)"),
        (["nowhere.test/x"], "nothing is stored of https://nowhere.test/x"),
        (["https://["], "is not a URL"),
        (["--text", "moved.test"], "no page is stored"),
        (["--text", "--json", "moved.test"], "choose one"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(data_dir: Path, words: list[str], told: str) -> None:
    error = run("show", "--data-dir", data_dir, *words).exception
    assert isinstance(error, UsageError)
    assert told in str(error)
    assert "\n" not in str(error)


def test_what_it_repeats_and_what_was_extracted(tmp_path: Path) -> None:
    first, copy = page_of("https://a.test/first"), page_of("https://a.test/copy")
    copy = copy._replace(
        duplicate="near", duplicate_of=first.url_hash, headings=((1, "One"), (2, "Two"))
    )
    extract = ExtractRecord(1, copy.url, copy.url_hash, copy.site, copy.fetched_at, '{"price": 3}')
    store = JournalStore(tmp_path, 1, clock=StillClock())
    store.write(1, Rows([fetch_of(first.url), fetch_of(copy.url)], [first, copy], [extract]))
    store.settle(1, [])
    store.close()
    output = run_well("show", "--data-dir", tmp_path, copy.url)
    assert "repeats (the last page, near)\n  https://a.test/first\n" in output
    assert 'extract\n  {"price": 3}\n' in output
    assert "- Two\n" in output
    document = json.loads(run_well("show", "--data-dir", tmp_path, "--json", copy.url))
    assert document["repeats"] == first.url
    assert document["extracts"][0]["data"] == {"price": 3}
    assert "repeats" not in run_well("show", "--data-dir", tmp_path, first.url)
