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

REST_AFTER_BOOT = "UPDATE clock SET ready_at = max(ready_at, ? + delay) WHERE delay > ?"
"""The sites that ask for a longer delay than the crawl's own, which `rest_until` is made of."""

RECORD_MOMENT = "UPDATE crawl SET last_at = ?, last_wall_s = ?, next_seq = ?"
"""At the end of every transaction that wrote: so far the frontier's clock has come."""

CREATED = "SELECT created_at IS NOT NULL FROM crawl"

CREATE = "UPDATE crawl SET created_at = ?"

ADD_SETTING = "INSERT INTO setting (name, value) VALUES (?, ?)"

SETTINGS = "SELECT name, value FROM setting"

FORGET_SETTINGS = "DELETE FROM setting"

FORGET_SETTING = "DELETE FROM setting WHERE name = ?"

HAS_SETTING = "SELECT value FROM setting WHERE name = ?"

DELAY = "SELECT value FROM setting WHERE name = 'delay_s'"

CLEAR = tuple(
    f"DELETE FROM {table}"  # noqa: S608 - names of our own tables
    for table in (
        "seen",
        "queue",
        "spill",
        "robots",
        "clock",
        "site",
        "tally",
        "setting",
        "crawler",
    )
)
"""Without a condition SQLite drops a table's pages whole."""

LAST_ID = "SELECT max(id) FROM site"

KEEP_ID = "INSERT INTO site (id, key) VALUES (?, '')"
"""So that ids go on from there. A site without a clock is none to anybody."""

# --- add ------------------------------------------------------------------------------------

FIND_SITES = """
SELECT site.key, site.id FROM json_each(?) AS wanted CROSS JOIN site ON site.key = wanted.value
"""
"""The ids of a JSON list of keys, where they exist."""

ADD_SITE = "INSERT INTO site (key) VALUES (?) ON CONFLICT DO NOTHING"

ADD_CLOCK = "INSERT INTO clock (site, ready_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
"""Ready at once, and without work until it has some."""

COUNTS = """
SELECT clock.site, clock.state, clock.pending, clock.pages, clock.spilt, clock.dropped,
    clock.front_priority, clock.front_seq, clock.litter
FROM json_each(?) AS wanted CROSS JOIN clock ON clock.site = wanted.value
"""
"""The fields of `Counts` of a JSON list of sites."""

SEE = "INSERT INTO seen (site, hash, outcome) VALUES (?, ?, 0)"

SEE_MANY_ROWS = 50
SEE_MANY = (
    "INSERT INTO seen (site, hash, outcome) VALUES "  # noqa: S608 - as many question marks
    + ", ".join(["(?, ?, 0)"] * SEE_MANY_ROWS)
    + " ON CONFLICT DO NOTHING RETURNING site, hash"
)
"""Which of so many (site, hash) are new. As dear as one statement a row that does not tell; asking
after each single row costs 2 us a URL more, a temporary table or JSON 1 us."""

KNOWN = "SELECT 1 FROM seen WHERE site = ? AND hash = ?"

SPILT = "SELECT 1 FROM spill WHERE site = ? AND hash = ?"

ENQUEUE = """
INSERT INTO queue (site, priority, seq, hash, url, depth, source, referrer, tries)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
"""

SPILL = """
INSERT INTO spill (site, priority, seq, hash, url, depth, source, referrer)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

SPILT_FIRST = """
SELECT site, priority, seq, hash, url, depth, source, referrer
FROM spill WHERE site = ? ORDER BY priority, seq LIMIT ?
"""

UNSPILL = "DELETE FROM spill WHERE site = ? AND (priority, seq) <= (?, ?)"

DROP_SPILL = "DELETE FROM spill WHERE site = ?"

RECOUNT = """
UPDATE clock SET state = ?2, pending = ?3, pages = ?4, spilt = ?5, dropped = ?6,
    front_priority = ?7, front_seq = ?8, litter = ?9,
    has_work = (?2 = 0 AND (?3 > 0 OR ?5 > 0))
WHERE site = ?1
"""
"""Takes the fields of `Counts`."""

GAIN = """
UPDATE clock SET pending = pending + ?, has_work = (state = 0) WHERE site = ?
"""
"""The ready time is kept: work that arrives does not make a site early."""

RECOUNT_SPILT = """
UPDATE clock SET spilt = ?1, dropped = ?2,
    has_work = (state = 0 AND (pending > 0 OR ?1 > 0))
WHERE site = ?3
"""
"""After an add to a site that is too full: leaves alone what `GAIN` counted."""

SWEEP = "DELETE FROM queue WHERE site = ? AND (priority, seq) <= (?, ?)"
"""What lies behind the front of a queue: see `front`."""

FORGET_FRONT = "UPDATE clock SET front_priority = ?, front_seq = ?, litter = 0 WHERE site = ?"

# --- lease ----------------------------------------------------------------------------------

EARLIEST = "SELECT min(ready_at) FROM clock WHERE has_work"

READY = """
SELECT ready.site, site.key, ready.failures,
    q.url, q.hash, q.depth, q.priority, q.seq, q.source, q.referrer, q.tries
FROM (
    SELECT site, failures, front_priority, front_seq FROM clock INDEXED BY clock_ready
    WHERE has_work AND ready_at <= ? ORDER BY ready_at LIMIT ?
) AS ready CROSS JOIN site ON site.id = ready.site
LEFT JOIN queue AS q ON q.site = ready.site AND (q.priority, q.seq) IN (
    SELECT priority, seq FROM queue
    WHERE site = ready.site AND (priority, seq) > (ready.front_priority, ready.front_seq)
    ORDER BY priority, seq LIMIT ?
)
"""
"""The sites that have been ready longest, each with the first URLs of its queue: the site, its key
and failures, then the fields of `QueuedUrl`, all null for a site without one. The rows of a site
stand together. One statement for all: half as dear as one a site, of which most is the coming and
going between Python and SQLite."""

ROBOTS = """
SELECT robots.site, robots.origin, robots.state, robots.body, robots.fetched_at, robots.failures
FROM json_each(?) AS wanted CROSS JOIN robots
    ON robots.site = wanted.value ->> 0 AND robots.origin = wanted.value ->> 1
"""
"""Of a JSON list of [site, origin]. Not of all origins of a site: it may have thousands."""

CLAIMABLE = "SELECT failures FROM clock WHERE site = ? AND ready_at <= ? AND state != 2"

STAMP = "UPDATE clock SET ready_at = ?, token = ?, holder = ? WHERE site = ?"

# --- commit ---------------------------------------------------------------------------------

HELD_COUNTS = """
SELECT clock.token, clock.site, clock.state, clock.pending, clock.pages, clock.spilt, clock.dropped,
    clock.front_priority, clock.front_seq, clock.litter
FROM json_each(?) AS wanted CROSS JOIN clock ON clock.site = wanted.value
"""
"""The tokens of a JSON list of sites, and the fields of `Counts`."""

UP_TO = """
SELECT q.site, q.priority, q.seq, q.hash
FROM json_each(?) AS wanted CROSS JOIN queue AS q ON q.site = wanted.value ->> 0
    AND (q.priority, q.seq) > (wanted.value ->> 1, wanted.value ->> 2)
    AND (q.priority, q.seq) <= (wanted.value ->> 3, wanted.value ->> 4)
"""
"""The rows of a JSON list of [site, place after which, place up to which], site by site."""

DEQUEUE = "DELETE FROM queue WHERE site = ? AND priority = ? AND seq = ? AND hash = ?"

SETTLE = "UPDATE seen SET outcome = ? WHERE site = ? AND hash = ? AND outcome = 0"

SETTLED_COUNTS = """
UPDATE clock SET pending = ?3, pages = ?4, front_priority = ?7, front_seq = ?8, litter = ?9
WHERE site = ?1
"""
"""Takes the fields of `Counts` of a lease that goes on. The site keeps its work until it is
released: its holder may find more, and whoever asks meanwhile must not be told that the crawl is at
its end."""

DEFER = """
UPDATE queue SET priority = ?, seq = ?, tries = ? WHERE site = ? AND priority = ? AND seq = ?
"""

LEARN_ROBOTS = """
INSERT INTO robots (site, origin, state, body, fetched_at, failures) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (site, origin) DO UPDATE SET state = excluded.state, body = excluded.body,
    fetched_at = excluded.fetched_at, failures = excluded.failures
"""

RELEASE = """
UPDATE clock SET ready_at = ?10, token = 0, holder = 0, failures = ?11,
    delay = CASE WHEN ?12 > 0 THEN ?12 ELSE delay END,
    state = ?2, pending = ?3, pages = ?4, spilt = ?5, dropped = ?6,
    front_priority = ?7, front_seq = ?8, litter = ?9,
    has_work = (?2 = 0 AND (?3 > 0 OR ?5 > 0))
WHERE site = ?1
"""
"""Takes the fields of `Counts` first."""

# --- exclude --------------------------------------------------------------------------------

EXCLUDE = "UPDATE clock SET state = 2, has_work = 0, token = 0, holder = 0 WHERE site = ?"

# --- forget ---------------------------------------------------------------------------------

SITE_STATE = """
SELECT site.id, clock.state FROM site JOIN clock ON clock.site = site.id WHERE site.key = ?
"""

FORGET_SEEN = """
DELETE FROM seen WHERE site = ? AND hash IN (SELECT hash FROM seen WHERE site = ? LIMIT ?)
RETURNING outcome
"""

FORGET_QUEUE = """
DELETE FROM queue WHERE site = ?
    AND (priority, seq) IN (SELECT priority, seq FROM queue WHERE site = ? LIMIT ?)
RETURNING 0
"""

FORGET_SPILL = """
DELETE FROM spill WHERE site = ?
    AND (priority, seq) IN (SELECT priority, seq FROM spill WHERE site = ? LIMIT ?)
RETURNING 0
"""

FORGET_ROBOTS = "DELETE FROM robots WHERE site = ?"

FORGET_COUNTS = """
UPDATE clock SET pending = pending - ?, pages = pages - ?, spilt = spilt - ? WHERE site = ?
"""

# --- writers --------------------------------------------------------------------------------

ENLIST = """
INSERT INTO writer (id, label, enlisted, sequence, refused) VALUES (?, ?, 1, 0, '[]')
ON CONFLICT DO NOTHING
"""

WRITER = "SELECT sequence, refused, enlisted FROM writer WHERE id = ?"

ADVANCE = "UPDATE writer SET sequence = ?, refused = ? WHERE id = ?"

CRAWLERS = """
SELECT writer, began_at, run_at, seen_at, pages, rate, in_flight, page_limit, time_limit, reserved
FROM crawler
"""
"""The fields of `beats.Row`."""

NOTE_CRAWLER = """
INSERT OR REPLACE INTO crawler
    (writer, began_at, run_at, seen_at, pages, rate, in_flight, page_limit, time_limit, reserved)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

FORGET_CRAWLERS = "DELETE FROM crawler WHERE seen_at < ?"

FORGET_CRAWLER = "DELETE FROM crawler WHERE writer = ?"

CRAWLING = """
SELECT writer.label, began_at, seen_at, pages, rate, in_flight
FROM crawler JOIN writer ON writer.id = crawler.writer ORDER BY began_at, writer.label
"""

DISCHARGE = "UPDATE writer SET enlisted = 0 WHERE id = ? AND enlisted"

HELD = "SELECT site FROM clock WHERE holder = ?"
"""A scan: death is rare, and an index would make every lease and release pay for it."""

BRING_BACK = """
UPDATE clock SET ready_at = min(ready_at, max(?1, ?4 + delay)), token = 0, holder = 0,
    has_work = (state = 0 AND (pending > 0 OR spilt > 0))
WHERE site = ?2 AND holder = ?3
"""

# --- looking --------------------------------------------------------------------------------

SITE_FACTS = """
SELECT site.key, clock.state, clock.ready_at, clock.token, coalesce(writer.label, ''),
    clock.failures, clock.delay, clock.pending, clock.spilt, clock.pages, clock.dropped, site.id
FROM site CROSS JOIN clock ON clock.site = site.id LEFT JOIN writer ON writer.id = clock.holder
"""

SITE_BY_KEY = SITE_FACTS + "WHERE site.key = ?"

SITES_AFTER = SITE_FACTS + "WHERE site.id > ? ORDER BY site.id LIMIT ?"

SITES_BY_NAME = SITE_FACTS + "WHERE site.key >= ? AND site.key < ? AND site.key > '' "
"""Goes on with an order: the names from a first one up to another. Skips the row that only keeps
an id."""

SITES_IN_ORDER = (
    SITE_FACTS.replace(
        "FROM site CROSS JOIN clock", "FROM ({clocks}) AS clock CROSS JOIN site"
    ).replace("ON clock.site = site.id", "ON site.id = clock.site")
    + "ORDER BY clock.place"
)
"""Of some clocks, which have their `place` in the order."""

CLOCKS_BY_TIME = """
SELECT *, row_number() OVER (ORDER BY ready_at, site) AS place FROM (
    SELECT * FROM clock INDEXED BY clock_ready WHERE has_work
    ORDER BY ready_at, site LIMIT ? OFFSET ?
)
"""

CLOCKS_BY_COUNT = """
SELECT *, row_number() OVER (ORDER BY {count} DESC, site) AS place FROM (
    SELECT * FROM clock ORDER BY {count} DESC, site LIMIT ? OFFSET ?
)
"""
"""Looks at all of them, in the file's order: no index helps, since every visit would pay for it."""

URL_OUTCOME = "SELECT outcome FROM seen WHERE site = ? AND hash = ?"

URL_QUEUED = """
SELECT url, hash, depth, priority, seq, source, referrer, tries
FROM queue WHERE site = ? AND hash = ?
"""
"""Reads the site's queue until it is found: an index on the hash would make every add and every
commit pay for a question that only people ask."""

URL_SPILT = """
SELECT url, hash, depth, priority, seq, source, referrer, 0
FROM spill WHERE site = ? AND hash = ?
"""

ROBOTS_OF = """
SELECT robots.state, robots.body, robots.fetched_at, robots.failures
FROM site JOIN robots ON robots.site = site.id WHERE site.key = ? AND robots.origin = ?
"""

GOING_BEFORE = """
SELECT count(*) FROM (
    SELECT 1 FROM clock CROSS JOIN queue AS q ON q.site = clock.site
    WHERE clock.site = ? AND (q.priority, q.seq) > (clock.front_priority, clock.front_seq)
        AND (q.priority, q.seq) < (?, ?)
    LIMIT ?
)
"""

PENDING_AFTER = """
SELECT site.key, q.url, q.hash, q.depth, q.priority, q.seq, q.source, q.referrer, q.tries, q.site
FROM queue AS q CROSS JOIN clock ON clock.site = q.site CROSS JOIN site ON site.id = q.site
WHERE (q.site, q.priority, q.seq) > (?, ?, ?) AND clock.state != 2
    AND (q.priority, q.seq) > (clock.front_priority, clock.front_seq)
ORDER BY q.site, q.priority, q.seq LIMIT ?
"""

SPILT_AFTER = """
SELECT site.key, q.url, q.hash, q.depth, q.priority, q.seq, q.source, q.referrer, 0, q.site
FROM spill AS q CROSS JOIN clock ON clock.site = q.site CROSS JOIN site ON site.id = q.site
WHERE (q.site, q.priority, q.seq) > (?, ?, ?) AND clock.state != 2
ORDER BY q.site, q.priority, q.seq LIMIT ?
"""

SETTLED_AFTER = """
SELECT site.key, seen.hash, seen.outcome, seen.site
FROM seen CROSS JOIN site ON site.id = seen.site
WHERE (seen.site, seen.hash) > (?, ?) AND seen.outcome != 0
ORDER BY seen.site, seen.hash LIMIT ?
"""

# --- moving ---------------------------------------------------------------------------------

DISCHARGE_ALL = "UPDATE writer SET enlisted = 0 WHERE enlisted"

FORGET_ALL_CRAWLERS = "DELETE FROM crawler"

END_LEASES = """
UPDATE clock SET token = 0, holder = 0, has_work = (state = 0 AND (pending > 0 OR spilt > 0))
WHERE token != 0
"""
"""The ready times stay: who held a lease may be in the middle of a visit."""

EXPORT_SITES = """
SELECT site.key, state, ready_at, failures, delay, pending, spilt, pages, dropped, site.id
FROM site CROSS JOIN clock ON clock.site = site.id WHERE site.id > ? ORDER BY site.id LIMIT ?
"""

EXPORT_PENDING = """
SELECT site.key, q.url, q.hash, q.depth, q.priority, q.seq, q.source, q.referrer, q.tries,
    q.site, q.priority, q.seq
FROM queue AS q CROSS JOIN clock ON clock.site = q.site CROSS JOIN site ON site.id = q.site
WHERE (q.site, q.priority, q.seq) > (?, ?, ?)
    AND (q.priority, q.seq) > (clock.front_priority, clock.front_seq)
ORDER BY q.site, q.priority, q.seq LIMIT ?
"""

EXPORT_SPILT = """
SELECT site.key, q.url, q.hash, q.depth, q.priority, q.seq, q.source, q.referrer, 0,
    q.site, q.priority, q.seq
FROM spill AS q CROSS JOIN site ON site.id = q.site
WHERE (q.site, q.priority, q.seq) > (?, ?, ?) ORDER BY q.site, q.priority, q.seq LIMIT ?
"""

EXPORT_SETTLED = """
SELECT site.key, seen.hash, seen.outcome, seen.site, seen.hash
FROM seen CROSS JOIN site ON site.id = seen.site
WHERE (seen.site, seen.hash) > (?, ?) AND seen.outcome != 0
ORDER BY seen.site, seen.hash LIMIT ?
"""

EXPORT_ROBOTS = """
SELECT site.key, origin, state, body, fetched_at, failures, robots.rowid
FROM robots CROSS JOIN site ON site.id = robots.site
WHERE robots.rowid > ? ORDER BY robots.rowid LIMIT ?
"""

EXPORT_WRITERS = """
SELECT id, label, sequence, refused, id FROM writer WHERE id > ? ORDER BY id LIMIT ?
"""

RESTORE_SITE = "INSERT INTO site (key) VALUES (?)"

RESTORE_CLOCK = """
INSERT INTO clock
    (state, ready_at, failures, delay, pending, spilt, pages, dropped, has_work, site)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, id FROM site WHERE key = ?
"""

RESTORE_QUEUED = """
INSERT INTO queue (site, priority, seq, hash, url, depth, source, referrer, tries)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

RESTORE_SETTLED = "INSERT INTO seen (site, hash, outcome) VALUES (?, ?, ?)"

RESTORE_WRITER = """
INSERT OR REPLACE INTO writer (id, label, sequence, refused, enlisted) VALUES (?, ?, ?, ?, 0)
"""

FORGET_TALLY = "DELETE FROM tally"

# --- counts ---------------------------------------------------------------------------------

COUNT = """
INSERT INTO tally (writer, name, outcome, count) VALUES (?, ?, ?, ?)
ON CONFLICT (writer, name, outcome) DO UPDATE SET count = count + excluded.count
"""

TOTAL = "SELECT coalesce(sum(count), 0) FROM tally WHERE name = ? AND outcome = ?"

TOTALS = "SELECT name, outcome, sum(count) FROM tally GROUP BY name, outcome"

SITES_WITH_WORK = "SELECT count(*) FROM clock WHERE has_work"

SITES_READY = "SELECT count(*) FROM clock WHERE has_work AND ready_at <= ?"

WRITERS = "SELECT count(*) FROM writer WHERE enlisted"
