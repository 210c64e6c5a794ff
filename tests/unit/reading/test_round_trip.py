"""Whatever the web wrote comes out of the store, and of every format, as it went in."""

import csv
import io
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from warcio.archiveiterator import ArchiveIterator

from mannerly.reading.documents import Document, as_markdown
from mannerly.records import PageRecord
from tests.unit.reading.crawled import fill, page_of, run, run_well

# Lone surrogates cannot be stored: the store has its own test of what becomes of them.
characters = st.characters(exclude_categories=["Cs"])
odd = st.sampled_from(
    ["\x00", "\r", "\n", "\r\n", '"', "'", ",", ";", "\t", "\f", "\x1b[2J", "\x85", "\u2028",
     "\ufeff", "\ufffe", "e\u0301", "\U0001f469\u200d\U0001f680", "\u202e", "---\n", "# ", "```",
     "- ", "1. ", "1) ", "<b>", "&amp;", "[a](b)", "![", "***", "$$", "| a |\n|---|", "    x",
     "\\", "WARC/1.1\r\n\r\n", "=\n===", "+", "~~~", "http://a.test/<", ": "],
)  # fmt: skip
texts = st.lists(st.one_of(odd, st.text(characters, max_size=8)), max_size=12).map("".join)
records = st.lists(
    st.fixed_dictionaries({"title": texts, "text": texts, "language": texts}),
    min_size=1,
    max_size=4,
)


def stored(directory: Path, rows: list[dict[str, str]]) -> list[PageRecord]:
    pages = [page_of(f"https://a.test/{n}", **row) for n, row in enumerate(rows)]
    fill(directory / "data", *pages)
    return pages


@settings(max_examples=8, deadline=None)
@given(records)
def test_every_format(rows: list[dict[str, str]]) -> None:
    csv.field_size_limit(1 << 30)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        pages = stored(root, rows)
        wanted = [(page.url, page.title, page.text, page.language) for page in pages]
        base = ["--data-dir", root / "data"]
        for output in ("a.jsonl", "a.csv", "a.wet", "a.txt", "a.md"):
            run_well("export", *base, "--output", root / output)
        run_well("export", *base, "--format", "text", "--output", root / "texts")
        sql = "SELECT url, title, text, language FROM pages"
        for output in ("q.jsonl", "q.json", "q.csv"):
            run_well("query", *base, "--output", root / output, sql)

        assert [_picked(line) for line in _lines(root / "a.jsonl")] == wanted
        assert [_picked(line) for line in _lines(root / "q.jsonl")] == wanted
        assert [_picked(entry) for entry in json.loads(_read(root / "q.json"))] == wanted
        for output in ("a.csv", "q.csv"):
            table = csv.DictReader(io.StringIO(_read(root / output), newline=""))
            assert [_picked(row) for row in table] == wanted
        assert _wet(root / "a.wet") == [
            (url, _block(title, text)) for url, title, text, _ in wanted
        ]
        assert _texts(root / "texts") == {url: text for url, _, text, _ in wanted}
        stream = _read(root / "a.txt").split("\n\f\n")
        assert [entry.partition("\n\n")[2] for entry in stream[:-1]] == [
            text.replace("\f", " ") for _, _, text, _ in wanted
        ]
        assert stream[-1] == ""
        assert _read(root / "a.md").count("\n---\n") == len(wanted) + len(wanted) - 1
        shown = run("show", *base, "--text", wanted[0][0]).stdout_bytes
        assert shown.decode() == wanted[0][2] + "\n"


def _picked(row: dict[str, str]) -> tuple[str, str, str, str]:
    return row["url"], row["title"], row["text"], row["language"]


def _read(path: Path) -> str:
    return path.read_bytes().decode()


def _lines(path: Path) -> list[dict[str, str]]:
    # As the least careful reader does it: every line end of Unicode counts.
    return [json.loads(line) for line in _read(path).splitlines()]


def _block(title: str, text: str) -> str:
    line = " ".join(title.split())
    return f"{line}\n{text}" if line else text


def _wet(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [
            (
                record.rec_headers.get_header("WARC-Target-URI"),
                record.content_stream().read().decode(),
            )
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "conversion"
        ]


def _texts(directory: Path) -> dict[str, str]:
    entries = map(json.loads, _read(directory / "index.jsonl").splitlines())
    return {entry["url"]: _read(directory / entry["file"]) for entry in entries}


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_markdown_shows_the_words_and_obeys_none(title: str, text: str) -> None:
    page = Document("https://a.test/", 1, "a.test", "2027-01-15T08:00:00Z", title, "en", text)
    _, front, body = as_markdown(page).split("---\n", 2)
    facts = dict(line.split(": ", 1) for line in front.splitlines())
    assert json.loads(facts["url"]) == page.url
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(body)
    kinds = {token.type for token in tokens}
    assert kinds <= {"heading_open", "inline", "heading_close", "paragraph_open", "paragraph_close"}
    children = [child for token in tokens for child in token.children or []]
    assert {child.type for child in children} <= {"text", "text_special"}
    shown = "".join("".join(c.content for c in token.children or []) + "\n" for token in tokens)
    assert _words(shown) == _words(f"{title}\n{text}")


def _words(text: str) -> list[str]:
    """Control characters and the mark of byte order do not show: they are space here."""
    seen = "".join(" " if char < " " or char in "\x7f\ufeff" else char for char in text)
    return seen.split()
