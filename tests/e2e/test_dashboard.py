"""The dashboard of a real crawl in a real browser, and what others get of it."""

import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.programs import QUICK, arguments, start
from tests.services.small_web import HARM, SITES, TEXT, small_web

PATIENCE_S = 60.0
expect.set_options(timeout=1000 * PATIENCE_S)


@dataclass(frozen=True, slots=True)
class Board:
    """A crawl that runs, and where its dashboard is."""

    port: int
    token: str
    crawl: "subprocess.Popen[str]"
    told: list[str]
    """What it said on standard error, up to the address."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(
        self, path: str, body: object = None, *, host: str = "", **headers: str
    ) -> tuple[int, str]:
        """GET, or with a body POST."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        sent = {"Host": host or f"127.0.0.1:{self.port}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        text = None if body is None else json.dumps(body)
        if text is not None:
            sent["Content-Type"] = "application/json"
        with closing(connection):
            connection.request("GET" if text is None else "POST", path, text, sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def steer(self, what: str, **body: object) -> tuple[int, str]:
        return self.ask(f"/api/{what}", body, Authorization=f"Bearer {self.token}")

    def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ask("/api/snapshot")[1])
        return found

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while not holds(now := self.snapshot()):
            assert time.monotonic() < deadline, now
            time.sleep(0.1)
        return now


def begin(directory: Path, address: str, *more: str) -> Board:
    seeds = directory / "seeds.txt"
    seeds.write_text("".join(f"http://site{number}.test/\n" for number in range(SITES)))
    crawl = start(
        "crawl", *arguments(QUICK), "--delay", "1s", "--data-dir", str(directory / "data"),
        "--seed-file", str(seeds), "--connect-to", address, "--dashboard", "127.0.0.1:0", *more,
    )  # fmt: skip
    assert crawl.stderr is not None
    told = []
    for line in crawl.stderr:
        told.append(line)
        found = re.search(r"dashboard: http://127.0.0.1:(\d+)/\?token=(\S+)", line)
        if found:
            return Board(int(found[1]), found[2], crawl, told)
    pytest.fail("".join(told))


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    with small_web() as address:
        board = begin(tmp_path_factory.mktemp("dashboard"), address)
        board.until(lambda now: now["pages"] > 20)
        yield board
        board.crawl.terminate()
        board.crawl.communicate(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "Debian's package chromium is needed: make services"
    with sync_playwright() as playwright:
        # Its own sandbox needs rights that tests in a container do not have.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser says on its console."""
    return []


@pytest.fixture
def page(browser: Browser, board: Board, complaints: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.on("console", lambda it: complaints.append(it.text))
    page.on("pageerror", lambda it: complaints.append(str(it)))
    page.goto(f"{board.url}?token={board.token}")
    yield page
    context.close()


def test_figures_charts_and_lists_are_alive(page: Page, complaints: list[str]) -> None:
    expect(page.locator("#state")).to_have_text("crawling")
    path = page.locator("#chart-rate path.a")
    expect(path).to_have_attribute("d", re.compile("^M.*L"))
    before = path.get_attribute("d")
    expect(path).not_to_have_attribute("d", before or "")
    expect(page.locator("#limit-word")).not_to_have_text("not known yet")
    expect(page.locator("#failure-list summary").first).to_be_visible()
    page.locator("#failure-list summary", has_text="http error").click()
    expect(page.locator("#failure-list details[open] a").first).to_be_visible()
    assert "token" not in page.url, "it is not left where others may read it"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints == []


def test_markup_of_crawled_pages_is_only_text(page: Page, complaints: list[str]) -> None:
    expect(page.locator("#page-list .title").first).to_contain_text(HARM)
    expect(page.locator("#page-list .preview").first).to_contain_text(TEXT)
    assert page.locator("#page-list script, #page-list img").count() == 0
    assert page.evaluate("window.harmed") is None
    assert complaints == []


def test_the_table_of_sites_pages_sorts_and_finds(page: Page) -> None:
    rows = page.locator("#site-rows tr")
    page.get_by_role("button", name="Site", exact=True).click()
    expect(page.locator("#site-rows th").first).to_have_text("site0.test")
    expect(rows).to_have_count(20)
    page.locator("#site-next").click()
    expect(page.locator("#site-page")).to_have_text("page 2")
    expect(page.locator("#site-rows th").first).not_to_have_text("site0.test")
    page.locator("#site-begins").fill("site59")
    page.locator("#site-begins").press("Enter")
    expect(rows).to_have_count(1)
    expect(page.locator("#site-page")).to_have_text("page 1")
    expect(page.locator("#site-next")).to_be_disabled()
    expect(rows.first).to_contain_text("has rules")


def test_a_person_pauses_goes_on_and_changes_the_workers(page: Page, board: Board) -> None:
    page.locator("#pause").click()
    expect(page.locator("#state")).to_have_text("paused")
    visits = board.until(lambda now: now["paused"] and not now["in_flight"])["visits"]
    expect(page.locator("#limit-word")).to_have_text("paused")
    page.locator("#workers").fill("7")
    page.locator("#workers-form button").focus()
    clock = page.locator("#clock").text_content()
    expect(page.locator("#clock")).not_to_have_text(clock or "")
    page.locator("#workers-form button").click()
    expect(page.locator("#control-answer")).to_have_text("7 visits at once")
    assert board.until(lambda now: now["workers"] == 7)["visits"] == visits, "none while paused"
    page.locator("#go-on").click()
    expect(page.locator("#state")).to_have_text("crawling")
    board.until(lambda now: now["visits"] > visits)
    assert board.steer("workers", workers=500)[0] == 200


def test_a_person_excludes_a_site_and_adds_one(page: Page, board: Board) -> None:
    page.locator("#domain").fill("https://www.site3.test/x")
    page.locator("#domain").press("Enter")
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#control-answer")).to_have_text("site3.test is left alone from now on")
    page.locator("#seeds").fill("brand-new.test\nnot a url at all\n")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#control-answer")).to_contain_text("1 new")
    board.until(lambda now: now["counts"]["sites_excluded"] == 1)
    (site,) = json.loads(board.ask("/api/sites?search=site3.&sort=name")[1])["sites"]
    assert site["state"] == "excluded"
    (site,) = json.loads(board.ask("/api/sites?search=brand-new")[1])["sites"]
    assert site["state"] in {"ready", "leased", "resting"}


def test_without_the_token_nothing_is_steered(browser: Browser, board: Board) -> None:
    page = browser.new_page()
    page.goto(board.url)
    expect(page.locator("#state")).to_have_text("crawling")
    expect(page.locator("#levers")).to_be_hidden()
    page.locator("#token").fill("a guess of somebody's")
    page.locator("#token").press("Enter")
    page.locator("#pause").click()
    expect(page.locator("#control-answer")).to_contain_text("the token of this run is needed")
    expect(page.locator("#levers")).to_be_hidden()
    page.close()
    assert board.snapshot()["paused"] is False


@pytest.mark.parametrize("what", ["pause", "go-on", "stop", "workers", "exclude", "seeds"])
def test_no_control_without_token_or_from_another_site(board: Board, what: str) -> None:
    token = f"Bearer {board.token}"
    path = f"/api/{what}"
    assert board.ask(path, {})[0] == 401
    assert board.ask(f"{path}?token={board.token}", {})[0] == 401
    assert board.ask(path, {}, Authorization=token, Origin="http://evil.test")[0] == 403
    assert board.ask(path, {}, Authorization=token, Sec_Fetch_Site="cross-site")[0] == 403
    assert board.ask(path, {}, Authorization=token, host="evil.test")[0] == 421
    assert board.ask(path, Authorization=token)[0] == 405
    now = board.snapshot()
    assert (now["paused"], now["ending"]) == (False, "")


def test_nonsense_is_refused_with_a_reason(board: Board) -> None:
    assert board.steer("workers", workers="many") == (
        422,
        '{"error": "a number of workers is needed"}',
    )
    assert board.steer("workers", workers=0)[0] == 422
    assert "is not a domain" in board.steer("exclude", domain="no domain!")[1]
    assert board.steer("seeds", seeds=" \n")[0] == 422
    assert "not a single seed" in board.steer("seeds", seeds="::::")[1]
    assert board.ask("/api/nothing")[0] == 404
    assert board.ask("/../etc/passwd")[0] == 404


def test_metrics_and_health(board: Board) -> None:
    promtool = shutil.which("promtool")
    assert promtool, "Debian's package prometheus is needed: make services"
    status, text = board.ask("/metrics")
    assert status == 200
    subprocess.run([promtool, "check", "metrics"], input=text, text=True, check=True)
    fetched = re.search(
        r'^mannerly_urls_settled_total\{outcome="fetched"\} (\d+)', text, re.MULTILINE
    )
    assert fetched
    assert int(fetched[1]) > 20
    assert "site3" not in text, "no label names a site"
    assert board.ask("/healthz") == (200, "ok\n")
    assert board.ask("/readyz") == (200, "ready\n")


def test_explain_and_search(page: Page) -> None:
    page.locator("#explain-url").fill("http://site1.test/private0")
    page.locator("#explain-url").press("Enter")
    expect(page.locator("#explain-answer")).to_contain_text("Disallow: /private")
    page.locator("#search-words").fill("gardening")
    page.locator("#search-words").press("Enter")
    expect(page.locator("#search-answer .title").first).to_contain_text(HARM)
    assert page.evaluate("window.harmed") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, board: Board, scheme: Any) -> None:
    context = browser.new_context(viewport={"width": 500, "height": 900}, color_scheme=scheme)
    # Its own script is not of the page, whose policy would refuse it.
    axe = Axe()
    page = context.new_page()
    page.goto(f"{board.url}?token={board.token}")
    expect(page.locator("#site-rows th").first).to_be_visible()
    expect(page.locator("#page-list .title").first).to_be_visible()
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_the_page_sees_the_end(page: Page, tmp_path: Path) -> None:
    with small_web() as address:
        board = begin(tmp_path, address)
        board.until(lambda now: now["pages"] > 5)
        page.goto(f"{board.url}?token={board.token}")
        expect(page.locator("#state")).to_have_text("crawling")
        page.locator("#stop").click()
        page.get_by_role("button", name="Yes").click()
        expect(page.locator("#state")).to_have_text("ended")
        expect(page.locator("#limit-because")).to_have_text("stopped from the dashboard.")
        expect(page.locator("#pause, #stop, #seeds, #explain-url, #site-begins")).to_have_count(5)
        expect(page.locator("button:not(dialog *):enabled, textarea:enabled")).to_have_count(0)
        out, err = board.crawl.communicate(timeout=30)
    assert board.crawl.returncode == 0, err
    assert out.startswith("\nstopped from the dashboard\n")


def test_an_address_that_is_taken_does_not_fail_the_crawl(board: Board, tmp_path: Path) -> None:
    with small_web() as address:
        place = ("--dashboard", f"127.0.0.1:{board.port}", "--max-pages", "5")
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("http://one.test/\n")
        crawl = start(
            "crawl", *arguments(QUICK), "--data-dir", str(tmp_path / "data"), "--seed-file",
            str(seeds), "--connect-to", address, *place,
        )  # fmt: skip
        _, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, err
    assert "no dashboard: cannot listen on 127.0.0.1" in err


def test_several_processes_are_shown_and_steered_as_one(tmp_path: Path) -> None:
    with small_web() as address:
        board = begin(tmp_path, address, "--processes", "2")
        board.until(lambda now: now["processes"] == 2 and now["pages"] > 10)
        assert board.steer("pause")[0] == 200
        paused = board.until(lambda now: now["paused"] and now["in_flight"] == 0)
        # Each process tells how it is once a second.
        still = board.until(lambda now: now["at"] > paused["at"] + 2.5)
        later = board.until(lambda now: now["at"] > still["at"] + 2.5)
        assert later["page_requests"] == still["page_requests"]
        assert board.steer("workers", workers=5)[0] == 200
        board.until(lambda now: now["workers"] == 5)
        assert board.steer("go-on")[0] == 200
        board.until(lambda now: now["page_requests"] > later["page_requests"])
        assert board.steer("stop")[0] == 200
        _, err = board.crawl.communicate(timeout=30)
        assert board.crawl.returncode == 0, err
