"""Mending what a crash, a full disk or a damaged one left. Never drops a good page: what is
replaced or taken away was unfinished, or goes to `lost+found` as a whole.

Each step may be killed and done again. It has the data directory to itself: no crawler runs there
meanwhile.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from mannerly import assemble
from mannerly.checking.checker import check
from mannerly.checking.report import Report
from mannerly.config import Config
from mannerly.datadir import held
from mannerly.errors import MannerlyError, NoCrawlError, StoreError
from mannerly.joining import check_directory, joined
from mannerly.opening import existing_crawl
from mannerly.reviving import bring_back_the_dead
from mannerly.store.disk import DISK
from mannerly.store.inspection import inspect, store_files, unmarked
from mannerly.store.layout import Layout
from mannerly.store.lock import WriterLock
from mannerly.store.salvage import rebuild_fetches, salvage, set_aside
from mannerly.store.tables import WARC
from mannerly.store.warc.inspection import inspect_archive, salvage_archive


async def repair(config: Config, also: Sequence[Path] = ()) -> Report:
    """Mend what can be mended, then check. `CrawlBusyError` while a crawler runs here."""
    data_dir = config.crawl.data_dir
    if not Layout(data_dir).exists():
        raise NoCrawlError(f"there is no store in {data_dir}; name its directory with --data-dir")
    mended: list[str] = []
    with held(data_dir):
        if not assemble.damage_of_frontier(config):
            await _recover(config, mended)
        try:
            _mend_files(Layout(data_dir), mended)
        except OSError as exc:
            raise StoreError(f"cannot mend {exc.filename}: {exc.strerror or exc}") from exc
    report = await check(config, also)
    report.mended = mended
    return report


async def _recover(config: Config, mended: list[str]) -> None:
    """Before anything else: a Parquet file that was torn while its journal is still there is rolled
    anew by this, whole."""
    data_dir = config.crawl.data_dir
    try:
        async with existing_crawl(config) as (frontier, settings):
            check_directory(data_dir, settings)
            delay_s = joined(config, settings, resume=True).politeness.delay
            recovered = await bring_back_the_dead(frontier, data_dir, delay_s)
    except MannerlyError as exc:
        # Without the frontier nobody knows what counts of a journal; files are mended all the same.
        mended.append(f"nothing of the journals: {exc}")
        return
    if recovered.writers:
        mended.append(
            f"journals of {len(recovered.writers)} dead processes: {recovered.rows['pages']:,} "
            f"pages and {recovered.rows['fetches']:,} fetches rolled"
        )
    mended += [
        f"{path.relative_to(data_dir)}: set aside, damaged or not vouched for"
        for path in recovered.set_aside
    ]


def _mend_files(layout: Layout, mended: list[str]) -> None:
    for table in layout.tables:
        for path in sorted(table.glob(".*.tmp")):
            DISK.remove(path)
            mended.append(f"{path.relative_to(layout.root)}: removed, it was never finished")
    _remove_staging(layout, mended)
    # The marks last: fetches are rebuilt from pages, which are whole by then.
    for file in store_files(layout):
        if file.table is WARC:
            _mend_archive(layout, file.path, mended)
        elif inspect(file.path).damage:
            rows = salvage(layout, file)
            name = file.path.relative_to(layout.root)
            mended.append(f"{name}: {rows:,} rows kept, the damaged file is in lost+found")
    for writer, number in unmarked(layout):
        for table in layout.tables:
            path = table / f"{writer:016x}-{number:06d}.parquet"
            if path.exists() and inspect(path).damage:
                set_aside(layout, path)
        rows = rebuild_fetches(layout, writer, number)
        mended.append(f"{writer:016x}-{number:06d}: {rows:,} fetches made of its pages")


def _mend_archive(layout: Layout, path: Path, mended: list[str]) -> None:
    found = inspect_archive(path)
    if found.index_is_right and not found.damage:
        return
    if found.damage:
        set_aside(layout, path)
    exchanges = salvage_archive(path)
    kept = f"{exchanges:,} exchanges kept, the damaged file is in lost+found"
    told = kept if found.damage else "its index is made anew"
    mended.append(f"{path.relative_to(layout.root)}: {told}")


def _remove_staging(layout: Layout, mended: list[str]) -> None:
    """Directories of writers that died before their first lock was to be seen."""
    for path in sorted(layout.journal.glob(".*")):
        lock = WriterLock.take(path)
        if lock is not None:
            lock.release()
            shutil.rmtree(path)
            mended.append(f"{path.relative_to(layout.root)}: removed, it was never used")
