"""Filling by the tens of millions: rows written straight into an engine's tables, in their order.

What `add` would leave behind, at a fifth of its price (tests/unit/benchmarks compares them). Sites
must exist: the first fill is made by `add`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.frontier.workload import url_text
from mannerly.frontier.postgres.adding import PLACES
from mannerly.model import Priority, Source
from mannerly.url import url_hash

SITES_A_CHUNK = 20_000
DEPTH = 1

Chunk = list[tuple[int, int, str]]
"""(site id, hash, URL), sorted."""


def _chunks(ids: list[int], first: int, urls_a_site: int, scheme: str = "https") -> Iterator[Chunk]:
    """Site number n of the workload has the id `ids[n]`."""
    for start in range(0, len(ids), SITES_A_CHUNK):
        chunk: Chunk = []
        for site in range(start, min(start + SITES_A_CHUNK, len(ids))):
            numbers = range(first, first + urls_a_site)
            texts = [url_text(site, number, scheme) for number in numbers]
            chunk += [(ids[site], url_hash(text), text) for text in texts]
        chunk.sort()
        yield chunk


def into_sqlite(path: Path, first: int, urls_a_site: int, scheme: str = "https") -> int:
    """Nobody else has the file open. Not durable before the end."""
    added = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -1000000")
        ids = [site for (site,) in connection.execute("SELECT id FROM site ORDER BY key")]
        (seq,) = connection.execute("SELECT next_seq FROM crawl").fetchone()
        for chunk in _chunks(ids, first, urls_a_site, scheme):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO seen (site, hash, outcome) VALUES (?, ?, 0)",
                ((site, hash_) for site, hash_, _ in chunk),
            )
            connection.executemany(
                "INSERT INTO queue VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)",
                (
                    (site, Priority.LINK, seq + number, hash_, url, DEPTH, Source.LINK)
                    for number, (site, hash_, url) in enumerate(chunk)
                ),
            )
            connection.execute("COMMIT")
            seq += len(chunk)
            added += len(chunk)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "UPDATE clock SET pending = pending + ?, has_work = 1 WHERE state = 0", (urls_a_site,)
        )
        connection.execute("UPDATE tally SET count = count + ? WHERE name = 'urls'", (added,))
        connection.execute("UPDATE crawl SET next_seq = ?", (seq,))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return added


def into_postgres(url: str, schema: str, first: int, urls_a_site: int) -> int:
    """Indexes are dropped before and made after, as for any bulk load."""
    added = 0
    with psycopg.connect(url) as connection:
        execute = connection.execute
        execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
        execute("SET maintenance_work_mem = '1GB'")
        ids = [row[0] for row in execute("SELECT id FROM site ORDER BY key").fetchall()]
        count = len(ids) * urls_a_site
        row = execute("SELECT setval('place', nextval('place') + %s)", (count // PLACES + 2,))
        seq = (row.fetchall()[0][0] - count // PLACES - 1) * PLACES
        execute("ALTER TABLE seen DROP CONSTRAINT seen_pkey")
        execute("ALTER TABLE queue DROP CONSTRAINT queue_pkey")
        for chunk in _chunks(ids, first, urls_a_site):
            with connection.cursor().copy("COPY seen (site, hash) FROM STDIN") as copy:
                copy.write("".join([f"{site}\t{hash_}\n" for site, hash_, _ in chunk]))
            with connection.cursor().copy(
                "COPY queue (site, priority, seq, hash, url, depth, source, referrer, tries)"
                " FROM STDIN"
            ) as copy:
                copy.write(
                    "".join(
                        [
                            f"{site}\t{Priority.LINK:d}\t{seq + number}\t{hash_}\t{text}\t{DEPTH}"
                            f"\t{Source.LINK:d}\t0\t0\n"
                            for number, (site, hash_, text) in enumerate(chunk)
                        ]
                    )
                )
            seq += len(chunk)
            added += len(chunk)
        execute("ALTER TABLE seen ADD PRIMARY KEY (site, hash)")
        execute("ALTER TABLE queue ADD PRIMARY KEY (site, priority, seq)")
        execute("UPDATE budget SET pending = pending + %s", (urls_a_site,))
        execute("UPDATE clock SET has_work = true WHERE NOT has_work")
        execute(
            "UPDATE tally SET count = count + %s WHERE (slot, name, outcome) ="
            " (SELECT slot, name, outcome FROM tally WHERE name = 'urls' LIMIT 1)",
            (added,),
        )
    return added
