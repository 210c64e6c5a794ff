"""The figures of stores that were written by hand."""

import datetime as dt
import json
import math
import statistics
from pathlib import Path

import pytest

from mannerly.errors import NoCrawlError
from mannerly.model import Outcome
from mannerly.observe.operations import OperationsFile
from mannerly.observe.tally import Tally
from mannerly.reporting import queries
from mannerly.reporting.document import document
from mannerly.reporting.figures import Figures
from mannerly.reporting.gathering import gather, step_for
from mannerly.timing import Timings
from tests.unit.audit.diary import Diary
from tests.unit.reading.crawled import fetch_of, fill, page_of

NOW = dt.datetime(2027, 1, 15, 9, tzinfo=dt.UTC)
START_AT = 1_800_000_000.0


def gathered(*data_dirs: Path) -> Figures:
    return gather(data_dirs, NOW)


def test_an_empty_store_has_figures(tmp_path: Path) -> None:
    fill(tmp_path)
    figures = gathered(tmp_path)
    assert figures.totals.urls == 0
    assert figures.totals.span_s == 0
    assert figures.size_bytes.p50 is None
    assert figures.gaps.histogram == []
    json.dumps(document(figures), allow_nan=False)


def test_where_there_is_no_store_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoCrawlError):
        gathered(tmp_path / "none")


def test_quantiles_and_histograms_are_exact(tmp_path: Path) -> None:
    sizes = [1000, 1000, 999, 10**6, *range(2000, 2096)]
    fill(tmp_path, *(page_of(f"https://a.example/{n}", body_bytes=size)
                     for n, size in enumerate(sizes)))  # fmt: skip
    figures = gathered(tmp_path)
    ranked = sorted(sizes)
    found = figures.size_bytes
    assert (found.p50, found.p90, found.p99) == (ranked[49], ranked[89], ranked[98])
    assert found.mean == pytest.approx(statistics.mean(sizes))
    assert found.most == 10**6
    edges = {row.bin: row.rows for row in figures.sizes}
    assert sum(edges.values()) == 100
    assert edges[24] == 2, "a power of ten begins a bin"
    assert edges[23] == 1
    assert edges[48] == 1
    assert [math.isclose(queries.BYTES.edge(n), 10.0 ** (n / 8)) for n in (23, 48)] == [True, True]


def test_several_stores_and_a_journal_are_read_as_one(tmp_path: Path) -> None:
    fill(tmp_path / "one", page_of("https://a.example/1"), writer=1)
    running = fill(tmp_path / "two", page_of("https://b.example/1"), writer=2, close=False)
    figures = gathered(tmp_path / "one", tmp_path / "two", tmp_path / "one")
    assert (figures.totals.pages, figures.totals.sites) == (2, 2)
    assert figures.running is False
    running.close()


def test_rates_go_by_steps_from_the_first_url(tmp_path: Path) -> None:
    times = [0.0, 0.5, 1.0, 3.99, 3.0, 9.5]
    pages = [page_of(f"https://a{n}.example/", fetched_at=START_AT + at_s)
             for n, at_s in enumerate(times)]  # fmt: skip
    fill(tmp_path, *pages, fetches=(
        fetch_of("https://a0.example/x", outcome="http_error", status=404, fetched_at=START_AT + 9),
    ))  # fmt: skip
    figures = gathered(tmp_path)
    assert figures.step_s == 1
    assert [(row.step, row.fetched, row.others) for row in figures.rates] == [
        (0, 2, 0), (1, 1, 0), (3, 2, 0), (9, 1, 1),
    ]  # fmt: skip
    assert [(row.step, row.sites) for row in figures.new_sites] == [(0, 2), (1, 1), (3, 2), (9, 1)]


@pytest.mark.parametrize("span_s", [0, 1, 119, 120, 3600, 86_400, 10 * 86_400, 3e9])
def test_there_are_enough_steps_and_not_too_many(span_s: float) -> None:
    steps = span_s / step_for(span_s)
    assert steps < 120
    assert steps > 29 or span_s < 120


def test_failures_come_with_words_and_examples(tmp_path: Path) -> None:
    fetches = [fetch_of(f"https://a.example/{n}", outcome="http_error", status=404 if n else 500)
               for n in range(9)]  # fmt: skip
    fetches.append(fetch_of("https://b.example/", outcome="tls_failed", status=0, detail="no TLS"))
    fetches.append(fetch_of("https://b.example/no", outcome="disallowed", status=0))
    fill(tmp_path, fetches=tuple(fetches))
    rows = gathered(tmp_path).failures
    assert [(row.outcome, row.status, row.urls) for row in rows] == [
        ("http_error", 404, 8), ("http_error", 500, 1), ("tls_failed", 0, 1),
    ]  # fmt: skip
    assert len(set(rows[0].examples)) == queries.EXAMPLES
    assert rows[2].detail == "no TLS"
    assert rows[2].examples == ["https://b.example/"]


def test_gaps_are_those_of_the_audit(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.robots(0, "https://a.example")
    for at_s in (1, 73, 145, 1000, 1010):
        diary.page(at_s, "https://a.example/x", visit=at_s)
    audit = diary.judge()
    gaps = gathered(tmp_path).gaps
    assert gaps.visits == audit.visits
    assert gaps.gaps == sum(audit.histogram.values())
    assert gaps.too_soon == audit.counts["too soon"] == 1
    assert gaps.smallest_margin_s == audit.smallest_margin_s
    assert sum(row.rows for row in gaps.histogram if row.bin < 0) == 1
    assert sum(row.rows for row in gaps.histogram) == gaps.gaps


def test_cost_is_what_files_and_processes_say(tmp_path: Path) -> None:
    fill(tmp_path, page_of("https://a.example/"))
    tally = Tally(0.0)
    tally.settled[Outcome.FETCHED] = 4
    for writer, counted in ((1, tally), (2, Tally(0.0))):
        with OperationsFile(tmp_path, writer, "host:1", Timings(), counted):
            pass
    (tmp_path / "frontier.db").write_bytes(bytes(1000))
    (tmp_path / "frontier.db-wal").write_bytes(bytes(500))
    costs = gathered(tmp_path).costs
    assert costs.cpu_pages == 4
    assert costs.cpu_s > 0
    assert costs.disk_bytes["frontier.db"] == 1500
    pages = sum(path.stat().st_size for path in (tmp_path / "pages").iterdir())
    assert costs.disk_bytes["pages"] == pages > 0
