"""A real manual, served by a real nginx and crawled whole: every page that links lead to is stored,
once, with the words that other code finds in its file. `make manuals` does this with five."""

from pathlib import Path

from benchmarks.manuals.judging import judge
from benchmarks.manuals.packages import INSTALLED, MANUALS
from benchmarks.manuals.serving import served

from tests.programs import QUICK, arguments, mannerly

LEAST_PAGES = 1_000


def test_every_page_of_a_manual_is_stored_once_with_its_text(tmp_path: Path) -> None:
    manual = next(manual for manual in MANUALS if manual.host == "postgres.test")
    root = INSTALLED / manual.root
    assert root.is_dir(), "run tools/services to install it"
    data, seeds = tmp_path / "data", tmp_path / "seeds.txt"
    seeds.write_text(f"{manual.seed}\n")
    with served({manual.host: root}, tmp_path / "nginx") as address:
        done = mannerly(
            "crawl", *arguments({**QUICK, "--delay": "0", "--scope": "seeded-sites"}),
            "--data-dir", str(data), "--seed-file", str(seeds), "--connect-to", address,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = judge(manual, root, data)
    assert found.pages > LEAST_PAGES
    assert (found.missing, found.extra, found.twice) == ([], [], [])
    assert found.differing == {}
    assert found.texts == {"same words": found.pages}
