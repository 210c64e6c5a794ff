"""`import mannerly`: a crawl as an iterator, and reading it back, over a real simulated web."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mannerly
from mannerly.api import feed
from mannerly.errors import ConfigError, ExtractError, SettingsDifferError, UsageError
from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from tests.programs import MANNERLY, Served, environment, served
from tests.programs import mannerly as command

SPEC = preset("plain", seed=6, sites=25, pages_mean=6.0, pages_max=25, body_mean=6000,
              latency_s=0.01)  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs" / "python-api.md"
DEADLINE_S = 60.0


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, SPEC) as web:
        yield web


def options(web: Served, tmp_path: Path, **more: object) -> dict[str, Any]:
    return {
        "contact": "test@example.org", "data_dir": tmp_path / "data", "delay": 0.05,
        "connect_to": web.address, "checkpoint_interval": "100ms", **more,
    }  # fmt: skip


async def test_every_page_is_given_once_and_stored_with_what_was_extracted(
    web: Served, tmp_path: Path
) -> None:
    def facts(response: mannerly.Response) -> dict[str, object]:
        assert response.html.encode() == response.content
        return {"status": response.status, "type": response.headers["content-type"]}

    crawl = mannerly.crawl(web.homes(), extract=facts, **options(web, tmp_path))
    pages = [page async for page in crawl]
    assert crawl.ended_because.startswith("finished")
    expected = pages_among(web.web, reachable(web.web, web.homes()))
    assert sorted(page.url for page in pages) == sorted(expected)
    wanted = {"status": 200, "type": "text/html; charset=utf-8"}
    assert all(page.extracted == wanted for page in pages)
    with mannerly.open(tmp_path / "data") as data:
        assert sorted(data.pages(), key=lambda it: it.url) == sorted(pages, key=lambda it: it.url)
        assert data.stats().fetched == len(reachable(web.web, web.homes()))
        assert data.check().problems == []
        assert data.settings()["email"] == "test@example.org"
        assert data.explain(pages[0].url).answer.startswith("It was crawled on ")
        some = list(data.pages("site = ? AND fetched_at IS NOT NULL", [pages[0].site]))
        assert {page.url for page in some} == {p.url for p in pages if p.site == pages[0].site}
        with pytest.raises(UsageError, match="Parser Error"):
            data.query("SELEKT")
        found = data.show(pages[0].url)
        assert found is not None
        assert found.pages[0]["title"] == pages[0].title
        assert found.extracts
        word = max(pages[0].text.split(), key=len)
        assert pages[0].url in [hit.url for hit in data.search(word, limit=10_000).best]
        one = mannerly.Selection(sites=(pages[0].site,))
        done = data.export(tmp_path / "pages.jsonl", selection=one)
        assert done.pages == len(some) == len((tmp_path / "pages.jsonl").read_text().splitlines())
        with pytest.raises(UsageError, match="neither 'main' nor 'all'"):
            data.export(tmp_path / "pages.md", text="some")
        assert data.query("SELECT count(*) AS n FROM sites")[0]["n"] >= 20


async def test_pages_have_what_the_parser_found(web: Served, tmp_path: Path) -> None:
    more = {"keep": "main-text", "max_pages": 20}
    pages = [page async for page in mannerly.crawl(web.homes(), **options(web, tmp_path, **more))]
    with mannerly.open(tmp_path / "data") as data:
        stored = {page.url: page for page in data.pages()}
    assert all(stored[page.url] == page for page in pages)
    assert any(page.headings for page in pages)
    assert all(isinstance(it, mannerly.Heading) for page in pages for it in page.headings)
    assert all(page.main_text for page in pages if page.text)


async def test_break_stops_it_cleanly_and_the_next_loop_goes_on(
    web: Served, tmp_path: Path
) -> None:
    first = []
    async for page in mannerly.crawl(web.homes(), **options(web, tmp_path)):
        first.append(page)
        if len(first) == 10:
            break
    async with mannerly.crawl(**options(web, tmp_path, contact="")) as crawl:
        rest = [page async for page in crawl]
    assert crawl.ended_because.startswith("finished")
    with mannerly.open(tmp_path / "data") as data:
        stored = [page.url for page in data.pages()]
        stats = data.stats()
    assert (stats.writers, stats.refused, stats.urls_pending) == (0, 0, 0)
    expected = pages_among(web.web, reachable(web.web, web.homes()))
    assert sorted(stored) == sorted(expected)
    given = [page.url for page in first + rest]
    assert len(given) == len(set(given))  # at most once; the rest was settled and not yet taken
    assert judge.fetched_twice(web.records()) == []


async def test_a_slow_consumer_holds_the_crawl_back(
    web: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "HELD_PAGES", 10)
    expected = pages_among(web.web, reachable(web.web, web.homes()))
    async with mannerly.crawl(
        web.homes(), **options(web, tmp_path, max_workers=5, delay="10ms")
    ) as crawl:
        given = [(await anext(crawl)).url]
        stored = await asyncio.to_thread(pages_when_they_stop, tmp_path / "data")
        # What the bound allows, and what was in flight or on its way to the disk.
        assert stored < 80 < len(expected)
        given += [page.url async for page in crawl]
    assert sorted(given) == sorted(expected)


def pages_when_they_stop(data_dir: Path) -> int:
    """How many pages there are when no more have come for a second."""
    deadline = time.monotonic() + DEADLINE_S
    count, since = -1, time.monotonic()
    while time.monotonic() - since < 1.0:
        assert time.monotonic() < deadline
        now = mannerly.open(data_dir).stats().fetched
        if now != count:
            count, since = now, time.monotonic()
    return count


async def test_an_extraction_that_fails_loses_nothing(web: Served, tmp_path: Path) -> None:
    seen = []

    def fragile(response: mannerly.Response) -> None:
        seen.append(response.url)
        if len(seen) == 20:
            raise ZeroDivisionError("a mistake of the user's")

    with pytest.raises(ExtractError, match="a mistake of the user's") as failed:
        async for _ in mannerly.crawl(web.homes(), extract=fragile, **options(web, tmp_path)):
            pass
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    tripped = seen[19]
    data = mannerly.open(tmp_path / "data")
    assert list(data.pages("url = ?", [tripped])) == []
    assert data.explain(tripped).document["state"] == "pending"
    assert data.stats().writers == 0
    assert [page async for page in mannerly.crawl(**options(web, tmp_path))]
    assert sorted(p.url for p in data.pages()) == sorted(
        pages_among(web.web, reachable(web.web, web.homes()))
    )


async def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no option 'dealy'; is delay meant"):
        mannerly.crawl(["example.org"], contact="a@example.org", dealy=3)
    with pytest.raises(ConfigError, match="--delay: 'soon' does not fit"):
        mannerly.crawl(["example.org"], contact="a@example.org", delay="soon")
    with pytest.raises(ConfigError, match=r'contact="you@example\.org"'):
        await anext(mannerly.crawl(["example.org"], data_dir=tmp_path / "a"))
    with pytest.raises(ConfigError, match="seeds are needed"):
        await anext(mannerly.crawl(contact="a@example.org", data_dir=tmp_path / "a"))
    with pytest.raises(UsageError, match="there is no store"):
        mannerly.open(tmp_path / "b")


async def test_settings_that_differ_are_refused(web: Served, tmp_path: Path) -> None:
    async with mannerly.crawl(web.homes(), **options(web, tmp_path)) as crawl:
        await anext(crawl)
    with pytest.raises(SettingsDifferError, match="--delay is"):
        await anext(mannerly.crawl(**options(web, tmp_path, delay="3s")))


def test_a_program_that_ends_with_its_crawl_in_a_variable_ends_it_cleanly(
    web: Served, tmp_path: Path
) -> None:
    program = (
        "import asyncio, sys, mannerly\n"
        "crawl = mannerly.crawl(sys.argv[3:], contact='a@example.org', data_dir=sys.argv[1],\n"
        "                       connect_to=sys.argv[2], delay='50ms')\n"
        "async def one():\n"
        "    print((await anext(crawl)).url)\n"
        "asyncio.run(one())\n"
    )
    data = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-c", program, str(data), web.address, *web.homes()],
        capture_output=True, text=True, timeout=60, check=False, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert mannerly.open(data).stats().writers == 0
    assert not list(data.glob("journal/*/*.seg"))


def test_the_examples_in_the_docs_run(tmp_path: Path) -> None:
    """As they stand, one after the other, against the web that the page says to start."""
    text = DOCS.read_text(encoding="utf-8")
    commands = re.findall(r"^mannerly simweb (.*)$", text, re.MULTILINE)
    serve, seeds = commands
    words = serve.replace("--port 8000", "--port 0").split()
    made = command("simweb", *seeds.split(" > ")[0].split())
    (tmp_path / "seeds.txt").write_text(made.stdout)
    server = subprocess.Popen(
        [*MANNERLY, "simweb", *words], stdout=subprocess.PIPE, text=True, env=environment()
    )
    with server:
        try:
            assert server.stdout is not None
            address = next(line for line in server.stdout if "ready on" in line).split()[3]
            for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
                script = tmp_path / f"example{number}.py"
                script.write_text(code.replace("127.0.0.1:8000", address))
                done = subprocess.run(
                    [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True,
                    text=True, timeout=60, check=False, env=environment(),
                )  # fmt: skip
                assert (done.returncode, done.stderr) == (0, ""), script.name
                assert done.stdout.count("\n") >= 5, script.name
            assert number == 2
        finally:
            server.terminate()
