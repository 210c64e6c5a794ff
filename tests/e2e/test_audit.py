"""`mannerly audit` on real crawls: killed and resumed, running, and with records tampered with."""

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from mannerly.simweb import judge
from mannerly.simweb.access import AccessRecord
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.crash.test_kill import kill_at_some_moment
from tests.programs import QUICK, arguments, mannerly, served, start

KILLS = 3
DELAY_S = 0.3


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[AccessRecord]]:
    """A crawl that was killed a few times and came to its end; and what the server saw."""
    directory = tmp_path_factory.mktemp("audited")
    data = directory / "data"
    chance = random.Random(4)
    spec = preset("mixed", seed=12, sites=30, pages_mean=6.0, pages_max=20, body_mean=3000,
                  traps=False, latency_s=0.02)  # fmt: skip
    with served(directory, spec) as web:
        seeds = web.write_seeds(directory / "seeds.txt")
        options = {**QUICK, "--delay": f"{DELAY_S}s", "--checkpoint-interval": "200ms",
                   "--crawl-delay-ceiling": "1s", "--visit-timeout": "2s", "--max-tries": "2",
                   "--max-failures": "2"}  # fmt: skip
        words = ["crawl", "--data-dir", str(data), "--connect-to", web.address, *arguments(options)]
        for _ in range(KILLS):
            exists = (data / "journal").exists()
            running = start(*words, *(["--resume"] if exists else ["--seed-file", str(seeds)]))
            kill_at_some_moment(running, chance, data)
            looked = mannerly("audit", "--data-dir", str(data))
            assert looked.returncode == 0, looked.stdout
        done = mannerly(*words, "--resume")
        assert done.returncode == 0, done.stderr
        return data, web.records()


def audited(data: Path, *words: str) -> tuple[int, dict[str, object]]:
    done = mannerly("audit", "--data-dir", str(data), "--json", *words)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_crawl_that_was_killed_and_resumed_is_clean(
    crawled: tuple[Path, list[AccessRecord]],
) -> None:
    data, records = crawled
    code, report = audited(data)
    assert (code, report["counts"], report["violations"]) == (0, {}, [])
    assert report["runs"] in (KILLS, KILLS + 1)
    assert report["clocks"] == 1
    # The server's log says the same, and what is on record is what the server saw: all of it but
    # what was not durable when the crawler was killed.
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.too_soon(visits, DELAY_S, from_start=True) == []
    with open_store(data) as store:
        noted = store.execute("SELECT url FROM requests WHERE failure <> 'interrupted'").fetchall()
        unsettled = store.execute("SELECT count(*) FROM requests WHERE NOT settled").fetchall()[0]
    seen = [record.url for record in records]
    assert {url for (url,) in noted} <= set(seen)
    assert 0.7 * len(seen) <= len(noted) <= len(seen)
    assert report["requests"] == len(noted)
    assert unsettled[0] < 0.2 * len(noted)


def moved(data: Path, target: Path) -> str:
    """A copy in which a page was sent a moment after the one before it; its site."""
    shutil.copytree(data, target)
    with open_store(target) as store:
        site, url, sent_us, gap_us = store.execute(
            "SELECT site, url, epoch_us(sent_at), "
            "epoch_us(sent_at) - epoch_us(lag(ended_at) OVER w) FROM requests "
            "WINDOW w AS (PARTITION BY site ORDER BY sent_at) QUALIFY kind = 'page' "
            "AND lag(kind) OVER w = 'page' AND lag(settled) OVER w ORDER BY site, sent_at LIMIT 1"
        ).fetchall()[0]
    for path in (target / "requests").glob("*.parquet"):
        table = pq.read_table(path)
        at_us = table["sent_at"].cast(pa.int64())
        hit = pc.and_(pc.equal(table["url"], url), pc.equal(at_us, sent_us))
        earlier = pc.subtract(table["sent_at"], pa.scalar(gap_us - 100_000, pa.duration("us")))
        column = pc.if_else(hit, earlier, table["sent_at"]).cast(table.schema.field("sent_at").type)
        index = table.schema.get_field_index("sent_at")
        pq.write_table(table.set_column(index, table.schema.field(index), column), path)
    return str(site)


def test_a_record_that_was_moved_is_found(
    crawled: tuple[Path, list[AccessRecord]], tmp_path: Path
) -> None:
    target = tmp_path / "data"
    site = moved(crawled[0], target)
    code, report = audited(target)
    assert code == 1
    assert report["counts"] == {"too soon": 1}
    done = mannerly("audit", "--data-dir", str(target), "--site", site)
    assert done.returncode == 1
    assert "too soon" in done.stdout
    assert f"{site} (visit" in done.stdout


def test_every_request_can_be_listed(crawled: tuple[Path, list[AccessRecord]]) -> None:
    done = mannerly("audit", "--data-dir", str(crawled[0]), "--list", "--json")
    assert done.returncode == 0
    *requests, report = map(json.loads, done.stdout.splitlines())
    assert len(requests) == report["requests"]
    assert {request["kind"] for request in requests} == {"robots", "page"}
    text = mannerly("audit", "--data-dir", str(crawled[0]), "--list").stdout
    assert "no violations" in text
    assert " s due (delay), robots.txt " in text


def test_what_cannot_be_judged_is_said_so(
    crawled: tuple[Path, list[AccessRecord]], tmp_path: Path
) -> None:
    nowhere = mannerly("audit", "--data-dir", str(tmp_path / "nowhere"))
    assert nowhere.returncode == 2
    assert "no store" in nowhere.stderr
    unknown = mannerly("audit", "--data-dir", str(crawled[0]), "--site", "nobody.example")
    assert unknown.returncode == 2
    assert "nobody.example" in unknown.stderr
