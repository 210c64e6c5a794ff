"""What a user can get wrong: one line that says what to do, exit code 2, nothing changed."""

import sqlite3
from pathlib import Path

import pytest

from mannerly.simweb.spec import preset
from tests.programs import QUICK, arguments, environment, mannerly, served, start

ORDINARY = arguments(QUICK)


def refused(*words: str, variables: dict[str, str] | None = None) -> str:
    done = mannerly(*words, variables=variables)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def one_line(text: str) -> str:
    assert text.startswith("mannerly: ")
    assert text.count("\n") == 1, text
    return text


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    path = tmp_path / "seeds.txt"
    path.write_text("example.org\n")
    return path


def test_missing_things_are_named(tmp_path: Path, seeds: Path) -> None:
    data = tmp_path / "data"
    base = ["crawl", "--data-dir", str(data)]
    assert "--seed-file" in one_line(refused(*base, *ORDINARY))
    assert "--email" in one_line(refused(*base, "--seed-file", str(seeds)))
    missing = refused(*base, *ORDINARY, "--seed-file", str(tmp_path / "none.txt"))
    assert "No such file" in one_line(missing)
    assert not data.exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--email", "me"], "an address such as"),
        (["--delay", "soon"], "a duration such as"),
        (["--body-limit", "much"], "a size such as"),
        (["--max-workers", "0"], "at least 1"),
        (["--scope", "world"], "one of any, seeded-sites"),
        (["--db-url", "mysql://x"], "sqlite:///PATH"),
        (["--connect-to", "here"], "HOST:PORT"),
        (["--exclude-file", "none.txt"], "none.txt"),
        (["--config", "none.toml"], "No such file"),
    ],
)
def test_a_bad_option_says_what_is_needed(
    tmp_path: Path, seeds: Path, words: list[str], complaint: str
) -> None:
    data = tmp_path / "data"
    base = ["crawl", "--seed-file", str(seeds), "--data-dir", str(data)]
    assert complaint in one_line(refused(*base, *ORDINARY, *words))
    assert not data.exists()


def test_unknown_options_keys_and_variables(tmp_path: Path, seeds: Path) -> None:
    base = ["crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"), *ORDINARY]
    assert "No such option" in refused(*base, "--dealy", "5s")
    config = tmp_path / "crawl.toml"
    config.write_text("[politeness]\ndealy = 5\n")
    assert "unknown key 'dealy'" in one_line(refused(*base, "--config", str(config)))
    assert "MANNERLY_DEALY" in one_line(refused(*base, variables={"MANNERLY_DEALY": "5s"}))
    assert not (tmp_path / "data").exists()


def test_resume_where_there_is_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    text = one_line(refused("crawl", "--resume", "--data-dir", str(data)))
    assert "no crawl to resume" in text
    assert not data.exists()
    assert "no crawl" in one_line(refused("status", "--data-dir", str(data)))
    assert not data.exists()


def test_a_file_without_a_seed(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("# nothing\n\nnot a domain\n")
    done = mannerly(
        "crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "d"), *ORDINARY
    )
    assert done.returncode == 2
    assert "line 3" in done.stderr
    assert "not a single seed" in done.stderr


def test_a_crawl_that_is_there_already_and_settings_that_differ(tmp_path: Path) -> None:
    spec = preset("plain", seed=1, sites=3, pages_mean=2.0, pages_max=3, body_mean=2000)
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        words = ["crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                 "--connect-to", web.address, *ORDINARY]  # fmt: skip
        assert mannerly(*words).returncode == 0
        before = snapshot(tmp_path / "data")
        assert "add --resume" in one_line(refused(*words))
        differs = refused(*words, "--resume", "--delay", "3s")
        assert "--delay is 0.05 in this crawl" in one_line(differs)
        assert snapshot(tmp_path / "data") == before


def test_a_second_crawler_in_the_same_place(tmp_path: Path) -> None:
    spec = preset("plain", seed=1, sites=30, latency_s=0.5, body_mean=2000)
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        words = ["crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                 "--connect-to", web.address, *ORDINARY]  # fmt: skip
        first = start(*words)
        try:
            while not (tmp_path / "data" / "journal").exists():
                assert first.poll() is None
            second = refused("crawl", "--resume", "--data-dir", str(tmp_path / "data"))
            assert "another crawler is running" in one_line(second)
            told = mannerly("status", "--data-dir", str(tmp_path / "data"))
            assert "running" in told.stdout
        finally:
            first.terminate()
            first.communicate(timeout=15)


def test_data_of_a_newer_version(tmp_path: Path) -> None:
    spec = preset("plain", seed=1, sites=2, pages_mean=2.0, pages_max=3, body_mean=2000)
    with served(tmp_path, spec) as web:
        seeds = web.write_seeds(tmp_path / "seeds.txt")
        words = ["crawl", "--seed-file", str(seeds), "--data-dir", str(tmp_path / "data"),
                 "--connect-to", web.address, *ORDINARY]  # fmt: skip
        assert mannerly(*words).returncode == 0
    database = sqlite3.connect(tmp_path / "data" / "frontier.db")
    database.execute("PRAGMA user_version = 999")
    database.close()
    text = one_line(refused("crawl", "--resume", "--data-dir", str(tmp_path / "data")))
    assert "newer" in text
    assert "frontier.db" in text


def test_the_environment_of_the_tests_says_one_process_and_nothing_else() -> None:
    ours = {name: text for name, text in environment().items() if name.startswith("MANNERLY_")}
    assert ours == {"MANNERLY_PROCESSES": "1"}


def snapshot(directory: Path) -> dict[str, int]:
    """Files by name and size; side files of the database come and go with its readers."""
    return {
        str(path.relative_to(directory)): path.stat().st_size
        for path in directory.rglob("*")
        if path.is_file() and not path.name.startswith("frontier.db-")
    }
