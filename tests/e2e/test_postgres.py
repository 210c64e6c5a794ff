"""A crawl whose frontier is in PostgreSQL, and whose server goes away in the middle of it."""

import time
from pathlib import Path

from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import QUICK, arguments, mannerly, served, start
from tests.services.postgres import PostgresServer

SPEC = preset("plain", seed=9, sites=120, pages_mean=15.0, pages_tail=4.0, body_mean=6000)
DELAY_S = 0.2


def test_a_restart_of_the_server_costs_a_pause_and_a_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with PostgresServer() as server, served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        crawl = start(
            "crawl", *arguments(QUICK), "--delay", f"{DELAY_S}s", "--data-dir", str(data),
            "--seed-file", str(seeds), "--connect-to", web.address, "--db-url", server.url,
        )  # fmt: skip
        for at in (100, 300):
            wait_until(web.log, at)
            server.stop(immediate=True)
            time.sleep(1.5)  # it is away for a while: the time that this test is about
            server.start()
        out, err = crawl.communicate(timeout=120)
        assert crawl.returncode == 0, err
        status = mannerly("status", "--data-dir", str(data), "--db-url", server.url)
        records = web.records()
    assert "finished: nothing is left to do" in out
    lines = [line for line in err.splitlines() if line.strip()]
    paused = [line for line in lines if "the crawl is paused" in line]
    assert 1 <= len(paused) <= 2, err
    assert len(lines) <= 2 * len(paused) + 1, err
    assert "finished" in status.stdout
    expected = reachable(web.web, web.homes())
    asked = [record.url for record in records if record.path != "/robots.txt"]
    assert set(asked) == expected
    assert judge.too_soon(judge.visits(records, SiteKey().site_of), DELAY_S) == []
    with open_store(data) as store:
        stored = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    assert sorted(stored) == sorted(pages_among(web.web, expected))


def wait_until(log: Path, requests: int) -> None:
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_bytes().count(b"\n") < requests:
        assert time.monotonic() < deadline
        time.sleep(0.05)
