from pathlib import Path

import pytest

from mannerly.assemble import make_site_key
from mannerly.config import load
from mannerly.errors import CrawlExistsError, NoCrawlError, SettingsDifferError
from mannerly.joining import (
    CRAWL_ID,
    check_directory,
    check_suffixes,
    joined,
    keep_suffixes,
    mark_directory,
    settings_of,
)
from mannerly.store.layout import Layout
from mannerly.url import SiteKey

OURS = {CRAWL_ID: "00000000000000aa"}
OTHER = {CRAWL_ID: "00000000000000bb"}


def filled(path: Path, crawl_id: str | None) -> Path:
    if crawl_id is not None:
        mark_directory(path, crawl_id)
    Layout(path).make()
    return path


def test_a_directory_of_the_same_crawl(tmp_path: Path) -> None:
    check_directory(filled(tmp_path, OURS[CRAWL_ID]), OURS)


def test_a_directory_with_the_pages_of_another_crawl(tmp_path: Path) -> None:
    with pytest.raises(SettingsDifferError, match="another crawl than the one in the database"):
        check_directory(filled(tmp_path, OURS[CRAWL_ID]), OTHER)


def test_a_new_crawl_over_pages_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsDifferError, match="a crawl that is not in the database"):
        check_directory(filled(tmp_path, OURS[CRAWL_ID]), None)


def test_pages_that_nobody_marked(tmp_path: Path) -> None:
    with pytest.raises(SettingsDifferError):
        check_directory(filled(tmp_path, None), OURS)


def test_a_directory_without_pages_fits_every_crawl(tmp_path: Path) -> None:
    for stored in (OURS, None):
        check_directory(tmp_path, stored)
        check_directory(tmp_path / "none", stored)
    mark_directory(tmp_path, OTHER[CRAWL_ID])
    for stored in (OURS, None):
        check_directory(tmp_path, stored)


def test_options_of_the_crawl_come_back_and_those_of_a_run_do_not() -> None:
    first = load(
        {"email": "me@example.org", "max_pages_per_site": "0", "max_pending_per_site": "7",
         "slow_operation": "1s", "db_schema": "other"}, environ={})  # fmt: skip
    stored = settings_of(first, SiteKey(by="domain"), "1")
    assert not {"db_url", "db_schema", "slow_operation"} & stored.keys()
    again = joined(load({"max_spilt_per_site": "5"}, environ={}), stored, resume=True)
    assert again.crawl.max_pages_per_site == 0
    assert again.crawl.max_pending_per_site == 7
    assert again.crawl.max_spilt_per_site == 5
    assert again.observe.slow_operation == 5.0
    assert again.crawl.email == "me@example.org"


def test_parameters_must_agree() -> None:
    stored = settings_of(load({"strip_parameters": "default,ref"}, environ={}), SiteKey("host"), "")
    again = joined(load({}, environ={}), stored, resume=True)
    assert again.urls.strip_parameters == ("default", "ref")
    assert again.urls.keep_parameters == ()
    for name in ("strip_parameters", "keep_parameters"):
        with pytest.raises(SettingsDifferError, match=f"--{name.replace('_', '-')} is"):
            joined(load({name: "other"}, environ={}), stored, resume=True)


def test_a_crawl_keeps_its_suffix_list(tmp_path: Path) -> None:
    mine = tmp_path / "mine.dat"
    mine.write_text("com\nfresh.com\n")
    first = load({"data_dir": str(tmp_path), "suffix_file": str(mine)}, environ={})
    stored = settings_of(first, make_site_key(first, new=True), "1")
    keep_suffixes(first)
    mine.unlink()
    later = joined(load({"data_dir": str(tmp_path)}, environ={}), stored, resume=True)
    assert make_site_key(later).site_of("a.b.fresh.com") == "b.fresh.com"
    check_suffixes(stored, make_site_key(later))
    elsewhere = load({"data_dir": str(tmp_path / "other")}, environ={})
    with pytest.raises(SettingsDifferError, match="--suffix-file"):
        check_suffixes(stored, make_site_key(elsewhere))
    assert make_site_key(later, new=True).version == SiteKey().version


def test_a_crawl_is_there_or_it_is_not() -> None:
    config = load({}, environ={})
    with pytest.raises(CrawlExistsError, match="--resume"):
        joined(config, OURS, resume=False)
    with pytest.raises(NoCrawlError, match="no crawl to resume"):
        joined(config, None, resume=True)
