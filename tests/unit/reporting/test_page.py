"""The page: whole, without anything from elsewhere, and deaf to what the web wrote."""

import datetime as dt
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mannerly.reporting.gathering import gather
from mannerly.reporting.markup import element, link, text
from mannerly.reporting.page import page
from mannerly.reporting.plots import Bar, Block, Mark, Series, Told, bars, histogram, lines
from mannerly.reporting.scales import (
    bytes_text,
    powers_between,
    round_step,
    seconds_text,
    short,
    ticks_to,
)
from tests.unit.reading.crawled import fetch_of, fill, page_of, run, run_well

NOW = dt.datetime(2027, 1, 15, 9, tzinfo=dt.UTC)
HARM = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>\"&\x00\u202e"
SVG = "{http://www.w3.org/2000/svg}"
TOLD = Told("name", "A title", "A description.")


class Tags(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


def report_of(directory: Path, text: str) -> str:
    """Of a crawl with `text` wherever a crawl has words of the web's."""
    fill(
        directory,
        page_of("https://a.example/", title=text, text=text, language=text, content_type=text),
        page_of("https://a.example/2", fetched_at=1_800_000_060.0),
        fetches=(
            fetch_of(f"https://a.example/{text}", outcome="http_error", status=404, detail=text,
                     content_type=text, fetched_at=1_800_000_030.0),
            fetch_of("https://a.example/3", outcome="broken", status=0, detail=text)._replace(
                url=f"javascript:{text}", site=text),
        ),
    )  # fmt: skip
    return page(gather([directory], NOW))


def test_what_the_web_wrote_is_never_markup(tmp_path: Path) -> None:
    harmless = Tags(report_of(tmp_path / "plain", "harmless"))
    document = report_of(tmp_path / "harm", HARM)
    harmed = Tags(document)
    assert harmed.names == harmless.names
    assert {name for name, _ in harmed.attributes} == {name for name, _ in harmless.attributes}
    assert "script" not in harmed.names
    assert "\x00" not in document
    assert "\u202e" not in document
    assert document.count("&lt;script&gt;") > 5
    links = [value for name, value in harmed.attributes if name == "href"]
    assert all((value or "").startswith(("#", "https://a.example/")) for value in links)


def test_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    document = report_of(tmp_path, "harmless")
    tags = Tags(document)
    assert not {"script", "img", "link", "iframe", "object", "embed"} & set(tags.names)
    assert not {"src", "style", "onclick", "onload"} & {name for name, _ in tags.attributes}
    assert "url(" not in document
    assert "default-src &#x27;none&#x27;" in document
    identifiers = [value for name, value in tags.attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))


def test_a_crawl_without_anything_has_a_page(tmp_path: Path) -> None:
    fill(tmp_path)
    assert "nothing to tell" in page(gather([tmp_path], NOW))


def test_it_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("report", "--data-dir", "none")
    assert "no store" in str(refused.exception)
    fill(tmp_path / "data", page_of("https://a.example/"))
    refused = run("report", "--data-dir", "data", "--output", "none/report.html")
    assert "cannot write" in str(refused.exception)
    assert list(tmp_path.rglob("*report*")) == []
    assert run_well("report", "--data-dir", "data") == ""
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads(run_well("report", "--data-dir", "data", "--json"))["totals"]["pages"] == 1


def drawings() -> list[str]:
    marks = [Mark(20, "median"), Mark(900, "a label that has no room on the right")]
    return [
        lines(TOLD, [Series("one", [(0, 0), (5, 3)]), Series("two", [])], 5, "minutes", "pages"),
        lines(TOLD, [Series("", [(0, 0), (1, 0)])], 1, "minutes", "pages"),
        histogram(TOLD, [Block(1, 10, 5), Block(100, 1000, 7)], marks, (1, 1000),
                  powers_between(1, 1000, short), "bytes", "pages"),
        bars(TOLD, [Bar("<b>", 3, "3"), Bar("a very long name of something or other", 0, "0")]),
    ]  # fmt: skip


@pytest.mark.parametrize("drawing", drawings())
def test_a_plot_is_a_document_that_tells_what_it_shows(drawing: str) -> None:
    root = ET.fromstring(drawing)
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == "A title"
    assert root.findtext(f"{SVG}desc") == "A description."
    named = (root.get("aria-labelledby") or "").split()
    assert named == [child.get("id") for child in root if child.get("id")]
    wide, tall = map(float, (root.get("viewBox") or "").split()[2:])
    for part in root.iter():
        for name, most in (("x", wide), ("x1", wide), ("x2", wide), ("y", tall), ("y1", tall)):
            assert 0 <= float(part.get(name, 0)) <= most, ET.tostring(part)
        assert part.get("fill") or part.get("stroke") or part in (root, root[0], root[1])


def test_bars_are_as_long_as_their_numbers() -> None:
    root = ET.fromstring(bars(TOLD, [Bar("a", 10, "10"), Bar("b", 5, "5")]))
    first, second = (float(it.get("width", 0)) for it in root.iter(f"{SVG}rect"))
    assert first == pytest.approx(2 * second, abs=0.2)


def test_blocks_stand_where_their_numbers_are() -> None:
    drawn = histogram(TOLD, [Block(1, 10, 5), Block(10, 100, 10)], [], (1, 100),
                      powers_between(1, 100, short), "x", "y")  # fmt: skip
    low, high = ET.fromstring(drawn).iter(f"{SVG}rect")
    assert float(high.get("height", 0)) == pytest.approx(2 * float(low.get("height", 0)), abs=0.2)
    assert float(high.get("x", 0)) > float(low.get("x", 0)) + float(low.get("width", 0))


def test_axes_have_round_numbers() -> None:
    assert [tick.label for tick in ticks_to(187, short)] == ["0", "50", "100", "150", "200"]
    assert [tick.label for tick in ticks_to(0.37, short)][-1] == "0.4"
    assert [tick.at for tick in ticks_to(0, short)] == [0, 1.0]
    assert round_step(21) == 50
    assert [tick.label for tick in powers_between(1500, 250_000, bytes_text)] == [
        "2 kB", "5 kB", "10 kB", "20 kB", "50 kB", "100 kB", "200 kB",
    ]  # fmt: skip
    assert [tick.at for tick in powers_between(1, 1024, short, 2)][:3] == [1, 4, 16]


def test_figures_in_words() -> None:
    assert [bytes_text(n) for n in (0, 999, 1000, 1_500_000, 2e12)] == [
        "0 B", "999 B", "1 kB", "1.5 MB", "2 TB",
    ]  # fmt: skip
    assert [seconds_text(s) for s in (0.0123, 1, 90, 300, 7200, 86_400, 250_000)] == [
        "12.3 ms", "1 s", "90 s", "5 min", "2 h", "24 h", "2.89 d",
    ]  # fmt: skip


def test_text_is_text() -> None:
    assert text("a\u00a0b\n<") == "a\u00a0b\n&lt;"
    assert element("a", {"title": '"><b>', "hidden": None}, "<", element("b")) == (
        '<a title="&quot;&gt;&lt;b&gt;">&lt;<b></b></a>'
    )
    assert link("javascript:alert(1)") == "javascript:alert(1)"
    assert re.fullmatch(r'<a href="https://a.example/" rel="[a-z ]+">x</a>',
                        link("https://a.example/", "x"))  # fmt: skip
