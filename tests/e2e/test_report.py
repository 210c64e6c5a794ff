"""`mannerly report` on a real crawl: its figures are those of `mannerly query`, and its page opens
in a real browser that is offline."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

from tests.programs import QUICK, arguments, mannerly
from tests.services.small_web import HARM, small_web

SITES = 20
PAGES = 300
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has come to its limit."""
    directory = tmp_path_factory.mktemp("report")
    seeds = directory / "seeds.txt"
    seeds.write_text("".join(f"http://site{number}.test/\n" for number in range(SITES)))
    with small_web() as address:
        done = mannerly(
            "crawl", *arguments(QUICK), "--seed-file", str(seeds), "--connect-to", address,
            "--data-dir", str(directory / "data"), "--max-pages", str(PAGES),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return directory / "data"


@pytest.fixture(scope="module")
def told(data: Path) -> dict[str, Any]:
    done = mannerly("report", "--data-dir", str(data), "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture(scope="module")
def page(data: Path) -> Path:
    path = data.parent / "report.html"
    done = mannerly("report", "--data-dir", str(data), "--output", str(path))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return path


def asked(data: Path, sql: str) -> dict[str, Any]:
    done = mannerly("query", "--data-dir", str(data), "--format", "json", sql)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert isinstance(row, dict)
    return row


def in_order(rows: object) -> list[str]:
    assert isinstance(rows, list)
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def test_every_query_that_is_told_gives_the_figures_that_are_told(
    data: Path, told: dict[str, Any]
) -> None:
    queries = told["queries"]
    assert len(queries) > 15
    parts = [f'(SELECT list(t) FROM ({sql}) t) AS "{name}"' for name, sql in queries.items()]
    answers = asked(data, f"SELECT {', '.join(parts)}")
    for name, rows in answers.items():
        figures = told[name] if isinstance(told[name], list) else [told[name]]
        assert figures, name
        assert in_order(rows) == in_order(figures), name


def test_figures_are_what_somebody_else_would_count(data: Path, told: dict[str, Any]) -> None:
    found = asked(data, """
        SELECT (SELECT count(*) FROM pages) AS pages, count(*) AS urls,
            count(DISTINCT site) AS sites, sum((outcome = 'fetched')::INT)::INT AS fetched,
            sum((status >= 400)::INT)::INT AS failures,
            sum((outcome = 'disallowed')::INT)::INT AS disallowed,
            sum(wire_bytes)::INT AS wire_bytes,
            (SELECT count(*) FROM requests) AS requests,
            (SELECT quantile_disc(body_bytes, 0.9) FROM pages) AS p90
        FROM fetches""")  # fmt: skip
    assert told["size_bytes"]["p90"] == found.pop("p90")
    assert {name: told["totals"][name] for name in found} == found
    assert found["fetched"] == PAGES
    assert found["failures"] > 0
    assert found["disallowed"] > 0
    assert sum(row["fetched"] for row in told["rates"]) == PAGES
    assert sum(row["others"] for row in told["rates"]) == found["urls"] - PAGES
    assert sum(row["sites"] for row in told["new_sites"]) == found["sites"] == SITES
    assert sum(row["rows"] for row in told["sizes"]) == found["pages"]


def test_gaps_are_what_the_audit_says_and_cost_is_what_was_used(
    data: Path, told: dict[str, Any]
) -> None:
    audit = json.loads(mannerly("audit", "--data-dir", str(data), "--json").stdout)
    gaps = told["gaps"]
    assert gaps["visits"] == audit["visits"]
    assert gaps["gaps"] == sum(audit["histogram"].values()) > 0
    assert gaps["smallest_margin_s"] == audit["smallest_margin_s"]
    assert gaps["too_soon"] == 0
    assert told["costs"]["cpu_pages"] == PAGES
    assert 0.1 < told["costs"]["cpu_s"] < 100
    assert told["running"] is False


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "Debian's package chromium is needed: make services"
    with sync_playwright() as playwright:
        # Its own sandbox needs rights that tests in a container do not have.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 420)])
def test_the_page_opens_offline_and_axe_finds_nothing(
    browser: Browser, page: Path, scheme: Any, width: int
) -> None:
    assert page.stat().st_size < MOST_BYTES
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda it: said.append(it.text))
    opened.on("pageerror", lambda it: said.append(str(it)))
    opened.on("request", lambda it: said.append(it.url))
    opened.goto(page.as_uri())
    assert opened.locator("svg").count() > 10
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Closed, their contents would not be looked at.
    opened.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    found = Axe().run(opened)
    assert found.violations_count == 0, found.generate_report()
    assert HARM.split(" ")[0] in (opened.locator("main").text_content() or "")
    assert opened.evaluate("window.harmed") is None
    assert said == [page.as_uri()]
    context.close()
