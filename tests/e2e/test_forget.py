"""`mannerly forget`: nothing of a site is left, nothing of the others is touched, whatever is
killed in between."""

import asyncio
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mannerly.api import open_data
from mannerly.checking import check
from mannerly.config import load
from mannerly.datadir import held
from mannerly.forgetting import forget
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from tests.programs import QUICK, Served, arguments, environment, mannerly, served

SPEC = preset("plain", seed=7, sites=12, pages_mean=8.0, pages_max=30)
OFTEN = ["--segment-age", "300ms", "--checkpoint-interval", "100ms"]
ALL = "SELECT url FROM fetches UNION ALL SELECT url FROM pages"


@dataclass(frozen=True)
class Crawled:
    data: Path
    web: Served
    site: str
    """Has many pages."""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    directory = tmp_path_factory.mktemp("forget")
    data = directory / "data"
    with served(directory, SPEC) as web:
        done = mannerly(
            "crawl", *arguments(QUICK), *OFTEN, "--data-dir", str(data), "--max-pages", "70",
            "--seed-file", str(web.write_seeds(directory / "seeds.txt")),
            "--connect-to", web.address,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        ((site,),) = rows(data, "SELECT site FROM pages GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
        yield Crawled(data, web, site)


@pytest.fixture
def crawled(pristine: Crawled, tmp_path: Path) -> Crawled:
    return Crawled(
        Path(shutil.copytree(pristine.data, tmp_path / "data")), pristine.web, pristine.site
    )


def rows(data: Path, sql: str) -> list[tuple[str, ...]]:
    with open_store(data) as store:
        found: list[tuple[str, ...]] = store.execute(sql).fetchall()
    return found


def of(data: Path, site: str) -> int:
    return len(rows(data, f"SELECT url FROM ({ALL}) WHERE url LIKE '%{site}/%'"))


def others(data: Path, site: str) -> list[tuple[str, ...]]:
    return sorted(
        rows(data, f"SELECT url, title, text, fetched_at FROM pages WHERE site != '{site}'")
    )


def is_whole(data: Path) -> bool:
    report = asyncio.run(check(load({"data_dir": str(data)}, environ={})))
    assert report.findings == [], report
    return report.compared


def test_a_site_is_gone_and_stays_away(crawled: Crawled) -> None:
    data, site = crawled.data, crawled.site
    fetches = rows(data, f"SELECT url_hash FROM fetches WHERE site = '{site}' ORDER BY 1")
    before, stats = others(data, site), open_data(data).stats()
    assert of(data, site) > 10
    done = mannerly("forget", "--data-dir", str(data), f"https://www.{site}/any")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"forgotten: {site}\n")
    assert of(data, site) == 0
    assert others(data, site) == before
    for path in data.rglob("*"):  # not a trace in any file but the receipt and the exclusion
        if path.is_file() and path.suffix == ".parquet":
            assert site.encode() not in path.read_bytes(), path
    after = open_data(data).stats()
    assert after.fetched < stats.fetched
    assert (after.sites_excluded, after.urls_excluded) == (1, 0)
    assert (
        open_data(data)
        .explain(f"https://{site}/")
        .answer.endswith(f"its site {site} is excluded from this crawl.")
    )
    assert is_whole(data)
    (path,) = (data / "forgotten").iterdir()
    receipt = json.loads(path.read_text())
    assert (receipt["site"], receipt["rows"]["fetches"]) == (site, len(fetches))
    lines = "".join(f"{hash_}\n" for (hash_,) in fetches)
    assert receipt["urls_digest"] == hashlib.sha256(lines.encode()).hexdigest()
    assert receipt["settled"] == len(fetches)
    assert receipt["done"] > receipt["begun"]

    asked = len(crawled.web.log.read_text().splitlines())
    resumed = mannerly("crawl", "--resume", "--data-dir", str(data), "--progress", "off",
                       "--connect-to", crawled.web.address, "--max-pages", "1000")  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert not [it for it in crawled.web.log.read_text().splitlines()[asked:] if site in it]
    assert of(data, site) == 0
    again = json.loads(mannerly("forget", "--json", "--data-dir", str(data), site).stdout)
    assert (again["rows"], again["waiting"], again["settled"]) == ({}, 0, 0)


KILLED = """
import asyncio, os, signal, sys
from mannerly.config import load
from mannerly.forgetting import forget
from mannerly.forgetting import forgetter
from mannerly.frontier.sqlite import SqliteFrontier
from mannerly.store.disk import Disk

where, number = sys.argv[3].split(":")
left = [int(number)]

def killing(function, before):
    def call(*arguments, **more):
        left[0] -= 1
        if before and left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **more)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

match where:
    case "receipt":
        forgetter.write = killing(forgetter.write, False)
    case "before-rename":
        Disk.rename = killing(Disk.rename, True)
    case "after-rename":
        Disk.rename = killing(Disk.rename, False)
    case "frontier":
        SqliteFrontier.forget = killing(SqliteFrontier.forget, True)
asyncio.run(forget(load({"data_dir": sys.argv[1]}, environ={}), sys.argv[2]))
"""


@pytest.mark.parametrize(
    "step",
    ["receipt:1", "before-rename:1", "after-rename:1", "after-rename:2", "after-rename:3",
     "frontier:1", "receipt:2"],
)  # fmt: skip
def test_killed_in_the_middle_it_is_finished_by_running_it_again(
    crawled: Crawled, step: str
) -> None:
    data, site = crawled.data, crawled.site
    ((fetches,),) = rows(data, f"SELECT count(*) FROM fetches WHERE site = '{site}'")
    before = others(data, site)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(data), site, step],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    assert others(data, site) == before  # readable at any time, and nothing else is touched
    asyncio.run(forget(load({"data_dir": str(data)}, environ={}), site))
    assert of(data, site) == 0
    assert others(data, site) == before
    assert not [*data.glob("*/.*.tmp")]
    assert is_whole(data)
    receipts = [json.loads(path.read_text()) for path in (data / "forgotten").glob("*.json")]
    assert all(it["done"] for it in receipts)
    assert sum(it["settled"] for it in receipts) == fetches


def test_not_while_a_crawl_runs(crawled: Crawled, tmp_path: Path) -> None:
    with held(crawled.data):
        done = mannerly("forget", "--data-dir", str(crawled.data), crawled.site)
    assert done.returncode == 2
    assert "another crawler is running" in done.stderr
    assert of(crawled.data, crawled.site) > 10
    assert open_data(crawled.data).stats().sites_excluded == 0
    assert mannerly("forget", "--data-dir", str(tmp_path / "no"), "a.example").returncode == 2
