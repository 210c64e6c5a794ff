"""`mannerly explain`: the first line answers, for every URL that anybody may ask about."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mannerly.config import load
from mannerly.explaining import Explanation, explain
from mannerly.frontier.contract import Kind
from mannerly.model import SiteState
from mannerly.opening import existing_crawl
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from tests.programs import QUICK, arguments, mannerly, served, start

SPEC = preset("mixed", seed=4, sites=60, pages_mean=8.0, pages_max=30, stalling_sites=0.0,
              closing_sites=0.0, stalled_pages=0.0, slow_latency_s=0.2)  # fmt: skip


@dataclass(frozen=True)
class Crawled:
    data: Path
    excluded: str

    def ask(self, url: str) -> Explanation:
        return asyncio.run(explain(load({"data_dir": str(self.data)}, environ={}), url))

    def explain(self, url: str) -> list[str]:
        return str(self.ask(url)).splitlines()

    def rows(self, sql: str) -> list[tuple[str, ...]]:
        with open_store(self.data) as store:
            rows: list[tuple[str, ...]] = store.execute(sql).fetchall()
        return rows

    def pending(self) -> str:
        """A URL that waits, of a site that is open."""
        return asyncio.run(self._pending())

    async def _pending(self) -> str:
        config = load({"data_dir": str(self.data)}, environ={})
        async with existing_crawl(config) as (frontier, _):
            for it in (await frontier.iterate(Kind.PENDING)).urls:
                site = (await frontier.explain(it.site, it.hash)).site
                if it.queued is not None and site is not None and site.state is SiteState.OPEN:
                    return it.queued.url
        raise AssertionError("nothing waits")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl of a mixed web that was stopped half-way, with an exclusion list."""
    directory = tmp_path_factory.mktemp("explain")
    with served(directory, SPEC) as web:
        seeds = web.write_seeds(directory / "seeds.txt")
        excluded = web.web.home(2).split("://")[1].rstrip("/").removeprefix("www.")
        rules = directory / "excluded.txt"
        rules.write_text(f"{excluded}\n")
        done = mannerly(
            "crawl", *arguments(QUICK), "--seed-file", str(seeds), "--data-dir",
            str(directory / "data"), "--connect-to", web.address, "--exclude-file", str(rules),
            "--scope", "seeded-sites", "--max-pages", "150", "--max-path-segments", "12",
            "--strip-parameters", "ours,utm_*",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield Crawled(directory / "data", excluded)


def test_a_stored_page(crawled: Crawled) -> None:
    ((url, title),) = crawled.rows("SELECT url, title FROM pages WHERE depth > 0 LIMIT 1")
    answer, *reasons = crawled.explain(url)
    assert answer.startswith("It was crawled on ")
    assert "its page is stored" in answer
    assert title in answer
    assert any(reason.strip().startswith("robots.txt") or "no robots.txt" in reason
               for reason in reasons)  # fmt: skip
    assert any("It was named first by http" in reason for reason in reasons)
    document = crawled.ask(url).document
    assert (document["state"], document["outcome"]) == ("settled", "fetched")
    stored = document["page"]
    assert isinstance(stored, dict)
    assert stored["url"] == url


def test_what_robots_txt_forbids_with_the_line_that_does(crawled: Crawled) -> None:
    found = crawled.rows("SELECT url, detail FROM fetches WHERE outcome = 'disallowed' LIMIT 1")
    ((url, detail),) = found
    answer, *reasons = crawled.explain(url)
    assert answer.startswith("It was not crawled: robots.txt forbids it (robots.txt line ")
    assert detail in answer
    line = detail.split("line ")[1].split(":")[0]
    assert any(f"forbids it, by line {line}: " in reason for reason in reasons)
    robots = crawled.ask(url).document["robots"]
    assert isinstance(robots, dict)
    assert robots["text"].lower().startswith("disallow")


def test_a_redirect_and_where_it_leads(crawled: Crawled) -> None:
    ((url, target),) = crawled.rows(
        "SELECT a.url, a.redirect_to FROM fetches a JOIN fetches b ON a.redirect_to = b.url "
        "WHERE a.outcome = 'redirected' LIMIT 1"
    )
    answer = crawled.explain(url)[0]
    assert answer.startswith("It has no page of its own")
    assert f"it redirects to {target} (status 3" in answer
    assert any(f"{url} redirects to it" in line for line in crawled.explain(target))


def test_what_failed(crawled: Crawled) -> None:
    ((url, status),) = crawled.rows(
        "SELECT url, status FROM fetches WHERE outcome = 'http_error' LIMIT 1"
    )
    answer = crawled.explain(url)[0]
    assert f"the server answered with an error {status}" in answer


def test_what_waits(crawled: Crawled) -> None:
    answer, *reasons = crawled.explain(crawled.pending())
    assert answer.startswith("It is not crawled yet: ")
    assert "`mannerly crawl --resume`" in answer
    assert any("may be visited again in" in it or "has been ready" in it for it in reasons)


def test_it_goes_by_the_rules_of_the_crawl(crawled: Crawled) -> None:
    """What this crawl strips is stripped, and its limits are told, not the usual ones."""
    ((url,),) = crawled.rows("SELECT url FROM pages WHERE url NOT LIKE '%?%' LIMIT 1")
    answer, *reasons = crawled.explain(f"{url}?ours=1&utm_source=x")
    assert answer.startswith("It was crawled on ")
    assert f"  Its canonical form is {url}." in reasons
    answer = crawled.explain(f"{url.rstrip('/')}/a/b/c/d/e/f/g/h/i/j/k/l/m")[0]
    assert "it looks like a trap (more than 12 path segments)" in answer


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("mailto:somebody@example.org", "is not a web address"),
        ("https://", "is not a web address"),
        ("https://never-heard-of.example/x", "it is out of scope: never-heard-of.example is not"),
    ],
)
def test_what_nobody_has_met(crawled: Crawled, url: str, because: str) -> None:
    assert because in crawled.explain(url)[0]


def test_the_exclusion_list_names_its_rule(crawled: Crawled) -> None:
    answer = crawled.explain(f"https://www.{crawled.excluded}/any")[0]
    assert answer == f"It was not crawled: the exclusion list says no ({crawled.excluded})."


def test_a_trap_and_a_page_that_nobody_named(crawled: Crawled) -> None:
    ((url,),) = crawled.rows("SELECT url FROM pages LIMIT 1")
    start_of = url.split("/", 3)
    origin = "/".join(start_of[:3])
    assert "it looks like a trap (path segment 'a'" in crawled.explain(origin + "/a" * 9)[0]
    assert "nobody has named it so far" in crawled.explain(f"{origin}/nobody-links-here")[0]


def test_a_frontier_that_cannot_be_read_leaves_a_gap_not_a_failure(
    crawled: Crawled, tmp_path: Path
) -> None:
    ((url,),) = crawled.rows("SELECT url FROM pages LIMIT 1")
    broken = tmp_path / "frontier.db"
    broken.write_bytes(b"this is no database" * 100)
    done = mannerly(
        "explain", "--data-dir", str(crawled.data), "--db-url", f"sqlite:///{broken}", url
    )
    assert done.returncode == 0, done.stderr
    answer, *reasons = done.stdout.splitlines()
    assert answer.startswith("It was crawled on ")
    assert any("The frontier could not be asked" in reason for reason in reasons)


def test_no_crawl_at_all(tmp_path: Path) -> None:
    done = mannerly("explain", "--data-dir", str(tmp_path), "https://example.org/")
    assert done.returncode == 2
    assert "there is no crawl" in done.stderr


def test_while_the_crawl_runs(tmp_path: Path) -> None:
    """The site that is being visited has a holder, and nothing of the crawl is disturbed."""
    spec = preset("plain", seed=11, sites=3, pages_mean=60.0, pages_tail=5.0)
    with served(tmp_path, spec) as web:
        data = tmp_path / "data"
        crawl = start(
            "crawl", *arguments(QUICK), "--delay", "300ms", "--data-dir", str(data),
            "--seed-file", str(web.write_seeds(tmp_path / "seeds.txt")),
            "--connect-to", web.address,
        )  # fmt: skip
        try:
            home = web.web.home(0)
            here = Crawled(data, "")
            holders: set[str] = set()
            while not holders:
                assert crawl.poll() is None
                done = mannerly("explain", "--json", "--data-dir", str(data), home)
                if done.returncode:
                    continue
                frontier = json.loads(done.stdout)["frontier"]
                holders = {frontier["site"]["holder"]} - {""} if frontier else set()
            (holder,) = holders
            assert holder.endswith(f":{crawl.pid}")
            assert here.ask(home).document["running"] is True
        finally:
            crawl.terminate()
            _, err = crawl.communicate(timeout=20)
        assert crawl.returncode == 0, err
        assert "database is locked" not in err
