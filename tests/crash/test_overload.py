"""When the crawler is the slow one: stopped, or with more to do than it can. Real processes."""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mannerly.store.read import open_store
from tests.external.playing import Asking, Host, Players, listening, port_of
from tests.programs import QUICK, arguments, mannerly, start

pytestmark = pytest.mark.alone

SITES = 30
UNFORGIVING = {**QUICK, "--visit-timeout": "3s", "--connect-timeout": "3s", "--max-tries": "1",
               "--max-failures": "1"}  # fmt: skip
"""A single failure that counts against anybody is final."""
STOPPED_S = 5.0


def crawling(
    directory: Path, port: int, sites: int, options: dict[str, str]
) -> "subprocess.Popen[str]":
    seeds = directory / "seeds.txt"
    seeds.write_text("".join(f"http://site-{number}.test/\n" for number in range(sites)))
    return start(
        "crawl", "--seed-file", str(seeds), "--data-dir", str(directory / "data"),
        "--connect-to", f"127.0.0.1:{port}", *arguments(options),
    )  # fmt: skip


def status(directory: Path) -> dict[str, Any]:
    done = mannerly("status", "--json", "--data-dir", str(directory / "data"))
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("stopped_at", ["/robots.txt", "/"])
def test_nobody_is_blamed_for_a_crawler_that_was_stopped(tmp_path: Path, stopped_at: str) -> None:
    """The answers come while it is stopped, and its time is up when it goes on."""
    waiting = threading.Semaphore(0)
    stopped = threading.Event()

    def hold(asking: Asking) -> None:
        waiting.release()
        assert stopped.wait(60)
        asking.answer(200, b"", "Content-Type: text/plain")

    with listening() as listener:
        Players({f"site-{n}.test": Host({stopped_at: hold}) for n in range(SITES)}, [listener])
        running = crawling(tmp_path, port_of(listener), SITES, UNFORGIVING)
        try:
            for _ in range(SITES):
                assert waiting.acquire(timeout=60)
            running.send_signal(signal.SIGSTOP)
            stopped.set()
            time.sleep(STOPPED_S)  # what the test is about
            running.send_signal(signal.SIGCONT)
            out, err = running.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                running.kill()
    assert running.returncode == 0, err
    looked = status(tmp_path)
    assert looked["settled"] == {"fetched": SITES}
    assert looked["sites_abandoned"] == 0
    assert looked["refused"] == 0
    (process,) = looked["processes"]
    assert process["strain"]["excused"]["timed_out"] > SITES / 2
    assert "nobody was blamed" in out
    with open_store(tmp_path / "data") as store:
        assert store.execute("SELECT DISTINCT tries FROM fetches").fetchall() == [(1,)]


def test_a_site_that_does_not_answer_is_blamed_where_we_are_not_late(tmp_path: Path) -> None:
    with listening() as listener:
        Players({"site-0.test": Host({"/": Asking.silence})}, [listener])
        running = crawling(tmp_path, port_of(listener), 1, UNFORGIVING)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert status(tmp_path)["settled"] == {"timed_out": 1}


WORKERS = 20
HEAVY = b"<div><p>word <a href='#here'>some words</a></p></div>" * 20_000
NEXT = b"<html><body><a href='/%d'>the next page</a> of a site without end"


class Endless(Host):
    """Pages without end, heavy ones until it is told otherwise."""

    def __init__(self, light: threading.Event) -> None:
        super().__init__()
        self._light = light

    def play(self, asking: Asking) -> None:
        if asking.path == "/robots.txt":
            asking.answer(404)
            return
        body = NEXT % (int(asking.path[1:] or 0) + 1)
        if self._light.is_set():
            time.sleep(1.0)  # a site that takes its time, and so little of ours
        else:
            body += HEAVY
        asking.answer(200, body, "Content-Type: text/html")


def test_a_crawler_that_lags_does_less_at_once_until_it_does_not(tmp_path: Path) -> None:
    """Pages that take long to parse come at the same moment; after them only light ones."""
    light = threading.Event()
    with listening() as listener:
        Players({f"site-{n}.test": Endless(light) for n in range(2 * WORKERS)}, [listener])
        options = {**QUICK, "--max-workers": str(WORKERS), "--visit-timeout": "8s"}
        running = crawling(tmp_path, port_of(listener), 2 * WORKERS, options)
        try:
            least = until_limit(tmp_path, running, lambda limit: limit < WORKERS)
            light.set()
            until_limit(tmp_path, running, lambda limit: limit == WORKERS)
        finally:
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert least >= 8
    assert status(tmp_path)["settled"].keys() == {"fetched"}


def until_limit(
    directory: Path, running: "subprocess.Popen[str]", fits: Callable[[int], bool]
) -> int:
    """The first limit that fits, of those the process writes of itself."""
    give_up_at = time.monotonic() + 60
    while time.monotonic() < give_up_at:
        assert running.poll() is None, running.communicate()
        for path in (directory / "data" / "operations").glob("*.json"):
            limit: int = json.loads(path.read_text())["strain"]["visit_limit"]
            if fits(limit):
                return limit
        time.sleep(0.05)
    raise AssertionError("the limit never came")
