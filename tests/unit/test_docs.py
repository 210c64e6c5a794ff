"""The docs speak of the program as it is."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mannerly.config import OPTIONS
from mannerly.reading.opening import columns_of, open_reading
from mannerly.reporting.figures import Costs, Figures, Gaps
from tests.unit.reading.crawled import fill

PROJECT = Path(__file__).parents[2]
SITE = PROJECT / "mkdocs.yml"
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


def test_the_site_has_every_page_once() -> None:
    listed = re.findall(
        r"^ +- (?:[\w ]+: )?(\S+\.md)$", SITE.read_text(encoding="utf-8"), re.MULTILINE
    )
    docs = PROJECT / "docs"
    assert sorted(listed) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


def test_the_site_takes_nothing_from_elsewhere() -> None:
    """Fonts are the one thing that the theme fetches unless it is told not to."""
    text = SITE.read_text(encoding="utf-8")
    assert "\n  font: false\n" in text
    assert "://" not in text


def test_every_column_of_the_view_of_sites_is_documented(tmp_path: Path) -> None:
    fill(tmp_path)
    with open_reading([tmp_path]) as store:
        columns = columns_of(store, "sites")
    told = (PROJECT / "docs" / "reading.md").read_text(encoding="utf-8")
    section = told.split("### sites\n", 1)[1].split("\n#", 1)[0].split("| format |", 1)[0]
    heads = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(heads)) == columns


def test_every_figure_of_the_report_is_documented() -> None:
    told = (PROJECT / "docs" / "report.md").read_text(encoding="utf-8").split("## JSON\n", 1)[1]
    heads = re.findall(r"^\| (`[^|]*`) \|", told, re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", " ".join(heads)))
    assert named == {field.name for field in dataclasses.fields(Figures)}
    for kind in (Gaps, Costs):
        for field in dataclasses.fields(kind):
            assert f"`{field.name}`" in told
