"""What a crawler and its crawl agree on: the settings that live in the frontier, and which data
directory goes with it.

A crawl has a random id, kept with the settings and in the data directory (`DIR/crawl-id`). So a
directory is never filled with the pages of two crawls, and a database is never believed about
journals that it has not heard of.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from mannerly.config import OPTIONS, Config, as_text, build
from mannerly.datadir import SUFFIXES
from mannerly.dburl import without_password
from mannerly.errors import CrawlExistsError, NoCrawlError, SettingsDifferError, UsageError
from mannerly.frontier.contract import MOVED_TO
from mannerly.frontier.leases import moved_error
from mannerly.store.disk import write_durably
from mannerly.store.layout import Layout
from mannerly.url import SiteKey, suffix_list

MUST_AGREE = (
    "delay",
    "site_by",
    "scope",
    "seeded_urls_only",
    "max_depth",
    "strip_parameters",
    "keep_parameters",
)
"""Options on which all crawlers of one crawl agree; they live in the frontier."""
OF_ONE_RUN = frozenset(
    {
        "seed_file",
        "data_dir",
        "db_url",
        "db_schema",
        "max_pages",
        "max_duration",
        "processes",
        "hang_timeout",
        "log_level",
        "log_format",
        "progress",
        "dashboard",
        "dashboard_token",
        "slow_operation",
        "suffix_file",
    }
)
"""Options of a run. All others are the crawl's: kept with it, and used again when it is resumed."""
CRAWL_ID = "crawl_id"
ID_FILE = "crawl-id"

Settings = Mapping[str, str]


def place_text(config: Config) -> str:
    """Where the crawl is, for messages."""
    crawl = config.crawl
    if not crawl.db_url:
        return str(crawl.data_dir)
    schema = f" (schema {crawl.db_schema})" if not crawl.db_url.startswith("sqlite:") else ""
    return without_password(crawl.db_url) + schema


def require_here(config: Config, stored: Settings | None) -> None:
    """`CrawlMovedError` if the crawl went elsewhere."""
    if stored is not None and MOVED_TO in stored:
        raise moved_error(place_text(config), stored[MOVED_TO])


def joined(config: Config, stored: Settings | None, *, resume: bool) -> Config:
    """The configuration with what the crawl has settled before filled in."""
    require_here(config, stored)
    if not resume:
        if stored is not None:
            raise CrawlExistsError(
                f"there is a crawl in {place_text(config)} already; add --resume to go on with it, "
                "or choose another --data-dir"
            )
        return config
    if stored is None:
        raise NoCrawlError(
            f"there is no crawl to resume in {place_text(config)}; leave out --resume to start one"
        )
    values: dict[str, object] = {
        name: getattr(getattr(config, OPTIONS[name].section), name) for name in config.given
    }
    for name in OPTIONS.keys() - OF_ONE_RUN:
        text = stored.get(name, "")
        if name in MUST_AGREE and name in config.given and as_text(values[name]) != text:
            raise SettingsDifferError(
                f"{OPTIONS[name].flag} is {text} in this crawl and cannot be changed; "
                f"leave {OPTIONS[name].flag} out"
            )
        if text and name not in values and text != as_text(OPTIONS[name].default):
            values[name] = OPTIONS[name].parse(text)
    return dataclasses.replace(build(values), given=config.given)


def settings_of(config: Config, site_key: SiteKey, crawl_id: str) -> dict[str, str]:
    """What the frontier keeps: the crawl's options, and what its clock and its sites depend on."""
    settings = {
        name: as_text(getattr(getattr(config, option.section), name))
        for name, option in OPTIONS.items()
        if name not in OF_ONE_RUN
    }
    exclude_file = config.crawl.exclude_file
    settings["exclude_file"] = str(exclude_file.resolve()) if exclude_file else ""
    settings["suffix_list"] = site_key.version
    settings["delay_s"] = str(config.politeness.delay)
    settings[CRAWL_ID] = crawl_id
    return settings


def check_suffixes(stored: Settings | None, site_key: SiteKey) -> None:
    if stored is not None and stored["suffix_list"] != site_key.version:
        raise SettingsDifferError(
            f"this crawl uses the public suffix list {stored['suffix_list']}, this is "
            f"{site_key.version}; name the crawl's list with --suffix-file (it is kept in the data "
            f"directory that the crawl was started with: {SUFFIXES})"
        )


def check_directory(data_dir: Path, stored: Settings | None) -> None:
    """`SettingsDifferError` if the directory holds another crawl than the database (None: a new
    one). A directory without pages fits every crawl: its start was interrupted, or it joins."""
    here = _id_in(data_dir)
    filled = Layout(data_dir).exists()
    if stored is None:
        if filled:
            raise SettingsDifferError(
                f"{data_dir} holds the pages of a crawl that is not in the database; choose "
                "another --data-dir, or name the crawl's database with --db-url"
            )
    elif filled and here != stored.get(CRAWL_ID, ""):
        raise SettingsDifferError(
            f"{data_dir} holds the pages of another crawl than the one in the database; name the "
            "--data-dir and the --db-url of one crawl"
        )


def require_directory(data_dir: Path, stored: Settings) -> None:
    """`SettingsDifferError` if the directory is not one of this crawl."""
    if not _id_in(data_dir) or _id_in(data_dir) != stored.get(CRAWL_ID, ""):
        raise SettingsDifferError(
            f"{data_dir} is not a data directory of this crawl; name it with --data-dir"
        )


def mark_directory(data_dir: Path, crawl_id: str) -> None:
    """From now on the directory is this crawl's. Durable, so that it is so before a page is."""
    _write(data_dir / ID_FILE, f"{crawl_id}\n")


def keep_suffixes(config: Config) -> None:
    """Keep the list that the crawl's sites are made by: a newer Mannerly brings another one, and
    sites must not change while the crawl lives."""
    if config.politeness.site_by == "domain":
        path = config.urls.suffix_file
        _write(config.crawl.data_dir / SUFFIXES, suffix_list(path))


def _write(path: Path, text: str) -> None:
    try:
        write_durably(path, text)
    except OSError as exc:
        raise UsageError(f"cannot write {path}: {exc.strerror}") from exc


def _id_in(data_dir: Path) -> str:
    try:
        return (data_dir / ID_FILE).read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return ""
