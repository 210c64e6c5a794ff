"""A site says no while the crawl runs: from then on the server sees nothing of us."""

import json
import time
from pathlib import Path

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served, start

SPEC = preset("plain", seed=11, sites=12, pages_mean=30.0, pages_tail=5.0)


def test_an_excluded_site_is_left_alone_at_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        crawl = start(
            "crawl", *arguments(QUICK), "--delay", "300ms", "--data-dir", str(data),
            "--seed-file", str(seeds), "--connect-to", web.address, "--allow-private-addresses",
        )  # fmt: skip
        gone = web.web.home(3).split("://")[1].rstrip("/").removeprefix("www.")
        deadline = time.monotonic() + 60
        while pages_of(data, gone) < 2:
            assert time.monotonic() < deadline
            assert crawl.poll() is None
            time.sleep(0.1)
        done = mannerly("exclude", "--data-dir", str(data), gone)
        excluded_at = time.time()
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"excluded: {gone}\n  1 new, ")
        again = mannerly("exclude", "--data-dir", str(data), f"https://{gone}/x")
        assert "0 new" in again.stdout
        crawl.communicate(timeout=120)
        records = web.records()
    status = json.loads(mannerly("status", "--json", "--data-dir", str(data)).stdout)
    assert status["sites_excluded"] == 1
    # What was on its way when it was said, and what this process had leased, may still arrive.
    late = [it for it in records if it.host.endswith(gone) and it.arrived > excluded_at + 2]
    assert late == []
    others = [it for it in records if not it.host.endswith(gone)]
    assert max(it.arrived for it in others) > excluded_at + 2


def pages_of(data: Path, site: str) -> int:
    done = mannerly(
        "query", "--data-dir", str(data), "--format", "json",
        f"SELECT count(*) AS n FROM pages WHERE site = '{site}'",
    )  # fmt: skip
    return int(json.loads(done.stdout)[0]["n"]) if done.returncode == 0 and done.stdout else 0


def test_what_is_not_a_domain_is_refused(tmp_path: Path) -> None:
    done = mannerly("exclude", "--data-dir", str(tmp_path), "not a domain")
    assert done.returncode == 2
    assert "is not a domain" in done.stderr
    missing = mannerly("exclude", "--data-dir", str(tmp_path), "example.org")
    assert missing.returncode == 2
    assert "there is no crawl" in missing.stderr
