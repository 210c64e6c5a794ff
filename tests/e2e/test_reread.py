"""SIGHUP: the exclusions are read again, and count at once."""

import json
import signal
import time
from pathlib import Path

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served, start

SPEC = preset("plain", seed=5, sites=8, pages_mean=25.0, pages_tail=5.0)


def test_a_rule_that_is_added_counts_after_sighup(tmp_path: Path) -> None:
    data, rules = tmp_path / "data", tmp_path / "exclude.txt"
    rules.write_text("# nobody yet\n")
    with served(tmp_path, SPEC) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        crawl = start(
            "crawl", *arguments(QUICK), "--delay", "300ms", "--data-dir", str(data),
            "--seed-file", str(seeds), "--connect-to", web.address, "--exclude-file", str(rules),
            "--contact-url", "https://example.org/crawl",
        )  # fmt: skip
        gone = web.web.home(2).split("://")[1].rstrip("/").removeprefix("www.")
        wait_until_asked(web.log, gone)
        rules.write_text("not a rule/\n")
        crawl.send_signal(signal.SIGHUP)
        # A file that is wrong changes nothing.
        wait_until_asked(web.log, gone, more=2)
        rules.write_text(f"{gone}\n")
        crawl.send_signal(signal.SIGHUP)
        said_at = time.time()
        _, complaints = crawl.communicate(timeout=120)
        records = web.records()
    assert "the exclusions stay as they were" in complaints
    assert "1 rules" in complaints
    assert [it for it in records if it.host.endswith(gone) and it.arrived > said_at + 1] == []
    assert max(it.arrived for it in records) > said_at + 1
    assert all("(+https://example.org/crawl; test@example.org)" in it.user_agent for it in records)
    status = json.loads(mannerly("status", "--json", "--data-dir", str(data)).stdout)
    assert status["settled"]["excluded"] > 0
    assert status["urls_pending"] == 0


def wait_until_asked(log: Path, site: str, more: int = 1) -> None:
    """Until the server has seen so many requests more to the site."""
    before = asked(log, site)
    deadline = time.monotonic() + 60
    while asked(log, site) < before + more:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def asked(log: Path, site: str) -> int:
    return sum(site in line for line in log.read_text().splitlines()) if log.exists() else 0
