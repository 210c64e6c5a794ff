"""The check as a whole: every file first, then what is in them. Changes nothing."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from mannerly import assemble
from mannerly.checking.agreement import compare
from mannerly.checking.holdings import Holdings, holdings
from mannerly.checking.report import Report
from mannerly.config import Config
from mannerly.datadir import is_held
from mannerly.errors import FrontierError, NoCrawlError, SettingsDifferError, StoreError
from mannerly.frontier.contract import Frontier, WriterState
from mannerly.joining import check_directory
from mannerly.opening import existing_crawl
from mannerly.store import dead_writers
from mannerly.store.inspection import inspect, parquet_files, remembered, unmarked
from mannerly.store.layout import Layout
from mannerly.store.segments import missing, read_journal
from mannerly.store.tables import MARK, WARC

REPAIR = "`mannerly check --repair`"


async def check(config: Config, also: Sequence[Path] = ()) -> Report:
    """Look at everything. `also`: further data directories of the same crawl, of other machines:
    what they hold is counted, their files are not looked at. `NoCrawlError` if there is no crawl.
    """
    data_dir = config.crawl.data_dir
    if not Layout(data_dir).exists() and not _frontier_exists(config):
        raise NoCrawlError(f"there is no crawl in {data_dir}; name its directory with --data-dir")
    report = Report(str(data_dir), running=is_held(data_dir))
    damaged = _check_parquet(report, data_dir)
    _check_left_over(report, data_dir)
    wrong = assemble.damage_of_frontier(config)
    for line in wrong:
        report.complain("frontier", f"SQLite says: {line}; restore it from a copy")
    if not wrong:
        await _check_with_frontier(report, config, damaged, also)
    return report


def _frontier_exists(config: Config) -> bool:
    path = assemble.frontier_path(config)
    return path is None or path.exists()


def _check_parquet(report: Report, data_dir: Path) -> set[Path]:
    """Read every Parquet file; which are damaged."""
    layout = Layout(data_dir)
    damaged: set[Path] = set()
    rows: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for file in parquet_files(layout):
        found = inspect(file.path)
        report.files += 1
        rows[file.writer, file.number][file.table.name] = found.rows
        if found.damage:
            damaged.add(file.path)
            report.complain(
                str(file.path.relative_to(data_dir)),
                f"damaged, {found.rows} rows are readable ({found.damage}); {REPAIR} keeps these "
                "and sets the file aside",
            )
    for name, counted in rows.items():
        _check_counts(report, layout, name, counted)
    return damaged


def _check_counts(
    report: Report, layout: Layout, name: tuple[int, int], counted: Counter[str]
) -> None:
    """A segment's files against what its mark remembers of them."""
    for table, rows in remembered(layout.file(MARK, *name)).items():
        if table != WARC.name and counted[table] < rows:  # that one has no Parquet file
            writer, number = name
            report.complain(
                f"{table}/{writer:016x}-{number:06d}.parquet",
                f"{rows - counted[table]:,} of {rows:,} rows are not there any more",
            )


def _check_left_over(report: Report, data_dir: Path) -> None:
    """What is there and should not be, or was set aside."""
    layout = Layout(data_dir)
    if not report.running:
        for table in layout.tables:
            for path in sorted(table.glob(".*.tmp")):
                report.note(
                    str(path.relative_to(data_dir)),
                    f"unfinished, from a process that died; {REPAIR} removes it",
                )
        for writer, number in unmarked(layout):
            report.complain(
                f"{writer:016x}-{number:06d}.parquet",
                "its fetches are gone, so that its pages are seen by nobody; "
                f"{REPAIR} makes fetches of the pages",
            )
    if layout.lost.is_dir() and (kept := sorted(layout.lost.iterdir())):
        report.note("lost+found", f"{len(kept)} files that were set aside, for you to judge")


async def _check_with_frontier(
    report: Report, config: Config, damaged: set[Path], also: Sequence[Path]
) -> None:
    data_dir = config.crawl.data_dir
    try:
        async with existing_crawl(config) as (frontier, settings):
            check_directory(data_dir, settings)
            states = await _check_journals(report, data_dir, frontier)

            def look() -> Holdings:
                return holdings([data_dir, *also], states, without=damaged)

            alone = assemble.frontier_path(config) is not None or bool(also)
            await compare(report, frontier, look, alone=alone)
    except SettingsDifferError as exc:
        report.complain("frontier", str(exc))
    except (FrontierError, StoreError, OSError) as exc:
        report.complain("frontier", f"it could not be compared with the store: {exc}")


async def _check_journals(
    report: Report, data_dir: Path, frontier: Frontier
) -> dict[int, WriterState | None]:
    """Look at the journals of dead processes; how far each of them came, as the frontier says."""
    layout = Layout(data_dir)
    states: dict[int, WriterState | None] = {}
    report.journals = len(layout.writers())
    for writer in dead_writers(data_dir):
        state = states[writer] = await frontier.writer_state(writer)
        where = f"journal/{writer:016x}"
        journal = read_journal(layout, writer)
        if state is None:
            if any(segment.batches for segment in journal):
                report.complain(where, f"the frontier does not know it; {REPAIR} sets it aside")
            continue
        lost = missing(journal, state.sequence)
        if lost:
            report.complain(
                where,
                f"damaged: {len(lost)} batches that count cannot be read; {REPAIR} keeps what is "
                "readable and sets the rest aside",
            )
        else:
            report.note(
                where, f"of a process that died; the next start of the crawl, or {REPAIR}, rolls it"
            )
    return states
