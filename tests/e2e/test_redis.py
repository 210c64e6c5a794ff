"""A crawl whose frontier is in Redis: the server is killed in its middle, and then the crawler."""

import signal
import time
from pathlib import Path
from urllib.parse import urlsplit

from mannerly.simweb import judge, pages_among
from mannerly.simweb.reach import reachable
from mannerly.simweb.spec import preset
from mannerly.store.read import open_store
from mannerly.url import SiteKey
from tests.programs import QUICK, arguments, mannerly, served, start
from tests.services.redis import RedisServer

SPEC = preset("plain", seed=9, sites=60, pages_mean=10.0, pages_max=16, body_mean=6000)
DELAY_S = 0.15


def test_kills_of_server_and_crawler_change_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RedisServer() as server, served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        place = ["--data-dir", str(data), "--db-url", server.url]
        options = {**QUICK, "--delay": f"{DELAY_S}s", "--checkpoint-interval": "200ms"}
        words = ["crawl", *arguments(options), "--connect-to", web.address, *place]
        crawl = start(*words, "--seed-file", str(seeds))
        wait_until(web.log, 100)
        server.kill()
        time.sleep(1)  # it is away for a while: the time that this test is about
        server.start()
        wait_until(web.log, 250)
        crawl.send_signal(signal.SIGKILL)
        _, err = crawl.communicate(timeout=20)
        assert err.count("the crawl is paused") == 1, err
        out, err = start(*words, "--resume").communicate(timeout=120)
        assert "finished: nothing is left to do" in out, err
        status = mannerly("status", *place)
        explained = mannerly("explain", web.homes()[0], *place)
        site = site_of(web.homes()[0])
        excluded = mannerly("exclude", site, *place)
        forgotten = mannerly("forget", site, *place)
        records = web.records()
    assert "finished" in status.stdout
    assert "fetched" in explained.stdout, explained
    assert (excluded.returncode, forgotten.returncode) == (0, 0), (excluded, forgotten)
    expected = reachable(web.web, web.homes())
    assert {record.url for record in records if record.path != "/robots.txt"} == expected
    visits = judge.visits(records, SiteKey().site_of)
    assert judge.too_soon(visits, DELAY_S, from_start=True) == []
    with open_store(data) as store:
        stored = [url for (url,) in store.execute("SELECT url FROM pages").fetchall()]
    left = [it for it in pages_among(web.web, expected) if site_of(it) != site]
    assert sorted(stored) == sorted(left)


def site_of(url: str) -> str:
    return SiteKey().site_of(urlsplit(url).hostname or "")


def wait_until(log: Path, requests: int) -> None:
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_bytes().count(b"\n") < requests:
        assert time.monotonic() < deadline
        time.sleep(0.05)
