"""The docs speak of the program as it is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mannerly.config import OPTIONS

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    [*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md"), *PROJECT.glob("benchmarks/**/*.md")]
)


def test_the_pages_made_from_the_program_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, PROJECT / "tools" / "docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_option_is_documented_and_read() -> None:
    documented = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (PROJECT / "src").rglob("*.py")
        if path.name != "config.py"
    )
    for option in OPTIONS.values():
        assert option.flag in documented
        assert re.search(rf"\.{option.name}\b", sources), f"nobody reads {option.name}"


def test_the_project_names_no_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=False
    ).stdout.split()
    for name in tracked:
        path = PROJECT / name
        if path.suffix in {".py", ".md", ".toml", ".sql", ".txt", ""} and path.is_file():
            text = path.read_text(encoding="utf-8")
            for word in ("/work" + "/main", "/ro" + "ot/", "pypi" + ".org"):
                assert word not in text, f"{name} names {word}"
