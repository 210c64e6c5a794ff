"""The main text at export: kept, made from WARC, or else the whole text, which is said."""

import json
import zlib
from pathlib import Path

import pytest

from mannerly.errors import UsageError
from mannerly.records import Exchange
from mannerly.store import JournalStore, Rows
from tests.unit.reading.crawled import fetch_of, page_of, run, run_well
from tests.unit.store.store_records import StillClock

PROSE = "Prose that goes on for as many words as it takes to be the main thing of a page. " * 3
HTML = f"<html><body><nav><a href='/'>Menu</a></nav><h1>Top</h1><p>{PROSE}</p></body></html>"
WHOLE = f"Menu\nTop\n{PROSE.strip()}"
KEPT, MADE, AGAIN, NONE = (f"https://a.test/{name}" for name in ("kept", "made", "again", "none"))


def exchange_of(url: str, status: int = 200, body: str = HTML) -> Exchange:
    packed = zlib.compress(body.encode())
    return Exchange(
        token=1, url=url, fetched_at=1_800_000_000.0 + status, address="192.0.2.7",
        request=b"GET / HTTP/1.1\r\n\r\n", http_version=b"1.1", status=status, reason=b"",
        headers=[(b"Content-Type", b"text/html"), (b"Content-Encoding", b"deflate")],
        body=packed if status == 200 else b"", truncated=False, facts=(),
    )  # fmt: skip


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Four pages of one text: the main text of one is kept, two are archived (the second as a
    revisit, after a try in vain), one has nothing but its text."""
    body = HTML + "<!-- " + "".join(map(str, range(2_000))) + " -->"
    store = JournalStore(tmp_path / "data", 1, clock=StillClock())
    facts = {"text": WHOLE, "body_bytes": len(body)}
    pages = [page_of(url, **facts) for url in (MADE, AGAIN, NONE)]
    pages.append(page_of(KEPT, **facts, main_text="kept"))
    fetches = [fetch_of(url) for url in (KEPT, MADE, AGAIN, NONE)]
    store.write(1, Rows(fetches, pages, [exchange_of(MADE, body=body)]))
    store.settle(1, [])
    store.write(2, Rows([], [], [exchange_of(AGAIN, 503), exchange_of(AGAIN, body=body)]))
    store.settle(2, [])
    store.close()
    return tmp_path / "data"


def texts(lines: str, column: str) -> dict[str, str]:
    return {it["url"]: it[column] for it in map(json.loads, lines.splitlines())}


def test_it_is_taken_from_where_it_is(data_dir: Path) -> None:
    done = run("export", "--data-dir", data_dir, "--text", "main")
    found = texts(done.stdout, "main_text")
    made = f"Top\n{PROSE.strip()}"
    assert found == {KEPT: "kept", MADE: made, AGAIN: made, NONE: WHOLE}
    assert texts(done.stdout, "text") == dict.fromkeys(found, WHOLE)
    assert "main text: 1 kept, 2 made from WARC, 1 not known: the whole text" in done.stderr
    stored = texts(run_well("export", "--data-dir", data_dir), "main_text")
    assert stored == {KEPT: "kept", MADE: "", AGAIN: "", NONE: ""}


def test_documents_have_the_main_text_unless_all_is_asked_for(data_dir: Path) -> None:
    words = ["export", "--data-dir", data_dir, "--where", f"url = '{MADE}'", "--format"]
    assert "Menu" not in run_well(*words, "text")
    assert "Menu" in run_well(*words, "text", "--text", "all")
    assert "Menu" not in run_well(*words, "markdown")
    assert "Menu" in run_well(*words, "wet")
    assert "Menu" not in run_well(*words, "wet", "--text", "main")
    error = run(*words, "warc", "--text", "main").exception
    assert isinstance(error, UsageError)


def test_markdown_has_the_headings_and_the_description(tmp_path: Path) -> None:
    told = page_of(
        "https://a.test/", title="Top", text="Menu\nTop\nOne\nprose One\nTwo * x\nmore",
        headings=((2, "Hidden"), (1, "Top"), (2, "One"), (3, "Two * x")), description="All\nof it",
    )  # fmt: skip
    store = JournalStore(tmp_path / "data", 1, clock=StillClock())
    store.write(1, Rows([fetch_of(told.url)], [told]))
    store.settle(1, [])
    store.close()
    text = run_well("export", "--data-dir", tmp_path / "data", "--format", "markdown")
    assert 'description: "All of it"\n' in text
    body = text.partition("\n---\n\n")[2]
    assert body == "# Top\n\nMenu\n\n## One\n\nprose One\n\n### Two \\* x\n\nmore\n\n"
    stream = run_well("export", "--data-dir", tmp_path / "data", "--format", "text")
    assert "Description: All of it\n\n" in stream
    found = run_well("search", "--data-dir", tmp_path / "data", "prose")
    assert "All of it" in found
