"""The order in which a site is forgotten, so that a kill at any moment leaves something that the
same command finishes:

1. the site is excluded: from now on nothing of it is added, leased or stored;
2. what dead processes left in journals is rolled, so that all there is is in Parquet files;
3. what is to be removed is counted, and the receipt is written, unfinished;
4. file by file, its rows go (`mannerly.store.removal`);
5. the frontier removes its URLs and robots records;
6. the receipt is finished.

It has the data directory to itself. Refusing while a crawl runs there is the simple way to be sure
that no process has rows of the site in memory, in a journal or half rolled.
"""

import hashlib
from datetime import UTC, datetime

from mannerly import assemble
from mannerly.config import Config
from mannerly.datadir import held
from mannerly.errors import StoreError, UrlError, UsageError
from mannerly.forgetting.receipt import FileChange, Receipt, new_path, unfinished, write
from mannerly.frontier.contract import Frontier
from mannerly.joining import check_directory, joined
from mannerly.model import SiteFacts
from mannerly.opening import existing_crawl
from mannerly.reviving import bring_back_the_dead
from mannerly.store.inspection import unmarked
from mannerly.store.layout import Layout
from mannerly.store.removal import holding, remove, sha256
from mannerly.store.tables import FETCHES
from mannerly.url import canonical, host_of


async def forget(config: Config, domain: str) -> Receipt:
    """Forget the site of `domain`. `CrawlBusyError` while a crawler runs in the data directory;
    `NoCrawlError` if there is no crawl. May be killed and run again."""
    host = _host(domain)
    data_dir = config.crawl.data_dir
    async with existing_crawl(config) as (frontier, settings):
        check_directory(data_dir, settings)
        config = joined(config, settings, resume=True)
        site = assemble.make_site_key(config).site_of(host)
        with held(data_dir):
            await frontier.exclude([site])
            await bring_back_the_dead(frontier, data_dir, config.politeness.delay)
            try:
                return await _forget(frontier, Layout(data_dir), site)
            except OSError as exc:
                raise StoreError(
                    f"cannot forget {site}: {exc.strerror or exc}; run it again to finish"
                ) from exc


def _host(domain: str) -> str:
    try:
        return host_of(canonical(domain if "://" in domain else f"http://{domain}/"))
    except UrlError as exc:
        raise UsageError(f"{domain!r} is not a domain ({exc}); give e.g. example.org") from exc


async def _forget(frontier: Frontier, layout: Layout, site: str) -> Receipt:
    begun = unfinished(layout.root, site)
    if begun is None:
        receipt = _counted(layout, site, (await frontier.explain(site, 0)).site)
        path = new_path(layout.root, receipt)
        write(path, receipt)
    else:
        path, receipt = begun
    for file, _ in holding(layout, site):
        remove(layout, file, site)
    forgotten = await frontier.forget(site)
    receipt.settled = max(receipt.settled, forgotten.settled)
    receipt.left = _left(layout)
    receipt.done = _now()
    write(path, receipt)
    return receipt


def _counted(layout: Layout, site: str, facts: SiteFacts | None) -> Receipt:
    """What is to be removed."""
    receipt = Receipt(site, _now())
    hashes: list[int] = []
    for file, found in holding(layout, site):
        table = file.table.name
        receipt.rows[table] = receipt.rows.get(table, 0) + len(found)
        name = str(file.path.relative_to(layout.root))
        receipt.files.append(FileChange(table, name, len(found), sha256(file.path)))
        if file.table is FETCHES:
            hashes += found
    lines = "".join(f"{hash_}\n" for hash_ in sorted(hashes))
    receipt.urls_digest = hashlib.sha256(lines.encode()).hexdigest()
    receipt.settled = len(hashes)
    receipt.waiting = facts.pending + facts.spilt if facts is not None else 0
    return receipt


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
