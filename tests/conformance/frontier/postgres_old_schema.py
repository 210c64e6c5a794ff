"""A schema of an earlier version: the old crawl written row by row, as version 1 had it."""

from collections import Counter
from typing import Any

import psycopg

from mannerly.frontier.conformance import old_crawl
from mannerly.model import Outcome, SiteState

Connection = psycopg.Connection[Any]


def write(connection: Connection, now_at: int, wall_s: float) -> None:
    """Put the old crawl into a new schema, as of now. Instants are milliseconds."""
    execute = connection.execute
    execute("UPDATE crawl SET created_at = %s, last_at = %s", (wall_s, now_at))
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO setting VALUES (%s, %s)", old_crawl.SETTINGS.items())
    execute(
        "INSERT INTO writer (id, sequence, label, refused) VALUES (%s, %s, %s, %s)",
        (old_crawl.WRITER, old_crawl.SEQUENCE, old_crawl.LABEL, list(old_crawl.REFUSED)),
    )
    execute("SELECT setval('place', %s)", (old_crawl.NEXT_SEQ,))
    for site in old_crawl.SITES:
        _write_site(connection, site, now_at)
    origin, state, body, _, failures = old_crawl.ROBOTS
    execute(
        "INSERT INTO robots (site, origin, state, body, fetched_at, failures) "
        "VALUES (1, %s, %s, %s, %s, %s)",
        (origin, int(state), body, now_at, failures),
    )
    _write_tallies(connection)


def _write_site(connection: Connection, site: old_crawl.OldSite, now_at: int) -> None:
    execute = connection.execute
    row = execute("INSERT INTO site (key) VALUES (%s) RETURNING id", (site.name,)).fetchone()
    assert row is not None
    number = row[0]
    held = (old_crawl.TOKEN, old_crawl.WRITER) if site.leased else (0, 0)
    has_work = bool(site.pending) and not site.abandoned
    execute(
        "INSERT INTO clock VALUES (%s, %s, %s, %s, %s)",
        (number, now_at + int(site.ready_in_s * 1000), *held, has_work),
    )
    state = SiteState.ABANDONED if site.abandoned else SiteState.OPEN
    pages = sum(outcome is Outcome.FETCHED for _, outcome in site.settled)
    execute(
        "INSERT INTO budget (site, delay, pending, pages, failures, state) "
        "VALUES (%s, %s, %s, %s, %s, %s)",
        (number, int(site.delay_s * 1000), len(site.pending), pages, site.failures, int(state)),
    )
    for url, hash_, depth, priority, seq, source, referrer, tries in site.pending:
        execute(
            "INSERT INTO queue (site, seq, hash, referrer, depth, tries, priority, source, url) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (number, seq, hash_, referrer, depth, tries, priority, int(source), url),
        )
        execute("INSERT INTO seen VALUES (%s, %s, 0)", (number, hash_))
    for hash_, outcome in site.settled:
        execute("INSERT INTO seen VALUES (%s, %s, %s)", (number, hash_, int(outcome)))


def _write_tallies(connection: Connection) -> None:
    left = [site for site in old_crawl.SITES if site.abandoned]
    outcomes: Counter[Outcome] = Counter(
        outcome for site in old_crawl.SITES for _, outcome in site.settled
    )
    urls = sum(len(site.pending) for site in old_crawl.SITES) + outcomes.total()
    rows = [
        ("sites", 0, len(old_crawl.SITES)),
        ("sites_abandoned", 0, len(left)),
        ("urls", 0, urls),
        ("urls_abandoned", 0, sum(len(site.pending) for site in left)),
        ("leases", 0, old_crawl.LEASES),
        ("refused", 0, len(old_crawl.REFUSED)),
        *(("settled", int(outcome), count) for outcome, count in outcomes.items()),
    ]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO tally (slot, name, outcome, count) VALUES (1, %s, %s, %s)", rows
        )
