"""A file of an earlier schema: written row by row as version 1 did, then as far as later ones
brought it."""

import json
import sqlite3
from collections import Counter
from importlib import resources
from pathlib import Path

from mannerly.frontier.conformance import old_crawl
from mannerly.model import Outcome

APPLICATION_ID = 0x4D4E4C59


FIRST, *LATER = "0001_first.sql", "0002_caps.sql", "0003_front.sql"


def write(path: Path, schema: int, boot_id: str, now_s: float, wall_s: float) -> None:
    """Put the old crawl into a new file, as of now. Instants are milliseconds."""
    folder = resources.files("mannerly.frontier.sqlite") / "migrations"
    connection = sqlite3.connect(path)
    try:
        connection.executescript((folder / FIRST).read_text("utf-8"))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        with connection:
            _write_crawl(connection, boot_id, int(now_s * 1000), wall_s)
            _write_tallies(connection)
        for name in LATER[: schema - 1]:
            connection.executescript((folder / name).read_text("utf-8"))
        connection.execute(f"PRAGMA user_version = {schema}")
    finally:
        connection.close()


def _write_crawl(connection: sqlite3.Connection, boot_id: str, now_at: int, wall_s: float) -> None:
    insert = connection.execute
    insert(
        "INSERT INTO crawl VALUES (1, ?, ?, 0, ?, ?, 0, ?)",
        (wall_s, boot_id, now_at, wall_s, old_crawl.NEXT_SEQ),
    )
    connection.executemany("INSERT INTO setting VALUES (?, ?)", old_crawl.SETTINGS.items())
    insert(
        "INSERT INTO writer VALUES (?, ?, 1, ?, ?)",
        (
            old_crawl.WRITER,
            old_crawl.LABEL,
            old_crawl.SEQUENCE,
            json.dumps(old_crawl.REFUSED),
        ),
    )
    for number, site in enumerate(old_crawl.SITES, 1):
        _write_site(connection, number, site, now_at)
    origin, state, body, _, failures = old_crawl.ROBOTS
    insert("INSERT INTO robots VALUES (1, ?, ?, ?, ?, ?)", (origin, state, body, now_at, failures))


def _write_site(
    connection: sqlite3.Connection, number: int, site: old_crawl.OldSite, now_at: int
) -> None:
    insert = connection.execute
    insert("INSERT INTO site VALUES (?, ?, ?)", (number, site.name, site.abandoned))
    held = (old_crawl.TOKEN, old_crawl.WRITER) if site.leased else (0, 0)
    ready_at = now_at + int(site.ready_in_s * 1000)
    has_work = bool(site.pending) and not site.abandoned
    insert(
        "INSERT INTO clock VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, ready_at, *held, site.failures, int(site.delay_s * 1000), has_work),
    )
    for url, hash_, depth, priority, seq, source, referrer, tries in site.pending:
        row = (number, priority, seq, hash_, url, depth, source, referrer, tries)
        insert("INSERT INTO queue VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        insert("INSERT INTO seen VALUES (?, ?, 0)", (number, hash_))
    for hash_, outcome in site.settled:
        insert("INSERT INTO seen VALUES (?, ?, ?)", (number, hash_, outcome))


def _write_tallies(connection: sqlite3.Connection) -> None:
    """What adding counted stands under writer 0, the rest under who did it."""
    left = [site for site in old_crawl.SITES if site.abandoned]
    outcomes: Counter[Outcome] = Counter(
        outcome for site in old_crawl.SITES for _, outcome in site.settled
    )
    urls = sum(len(site.pending) for site in old_crawl.SITES) + outcomes.total()
    rows = [
        (0, "sites", 0, len(old_crawl.SITES)),
        (0, "sites_abandoned", 0, len(left)),
        (0, "urls", 0, urls),
        (0, "urls_abandoned", 0, sum(len(site.pending) for site in left)),
        (old_crawl.WRITER, "leases", 0, old_crawl.LEASES),
        (old_crawl.WRITER, "refused", 0, len(old_crawl.REFUSED)),
        *((old_crawl.WRITER, "settled", int(key), count) for key, count in outcomes.items()),
    ]
    connection.executemany("INSERT INTO tally VALUES (?, ?, ?, ?)", rows)
