"""Small stores for the tests of reading back."""

from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from mannerly.cli import app
from mannerly.records import FetchRecord, PageRecord
from mannerly.store import JournalStore, Rows
from mannerly.url import SiteKey, host_of, url_hash
from tests.unit.store.store_records import StillClock, fetch, page

_SITES = SiteKey()


def page_of(url: str, **changes: Any) -> PageRecord:
    site = _SITES.site_of(host_of(url))
    plain = {"main_text": "", "headings": (), "description": ""}
    return page(1, url=url, url_hash=url_hash(url), site=site, **{**plain, **changes})


def fetch_of(url: str, **changes: Any) -> FetchRecord:
    site = _SITES.site_of(host_of(url))
    return fetch(1, url=url, url_hash=url_hash(url), site=site, **changes)


def fill(
    data_dir: Path,
    *pages: PageRecord,
    fetches: tuple[FetchRecord, ...] = (),
    writer: int = 1,
    close: bool = True,
) -> JournalStore:
    """A store with these pages and a fetch for each; in the journal still, without `close`."""
    told = [fetch_of(one.url, fetched_at=one.fetched_at) for one in pages]
    store = JournalStore(data_dir, writer, clock=StillClock())
    store.write(1, Rows([*told, *fetches], pages))
    store.settle(1, [])
    if close:
        store.close()
    return store


def run(*words: object) -> Result:
    """A command in this process. An error of ours is in `exception`."""
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80"})


def run_well(*words: object) -> str:
    result = run(*words)
    assert result.exception is None, result.exception
    return result.stdout
