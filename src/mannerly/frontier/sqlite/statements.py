"""The SQL, one described statement each. Parameters stand in the order of the columns' use."""

# --- the crawl as a whole -------------------------------------------------------------------

EPOCH = """
SELECT boot_id, offset_ms, last_at, last_wall_s, rest_until, next_seq FROM crawl
"""
"""The fields of `Epoch`, then the next place in queues."""

FIRST_EPOCH = """
INSERT INTO crawl (only, boot_id, offset_ms, last_at, last_wall_s, rest_until, next_seq)
VALUES (1, ?, ?, ?, ?, ?, 1)
"""

NEW_EPOCH = """
UPDATE crawl SET boot_id = ?, offset_ms = ?, last_at = ?, last_wall_s = ?, rest_until = ?
"""

RECORD_MOMENT = "UPDATE crawl SET last_at = ?, last_wall_s = ?, next_seq = ?"
"""At the end of every transaction that wrote: so far the frontier's clock has come."""

CREATED = "SELECT created_at IS NOT NULL FROM crawl"

CREATE = "UPDATE crawl SET created_at = ?"

ADD_SETTING = "INSERT INTO setting (name, value) VALUES (?, ?)"

SETTINGS = "SELECT name, value FROM setting"

DELAY = "SELECT value FROM setting WHERE name = 'delay_s'"

CLEAR = tuple(
    f"DELETE FROM {table}"  # noqa: S608 - names of our own tables
    for table in ("seen", "queue", "robots", "clock", "site", "tally")
)
"""Without a condition SQLite drops a table's pages whole."""

# --- add ------------------------------------------------------------------------------------

FIND_SITES = """
SELECT site.key, site.id FROM json_each(?) AS wanted CROSS JOIN site ON site.key = wanted.value
"""
"""The ids of a JSON list of keys, where they exist."""

ADD_SITE = "INSERT INTO site (key) VALUES (?) ON CONFLICT DO NOTHING"

ADD_CLOCK = "INSERT INTO clock (site, ready_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
"""Ready at once, and without work until it has some."""

SEE = "INSERT INTO seen (site, hash, outcome) VALUES (?, ?, 0) ON CONFLICT DO NOTHING"
"""One row was inserted: the URL is new."""

ENQUEUE = """
INSERT INTO queue (site, priority, seq, hash, url, depth, source, referrer, tries)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
"""

IDLE = """
SELECT clock.site, site.abandoned
FROM json_each(?) AS wanted CROSS JOIN clock ON clock.site = wanted.value
    CROSS JOIN site ON site.id = clock.site
WHERE NOT clock.has_work
"""
"""Which of a JSON list of sites have no work. Of the others, `site` is not even read."""

WAKE = "UPDATE clock SET has_work = 1 WHERE site = ?"
"""The ready time is kept: work that arrives does not make a site early."""

# --- lease ----------------------------------------------------------------------------------

EARLIEST = "SELECT min(ready_at) FROM clock WHERE has_work"

READY = """
SELECT clock.site, site.key, clock.failures
FROM clock INDEXED BY clock_ready CROSS JOIN site ON site.id = clock.site
WHERE clock.has_work AND clock.ready_at <= ? ORDER BY clock.ready_at LIMIT ?
"""

HEAD = """
SELECT url, hash, depth, priority, seq, source, referrer, tries
FROM queue WHERE site = ? ORDER BY priority, seq LIMIT ?
"""
"""The fields of `QueuedUrl`."""

ROBOTS = """
SELECT robots.site, robots.origin, robots.state, robots.body, robots.fetched_at, robots.failures
FROM json_each(?) AS wanted CROSS JOIN robots
    ON robots.site = wanted.value ->> 0 AND robots.origin = wanted.value ->> 1
"""
"""Of a JSON list of [site, origin]. Not of all origins of a site: it may have thousands."""

STAMP = "UPDATE clock SET ready_at = ?, token = ?, holder = ? WHERE site = ?"

PARK = "UPDATE clock SET has_work = 0 WHERE site = ?"

# --- commit ---------------------------------------------------------------------------------

TOKENS = """
SELECT clock.site, clock.token
FROM json_each(?) AS wanted CROSS JOIN clock ON clock.site = wanted.value
"""

DEQUEUE = "DELETE FROM queue WHERE site = ? AND priority = ? AND seq = ? AND hash = ?"

SETTLE = "UPDATE seen SET outcome = ? WHERE site = ? AND hash = ? AND outcome = 0"

DEFER = """
UPDATE queue SET priority = ?, seq = ?, tries = ? WHERE site = ? AND priority = ? AND seq = ?
"""

LEARN_ROBOTS = """
INSERT INTO robots (site, origin, state, body, fetched_at, failures) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (site, origin) DO UPDATE SET state = excluded.state, body = excluded.body,
    fetched_at = excluded.fetched_at, failures = excluded.failures
"""

RELEASE = """
UPDATE clock SET ready_at = ?1, token = 0, holder = 0, failures = ?3,
    delay = CASE WHEN ?4 > 0 THEN ?4 ELSE delay END,
    has_work = EXISTS (SELECT 1 FROM queue WHERE queue.site = ?2)
WHERE site = ?2
"""

ABANDON = "UPDATE site SET abandoned = 1 WHERE id = ?"

QUEUED = "SELECT count(*) FROM queue WHERE site = ?"
"""Only asked when a site is abandoned. A running count per site would cost every add and every
commit a row more, and nobody else would read it."""

# --- writers --------------------------------------------------------------------------------

ENLIST = """
INSERT INTO writer (id, label, enlisted, sequence, refused) VALUES (?, ?, 1, 0, '[]')
ON CONFLICT DO NOTHING
"""

WRITER = "SELECT sequence, refused, enlisted FROM writer WHERE id = ?"

ADVANCE = "UPDATE writer SET sequence = ?, refused = ? WHERE id = ?"

DISCHARGE = "UPDATE writer SET enlisted = 0 WHERE id = ? AND enlisted"

HELD = "SELECT site FROM clock WHERE holder = ?"
"""A scan: death is rare, and an index would make every lease and release pay for it."""

BRING_BACK = """
UPDATE clock SET ready_at = min(ready_at, max(?1, ?4 + delay)), token = 0, holder = 0,
    has_work = EXISTS (SELECT 1 FROM queue WHERE queue.site = ?2)
WHERE site = ?2 AND holder = ?3
"""

# --- counts ---------------------------------------------------------------------------------

COUNT = """
INSERT INTO tally (writer, name, outcome, count) VALUES (?, ?, ?, ?)
ON CONFLICT (writer, name, outcome) DO UPDATE SET count = count + excluded.count
"""

TOTALS = "SELECT name, outcome, sum(count) FROM tally GROUP BY name, outcome"

SITES_WITH_WORK = "SELECT count(*) FROM clock WHERE has_work"

SITES_READY = "SELECT count(*) FROM clock WHERE has_work AND ready_at <= ?"

WRITERS = "SELECT count(*) FROM writer WHERE enlisted"
