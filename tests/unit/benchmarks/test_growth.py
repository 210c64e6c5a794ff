"""The benchmarks of growth in small: that they run, and that windows hold what they say."""

import json
import subprocess
import sys
import zlib
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.crawl.latency import compared
from benchmarks.growth.__main__ import windows_of
from benchmarks.growth.filled import State
from benchmarks.growth.watching import Sample, window
from benchmarks.web import endless

FOLDERS = 4


def told(module: str, *words: str) -> Any:
    command = [sys.executable, "-m", module, "--folders", str(FOLDERS), *words]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def sample(pages: int, cpu_s: float, **more: Any) -> Sample:
    return Sample(pages=pages, fetched=pages, cpu_s=cpu_s, scaled_s=cpu_s / 2, **more)


def test_a_window_is_what_was_spent_between_its_samples() -> None:
    samples = [
        sample(0, 5.0),
        sample(90, 6.0, urls=2_000, settled=90, written_bytes=10, stages_s={"parse": 1.0}),
        sample(110, 6.1, urls=2_400, settled=110, rss_bytes=2**20, stages_s={"parse": 1.02}),
        sample(
            *(210, 6.2),
            urls=4_400,
            settled=211,
            rss_bytes=2**21,
            written_bytes=10 + 120 * 4_096,
            stages_s={"parse": 1.12},
        ),
        sample(900, 99.0),
    ]
    found: Any = window(samples, 100, 200)
    assert (found["from_pages"], found["to_pages"]) == (90, 210)
    assert (found["cpu_ms_per_page"], found["scaled_cpu_ms_per_page"]) == (1.667, 0.833)
    assert (found["new_urls_per_page"], found["urls_pending"]) == (20.0, 4_189)
    assert found["scaled_stages_ms_per_page"]["parse"] == 0.5
    assert (found["rss_mb"], found["written_kb_per_page"]) == (1.0, 4.0)


def test_a_window_that_the_crawl_did_not_fill_ends_with_it() -> None:
    found: Any = window([sample(10, 1.0), sample(30, 1.1)], 10, 1_000)
    assert (found["to_pages"], found["cpu_ms_per_page"]) == (30, 5.0)


def test_windows_follow_each_other_to_the_end() -> None:
    found = windows_of(1_000_000)
    assert found[0] == (5_000, 15_000)
    assert found[-1] == (900_000, 1_000_000)
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_a_state_is_read_as_it_is_written() -> None:
    assert State.parsed("1Mx50") == State(1_000_000, 50)
    assert State.parsed("10kx50") == State(10_000, 50)


def test_crawls_of_one_round_are_compared() -> None:
    def crawl(cost: float) -> dict[str, object]:
        return {"cpu_ms_per_page": cost, "scaled_cpu_ms_per_page": cost * 2}

    rounds = [[crawl(0.9), crawl(1.0)], [crawl(1.8), crawl(2.4)], [crawl(1.0), crawl(0.5)]]
    found = compared(rounds, 1)
    assert (found["ratio"], found["ratios"]) == (0.9, [0.9, 0.75, 2.0])
    assert found["scaled_ratio"] == 0.9


def test_no_two_files_name_the_same_new_pages() -> None:
    fresh = [
        href for key in range(100) for href in endless.hrefs(key, 50) if href.startswith("/section")
    ]
    assert len(set(fresh)) == len(fresh) == 100 * endless.FRESH


def test_whatever_is_asked_for_there_is_a_page_and_always_the_same(tmp_path: Path) -> None:
    place = endless.written(3, tmp_path / "webs", FOLDERS)
    for latency_s in (0.0, 0.01):
        with endless.served(place, tmp_path / "nginx", latency_s=latency_s) as serving:

            def asked(host: str, target: str, address: str = serving.address) -> tuple[int, bytes]:
                connection = HTTPConnection(address)
                connection.request("GET", target, headers={"Host": host})
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                return answer.status, body

            pages = {asked(f"{n}.test", f"/{n}?a={n}") for n in range(40)}
            assert {status for status, _ in pages} == {200}
            assert len(pages) > FOLDERS
            assert all(zlib.decompress(body, 31).startswith(b"<!DOCTYPE") for _, body in pages)
            assert asked("a.test", "/b") == asked("a.test", "/b")
            robots = {asked(f"{n}.test", "/robots.txt") for n in range(40)}
            assert {status for status, _ in robots} == {200, 404}


def test_a_small_crawl_is_told_in_windows_and_by_turns(tmp_path: Path) -> None:
    words = ["--pages", "400", "--sites", "20", "--turn", "200", "--rounds", "1"]
    found = told("benchmarks.growth", *words, "--webs", str(tmp_path))
    assert found["pages"] == 400
    assert found["new_urls_per_page"] > 1
    assert found["windows"][-1]["to_pages"] == 400
    assert found["windows"][-1]["cpu_ms_per_page"] > 0
    (small,), (large,) = found["small"], found["large"]
    assert (small["begun_with_pages"], large["begun_with_pages"]) == (40, 400)
    assert small["to_pages"] == large["to_pages"] == 200
    assert found["growths"] == [found["growth"]]


def test_states_are_filled_kept_and_gone_on_with(tmp_path: Path) -> None:
    words = ["--small", "10x30", "--states", "100x5,100x20", "--turn", "800", "--rounds", "1"]
    places = ["--webs", str(tmp_path / "webs"), "--kept", str(tmp_path / "states")]
    found = told("benchmarks.growth.preloaded", *words, *places)["states"]
    for it, urls in zip(found, (500, 2_000), strict=True):
        (large,) = it["large"]
        # The page that a crawl begins with links to a few.
        assert urls <= large["begun_with_pending"] < urls + 100
        assert (large["to_pages"], large["sites"]) == (800, 100)
        assert large["peak_rss_mb"] >= large["peak_anon_mb"] > 0
        assert it["bytes_per_url"] > 76
    first, second = (it["small"][0]["begun_with_pending"] for it in found)
    assert first == second
