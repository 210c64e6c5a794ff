"""Whether the tables of a frontier agree with each other: what must hold between any two
transactions, whatever was killed before."""

from tests.services.postgres import PostgresServer

CONTRADICTIONS = {
    "pending is not what is queued": """
        SELECT site, pending, (SELECT count(*) FROM queue q WHERE q.site = b.site)
        FROM budget b WHERE pending <> (SELECT count(*) FROM queue q WHERE q.site = b.site)
    """,
    "spilt is not what is in the spill": """
        SELECT site, spilt, (SELECT count(*) FROM spill q WHERE q.site = b.site)
        FROM budget b WHERE spilt <> (SELECT count(*) FROM spill q WHERE q.site = b.site)
    """,
    "pages is not what was fetched": """
        SELECT site FROM budget b
        WHERE pages <> (SELECT count(*) FROM seen s WHERE s.site = b.site AND outcome = 1)
    """,
    "a pending URL is not queued, or a queued one not pending": """
        SELECT s.site, s.hash FROM seen s FULL JOIN queue q ON q.site = s.site AND q.hash = s.hash
        WHERE (s.outcome = 0) IS DISTINCT FROM (q.hash IS NOT NULL)
    """,
    "a spilt URL is known": "SELECT site, hash FROM spill JOIN seen USING (site, hash)",
    "a site has URLs and no work": """
        SELECT site, pending, spilt FROM budget JOIN clock USING (site)
        WHERE state = 0 AND NOT has_work AND (pending > 0 OR spilt > 0)
    """,
    "a site that is not open has work": """
        SELECT site FROM budget JOIN clock USING (site) WHERE state <> 0 AND has_work
    """,
    "a site misses its rows": """
        SELECT id FROM site FULL JOIN budget b ON b.site = id FULL JOIN clock c ON c.site = id
        WHERE id IS NULL OR b.site IS NULL OR c.site IS NULL
    """,
    "a token without a holder": "SELECT site FROM clock WHERE (token = 0) <> (holder = 0)",
    "known URLs are miscounted": """
        SELECT * FROM (SELECT coalesce(sum(count), 0) AS counted FROM tally WHERE name = 'urls') t,
            (SELECT count(*) AS found FROM seen) f WHERE counted <> found
    """,
    "settled URLs are miscounted": """
        SELECT * FROM (SELECT outcome, sum(count) AS counted FROM tally WHERE name = 'settled'
                       GROUP BY outcome) t
        FULL JOIN (SELECT outcome, count(*) AS found FROM seen WHERE outcome <> 0
                   GROUP BY outcome) f USING (outcome)
        WHERE counted IS DISTINCT FROM found
    """,
    "spilt URLs are miscounted": """
        SELECT * FROM (SELECT coalesce(sum(count), 0) AS counted FROM tally
                       WHERE name = 'urls_spilt') t,
            (SELECT coalesce(sum(spilt), 0) AS found FROM budget WHERE state <> 2) f
        WHERE counted <> found
    """,
    "sites are miscounted": """
        SELECT * FROM (SELECT coalesce(sum(count), 0) AS counted FROM tally
                       WHERE name = 'sites') t,
            (SELECT count(*) AS found FROM site) f WHERE counted <> found
    """,
}


def contradictions(server: PostgresServer, schema: str) -> dict[str, list[tuple[object, ...]]]:
    """What does not agree, with the rows that show it. Nothing may be running."""
    found = {}
    for what, query in CONTRADICTIONS.items():
        rows = server.execute(query, schema=schema)
        if rows:
            found[what] = rows[:5]
    return found
