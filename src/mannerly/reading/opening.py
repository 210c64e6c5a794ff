"""The crawl's tables as views in DuckDB, for SQL that is not ours.

Guarantees:

- a query reads the data directories and nothing else: no other file, no network, no extension that
  is not built in, no variable of this program; and it cannot undo that;
- it writes nothing but the one `output` that was named beforehand (see also `asking.single_query`:
  inside the data directories DuckDB would let `COPY` write, so nothing but a query is run);
- what does not fit into memory is spilt into a directory of its own, which is removed.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb

from mannerly.errors import NoCrawlError
from mannerly.store.layout import Layout
from mannerly.store.read import open_store

# What is not a page is one of three things: somebody said no, it led elsewhere, or it failed.
_SITES = """\
CREATE VIEW sites AS
SELECT
    coalesce(f.site, p.site) AS site,
    coalesce(urls, 0) AS urls,
    coalesce(pages, 0) AS pages,
    coalesce(redirects, 0) AS redirects,
    coalesce(disallowed, 0) AS disallowed,
    coalesce(failures, 0) AS failures,
    coalesce(wire_bytes, 0)::BIGINT AS wire_bytes,
    coalesce(text_chars, 0)::BIGINT AS text_chars,
    first_visit_at,
    last_visit_at
FROM (
    SELECT
        site,
        count(*) AS urls,
        count(*) FILTER (outcome = 'redirected') AS redirects,
        count(*) FILTER (outcome IN ('disallowed', 'robots_unreachable', 'excluded')) AS disallowed,
        count(*) FILTER (outcome NOT IN
            ('fetched', 'redirected', 'disallowed', 'robots_unreachable', 'excluded')) AS failures,
        sum(wire_bytes) AS wire_bytes,
        min(fetched_at) FILTER (status > 0) AS first_visit_at,
        max(fetched_at) FILTER (status > 0) AS last_visit_at
    FROM fetches GROUP BY site
) f
FULL JOIN (
    SELECT site, count(*) AS pages, sum(length(text)) AS text_chars FROM pages GROUP BY site
) p ON f.site = p.site
"""


def roots_of(data_dirs: Sequence[Path]) -> list[Path]:
    """The directories, each once however it is called; `NoCrawlError` if one has no store."""
    roots = list(dict.fromkeys(path.resolve() for path in data_dirs))
    for root in roots:
        if not Layout(root).exists():
            raise NoCrawlError(f"there is no store in {root}: name a crawl's data directory")
    return roots


@contextmanager
def open_reading(
    data_dirs: Sequence[Path], *, output: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with a view for every table that the stores have (`pages` and `fetches` always)
    and the view `sites`, one row a site. `NoCrawlError` if there is no store in a directory.

    Several directories are read as one; one that is named twice is read once.
    """
    roots = roots_of(data_dirs)
    with (
        tempfile.TemporaryDirectory(prefix="mannerly-query-") as scratch,
        closing(open_store(roots)) as connection,
    ):
        connection.execute(_SITES)
        _confine(connection, roots, Path(scratch), output)
        yield connection


def views_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of the views, the crawl's main tables first."""
    rows = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        " AND NOT starts_with(view_name, 'journalled_') ORDER BY 1"
    ).fetchall()
    names = [str(row[0]) for row in rows]
    main = ["pages", "fetches", "sites"]
    return main + [name for name in names if name not in main]


def columns_of(connection: duckdb.DuckDBPyConnection, view: str) -> list[str]:
    return [str(row[0]) for row in connection.execute(f"DESCRIBE {view}").fetchall()]


def _confine(
    connection: duckdb.DuckDBPyConnection, roots: Sequence[Path], scratch: Path, output: Path | None
) -> None:
    connection.execute(f"SET temp_directory = {_text(scratch)}")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    folders = ", ".join(_text(f"{root}/") for root in roots)
    connection.execute(f"SET allowed_directories = [{folders}]")
    if output is not None:
        connection.execute(f"SET allowed_paths = [{_text(output)}]")
    # Files, network, extensions; and variables of this program, which DuckDB else takes for tables.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
