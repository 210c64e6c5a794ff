"""The latest pages and the examples of failures: bounded, and only of what counts."""

from mannerly.observe.recent import PREVIEW_CHARACTERS, Recent
from mannerly.observe.snapshot import KEPT_EXAMPLES, KEPT_PAGES
from tests.unit.store.store_records import fetch, page


def test_the_newest_pages_come_first_and_are_cut_to_size() -> None:
    recent = Recent()
    text = "  long \n text " * 100_000
    recent.note([], [page(number, text=text) for number in range(200)])
    recent.note([], [page(500, title=" <script>\n1 ")])
    pages = recent.pages()
    assert len(pages) == KEPT_PAGES
    assert pages[0].title == "<script> 1"
    assert [it.url for it in pages[1:3]] == ["https://site.test/199", "https://site.test/198"]
    assert len(pages[1].preview) <= PREVIEW_CHARACTERS
    assert pages[1].preview.startswith("long text long")


def test_failures_are_kept_by_kind() -> None:
    recent = Recent()
    fetches = [fetch(n, outcome="timed_out", status=0, detail=f"n{n}") for n in range(20)]
    fetches += [fetch(50, outcome="http_error", status=404), fetch(51, outcome="redirected")]
    recent.note([*fetches, fetch(1)], [])
    examples = recent.examples()
    assert set(examples) == {"timed_out", "http_error"}
    assert [it.detail for it in examples["timed_out"]] == [
        f"n{n}" for n in range(19, 19 - KEPT_EXAMPLES, -1)
    ]
    assert recent.statuses == {"4xx": 1, "2xx": 2}
    assert recent.durations.count == 23


def test_what_was_refused_does_not_count() -> None:
    recent = Recent()
    recent.note([fetch(1, token=5), fetch(2, token=6)], [page(1, token=5), page(2, token=6)], {5})
    assert [it.url for it in recent.pages()] == ["https://site.test/2"]
    assert recent.statuses == {"2xx": 1}
