"""The command line with its frontier on a real PostgreSQL server."""

import json
from pathlib import Path

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, mannerly, served
from tests.services.postgres import shared

PASSWORD = "s3cret-s3cret"


def with_password(url: str) -> str:
    """The server trusts everybody, so any password is right."""
    return url.replace("://postgres@", f"://postgres:{PASSWORD}@")


def database(schema: str) -> list[str]:
    return ["--db-url", with_password(shared().url), "--db-schema", schema]


def test_crawl_status_and_resume(tmp_path: Path) -> None:
    where = ["--data-dir", str(tmp_path / "data"), *database("cli_crawl")]
    spec = preset("plain", seed=3, sites=4, pages_mean=6.0, pages_max=9, body_mean=2000)
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        words = ["--connect-to", web.address, *arguments(QUICK)]
        new = ["crawl", "--seed-file", str(seeds), *where, *words]
        first = mannerly(*new, "--max-pages", "5")
        assert first.returncode == 0, first.stderr
        assert "go on later" in first.stdout
        assert "--db-schema cli_crawl" in first.stdout
        there = mannerly(*new)
        assert there.returncode == 2
        assert "(schema cli_crawl) already" in there.stderr
        told = mannerly("status", *where)
        assert "stopped" in told.stdout
        assert "\n  lease " in told.stdout
        again = mannerly("crawl", "--resume", *where)
        assert again.returncode == 0, again.stderr
        other = mannerly("crawl", "--resume", "--data-dir", str(tmp_path / "other"),
                         *database("cli_none"))  # fmt: skip
        assert other.returncode == 2
        assert "no crawl to resume" in other.stderr
        assert not (tmp_path / "other").exists()
    document = json.loads(mannerly("status", "--json", *where).stdout)
    assert document["urls_pending"] == 0
    assert document["pages"] > 5
    everything = [first, there, told, again, other]
    assert PASSWORD not in "".join(done.stdout + done.stderr for done in everything)
    assert PASSWORD not in json.dumps(document)
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or PASSWORD.encode() not in path.read_bytes()


def test_two_crawls_are_not_mixed(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("a.invalid\n")
    options = [*arguments(QUICK), "--max-duration", "200ms"]
    for name in ("one", "two"):
        done = mannerly("crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / name),
                        *database(f"cli_{name}"), *options)  # fmt: skip
        assert done.returncode == 0, done.stderr
    mixed = mannerly("crawl", "--resume", "--data-dir", str(tmp_path / "one"), *database("cli_two"))
    assert mixed.returncode == 2
    assert "another crawl than the one in the database" in mixed.stderr


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("example.org\n")
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:1/crawl"
    data = tmp_path / "data"
    for words in (
        ["crawl", "--seed-file", str(seeds), *arguments(QUICK)],
        ["crawl", "--resume"],
        ["status"],
    ):
        done = mannerly(*words, "--data-dir", str(data), "--db-url", url)
        assert done.returncode == 1, (words, done.stdout, done.stderr)
        assert done.stderr.startswith("mannerly: "), done.stderr
        assert done.stderr.count("\n") == 1
        assert "127.0.0.1" in done.stderr
        assert PASSWORD not in done.stdout + done.stderr
    assert not data.exists()
