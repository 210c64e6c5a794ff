"""Do frontier and store agree? What each has is put side by side in DuckDB, which needs no more
memory for forty million URLs than for forty.

The rules (design, invariant 3): a URL that is settled has exactly one fetch record, with the same
outcome; a fetch record speaks of a settled URL; a page has a fetch record that says `fetched`, and
is there once; extracts and links are those of pages.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import duckdb
import pyarrow as pa

from mannerly.checking.holdings import COMPARED, Holdings
from mannerly.checking.report import Report
from mannerly.frontier.contract import Cursor, Frontier, Kind
from mannerly.model import ListedUrl
from mannerly.store.read import literal
from mannerly.store.tables import FETCHES

PORTION = 20_000
EXAMPLES = 3
LOOKS = 10
LOOK_AGAIN_S = 0.5
"""A commit comes a moment before its mark: of a crawl that runs, what is missing is looked for
again before it is reported."""

Look = Callable[[], Holdings]

_MISSING = "SELECT site, hash FROM settled ANTI JOIN fetches USING (site, hash)"
_RULES = {
    "fetches: there more than once": (
        "SELECT site, hash FROM fetches GROUP BY ALL HAVING count(*) > 1"
    ),
    "fetches: with another outcome than the frontier has": (
        "SELECT site, hash FROM settled JOIN fetches USING (site, hash) "
        "WHERE settled.outcome != fetches.outcome"
    ),
    "pages: there more than once": (
        "SELECT site, hash FROM pages GROUP BY ALL HAVING count(*) > 1"
    ),
    "pages: without a fetch record that says fetched": (
        "SELECT site, hash FROM pages ANTI JOIN "
        "(SELECT site, hash FROM fetches WHERE outcome = 'fetched') AS fetched USING (site, hash)"
    ),
    "extracts: there more than once": (
        "SELECT site, hash FROM extracts GROUP BY ALL HAVING count(*) > 1"
    ),
    "extracts: of pages that are not there": (
        "SELECT site, hash FROM extracts ANTI JOIN pages USING (site, hash)"
    ),
    "links: from pages that are not there": (
        "SELECT DISTINCT site, hash FROM links ANTI JOIN pages USING (site, hash)"
    ),
}
_UNSETTLED = "SELECT site, hash FROM fetches ANTI JOIN settled USING (site, hash)"


async def compare(report: Report, frontier: Frontier, look: Look, *, alone: bool) -> None:
    """Put what is wrong into the report. `alone`: no other directory can hold records of this
    crawl."""
    with _database() as database:
        # The frontier first: what it has settled was durable in a journal before.
        await _load_settled(database, frontier)
        (report.settled,) = database.execute("SELECT count(*) FROM settled").fetchall()[0]
        missing = _missing(report, database, look)
        report.compared = True
        if missing and alone:
            told = "settled URLs have no fetch record: it was lost with a damaged or deleted file"
            report.complain("frontier", _with_examples(database, _MISSING, told))
        elif missing:
            report.note(
                "frontier",
                f"{missing:,} settled URLs have their records elsewhere: name the other machines' "
                "directories with --also to have them compared",
            )
        for rule, sql in _RULES.items():
            _judge(report, database, rule, sql)
        if not report.running:
            rule = "fetches: of URLs that the frontier has not settled"
            _judge(report, database, rule, _UNSETTLED)
            await _count(report, database, frontier)


def _missing(report: Report, database: duckdb.DuckDBPyConnection, look: Look) -> int:
    missing = 0
    for _ in range(LOOKS if report.running else 1):
        _load_store(report, database, look())
        (missing,) = database.execute(f"SELECT count(*) FROM ({_MISSING})").fetchall()[0]  # noqa: S608
        if not missing or not report.running:
            break
        time.sleep(LOOK_AGAIN_S)
    return missing


def _judge(report: Report, database: duckdb.DuckDBPyConnection, rule: str, sql: str) -> None:
    (count,) = database.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0]  # noqa: S608
    if count:
        where, _, what = rule.partition(": ")
        report.complain(where, _with_examples(database, sql, what))


def _with_examples(database: duckdb.DuckDBPyConnection, sql: str, what: str) -> str:
    (count,) = database.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0]  # noqa: S608
    some = database.execute(f"{sql} LIMIT {EXAMPLES}").fetchall()
    named = ", ".join(f"{hash_} of {site}" for site, hash_ in some)
    return f"{count:,} {what} (hashes {named}{', …' if count > len(some) else ''})"


async def _count(report: Report, database: duckdb.DuckDBPyConnection, frontier: Frontier) -> None:
    """The frontier's own counts against its own rows."""
    counted = {outcome.name.lower(): n for outcome, n in (await frontier.stats()).settled.items()}
    rows: dict[str, int] = dict(
        database.execute("SELECT outcome, count(*) FROM settled GROUP BY ALL").fetchall()
    )
    for outcome in sorted(counted.keys() | rows.keys()):
        if counted.get(outcome, 0) != rows.get(outcome, 0):
            report.complain(
                "frontier",
                f"it counts {counted.get(outcome, 0):,} URLs as {outcome.replace('_', ' ')} and "
                f"has {rows.get(outcome, 0):,}",
            )


@contextmanager
def _database() -> Iterator[duckdb.DuckDBPyConnection]:
    with (
        tempfile.TemporaryDirectory(prefix="mannerly-check-") as scratch,
        closing(duckdb.connect()) as database,
    ):
        database.execute("SET temp_directory = ?", [scratch])
        database.execute("CREATE TABLE settled (site VARCHAR, hash BIGINT, outcome VARCHAR)")
        yield database


async def _load_settled(database: duckdb.DuckDBPyConnection, frontier: Frontier) -> None:
    after: Cursor | None = None
    while True:
        urls, after = await frontier.iterate(Kind.SETTLED, after=after, limit=PORTION)
        _insert(database, urls)
        if after is None:
            return


def _insert(database: duckdb.DuckDBPyConnection, urls: list[ListedUrl]) -> None:
    portion = pa.table(
        {
            "site": pa.array([it.site for it in urls], pa.string()),
            "hash": pa.array([it.hash for it in urls], pa.int64()),
            "outcome": pa.array([it.outcome.name.lower() for it in urls], pa.string()),
        }
    )
    database.register("portion", portion)
    database.execute("INSERT INTO settled SELECT * FROM portion")
    database.unregister("portion")


def _load_store(report: Report, database: duckdb.DuckDBPyConnection, found: Holdings) -> None:
    for table in COMPARED:
        name = table.name
        database.register("journalled", found.journalled[name])
        columns = "site, url_hash AS hash" + (", outcome" if table is FETCHES else "")
        sources = ["journalled"]
        if found.files[name]:
            paths = ", ".join(map(literal, found.files[name]))
            sources.append(f"read_parquet([{paths}])")
        selects = " UNION ALL ".join(f"SELECT {columns} FROM {source}" for source in sources)  # noqa: S608
        database.execute(f"CREATE OR REPLACE TABLE {name} AS {selects}")
        database.unregister("journalled")
        (rows,) = database.execute(f"SELECT count(*) FROM {name}").fetchall()[0]  # noqa: S608
        report.rows[name] = rows
