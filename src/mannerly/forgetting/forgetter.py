"""The order in which a site is forgotten, so that a kill at any moment leaves something that the
same command finishes:

1. the site is excluded: from now on nothing of it is added, leased or stored;
2. what dead processes left in journals is rolled, so that all there is is in Parquet files;
3. what is to be removed is counted, and the receipt is written, unfinished;
4. file by file, its rows and exchanges go (`mannerly.store.removal`);
5. a search index that has its words goes; the next search makes it anew; so do figures of the
   last run that name it;
6. the frontier removes its URLs and robots records, and a frontier of this directory gives up the
   space they were in, so that the file does not hold them any longer;
7. the receipt is finished.

It has the data directory to itself. Refusing while a crawl runs there is the simple way to be sure
that no process has rows of the site in memory, in a journal or half rolled.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime

from mannerly import assemble
from mannerly.config import Config
from mannerly.datadir import held
from mannerly.errors import StoreError, UrlError, UsageError
from mannerly.forgetting.receipt import FileChange, Receipt, new_path, unfinished, write
from mannerly.frontier.contract import Frontier
from mannerly.joining import check_directory, joined
from mannerly.observe import operations
from mannerly.opening import existing_crawl
from mannerly.reading.index import forget_words
from mannerly.reviving import bring_back_the_dead
from mannerly.store.inspection import unmarked
from mannerly.store.layout import Layout
from mannerly.store.removal import Held, Name, Site, holding, remove, sha256
from mannerly.url import SiteKey, canonical, host_of


async def forget(config: Config, domain: str) -> Receipt:
    """Forget the site of `domain`. `CrawlBusyError` while a crawler runs in the data directory;
    `NoCrawlError` if there is no crawl. May be killed and run again."""
    host = _host(domain)
    data_dir = config.crawl.data_dir
    async with existing_crawl(config) as (frontier, settings):
        check_directory(data_dir, settings)
        config = joined(config, settings, resume=True)
        key = assemble.make_site_key(config)
        site = Site(key.site_of(host), _membership(key, key.site_of(host)))
        with held(data_dir):
            await frontier.exclude([site.key])
            await bring_back_the_dead(frontier, data_dir, config.politeness.delay)
            try:
                return await _forget(config, frontier, Layout(data_dir), site)
            except OSError as exc:
                raise StoreError(
                    f"cannot forget {site.key}: {exc.strerror or exc}; run it again to finish"
                ) from exc


def _host(domain: str) -> str:
    try:
        return host_of(canonical(domain if "://" in domain else f"http://{domain}/"))
    except UrlError as exc:
        raise UsageError(f"{domain!r} is not a domain ({exc}); give e.g. example.org") from exc


def _membership(key: SiteKey, site: str) -> Callable[[str], bool]:
    """Whether a URL, as records have it, is of the site."""

    def is_theirs(url: str) -> bool:
        try:
            return key.site_of(host_of(url)) == site
        except ValueError:
            return False  # not a URL: a record that is about no page

    return is_theirs


async def _forget(config: Config, frontier: Frontier, layout: Layout, site: Site) -> Receipt:
    begun = unfinished(layout.root, site.key)
    if begun is None:
        receipt = Receipt(site.key, _now())
        path = new_path(layout.root, receipt)
        facts = (await frontier.explain(site.key, 0)).site
        receipt.waiting = facts.pending + facts.spilt if facts is not None else 0
    else:
        path, receipt = begun
    found = holding(layout, site)
    _count(receipt, layout, found)
    write(path, receipt)
    remove(layout, site, [it.file for it in found], _left_in_segments(layout, receipt))
    forget_words(layout.root, site.key)
    if any(site.key == it[0] for run in operations.read(layout.root) for it in run.closed):
        operations.clear(layout.root)
    forgotten = await frontier.forget(site.key)
    receipt.settled = max(receipt.settled, forgotten.settled)
    receipt.left = _left(layout)
    if not assemble.compact_frontier(config):
        receipt.left.append("the database of the frontier reuses the space of its URLs in time")
    receipt.done = _now()
    write(path, receipt)
    return receipt


def _count(receipt: Receipt, layout: Layout, found: list[Held]) -> None:
    """What is to be removed: all of it in a new receipt, nothing in that of a run which was cut off
    and is done again."""
    named = {change.file for change in receipt.files}
    hashes: list[int] = []
    for it in found:
        name = str(it.file.path.relative_to(layout.root))
        if name in named:
            continue
        table = it.file.table.name
        receipt.rows[table] = receipt.rows.get(table, 0) + it.rows
        receipt.files.append(FileChange(table, name, it.rows, it.left, sha256(it.file.path)))
        hashes += it.hashes
    if not receipt.urls_digest:
        lines = "".join(f"{hash_}\n" for hash_ in sorted(hashes))
        receipt.urls_digest = hashlib.sha256(lines.encode()).hexdigest()
        receipt.settled = len(hashes)


def _left_in_segments(layout: Layout, receipt: Receipt) -> dict[Name, dict[str, int]]:
    """What the marks are to remember, of every file that the receipt names: should an earlier run
    have been cut off behind a file, its mark may still be due."""
    left: dict[Name, dict[str, int]] = defaultdict(dict)
    for change in receipt.files:
        left[layout.segment_of(change.file)][change.table] = change.left
    return left


def _left(layout: Layout) -> list[str]:
    """What is not looked into."""
    left = []
    if layout.lost.is_dir() and any(layout.lost.iterdir()):
        left.append("lost+found has damaged files that may hold pages of the site: delete them")
    if unmarked(layout):
        left.append(
            "there are pages without fetches: run `mannerly check --repair`, then this again"
        )
    return left


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
