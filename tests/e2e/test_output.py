"""What a crawl says where nobody looks at a terminal."""

import json
from pathlib import Path

from tests.programs import QUICK, arguments, mannerly
from tests.services.small_web import small_web


def test_lines_of_json_and_nothing_at_all(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("one.test\nnot a url at all\n")
    common = ["crawl", *arguments(QUICK), "--seed-file", str(seeds), "--max-pages", "3"]
    with small_web() as address:
        web = ["--connect-to", address, "--progress", "lines"]
        told = mannerly(
            *common, *web, "--data-dir", str(tmp_path / "a"), "--log-format", "json",
            "--dashboard", "127.0.0.1:0",
        )  # fmt: skip
        quiet = mannerly(*common, *web, "--data-dir", str(tmp_path / "b"), "--quiet")
    events = [json.loads(line) for line in told.stderr.splitlines()]
    assert {it["event"] for it in events} == {"message", "progress"}
    messages = [it["message"] for it in events if it["event"] == "message"]
    assert any(text.startswith("dashboard: http://127.0.0.1:") for text in messages)
    assert any("line 2 of the seeds is skipped" in text for text in messages)
    assert "max-pages reached" in told.stdout
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
