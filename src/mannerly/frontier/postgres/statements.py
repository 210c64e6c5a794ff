"""The SQL, one described statement each. Batches come as one array per column (`unnest`).

Every statement here is a walk along an index, whatever the tables' statistics say: `PLANNING`
leaves the planner no other way. It plans each statement once per connection, perhaps on an empty
table, and a plan that reads a whole table would be kept while the table grows.
"""

# --- the connection -------------------------------------------------------------------------

PLANNING = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "enable_material": "off",
    "enable_memoize": "off",
    # An index is walked from the outside in even where the table looks empty.
    "random_page_cost": "0.01",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

CONFIGURE = "SELECT set_config(name, value, false) FROM unnest(%s, %s) AS given (name, value)"

TAKE_SLOT = """
SELECT slot FROM generate_series(1, 10000) AS slot
WHERE pg_try_advisory_lock(hashtext(%s), slot) LIMIT 1
"""
"""The first slot of tallies that nobody has. The server gives it back when the connection ends."""

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
"""In words, because a role or a database may have other defaults."""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

COMMIT = "COMMIT"

ROLLBACK = "ROLLBACK"

# --- time -----------------------------------------------------------------------------------

MOMENT = "SELECT now_ms(), offset_ms FROM crawl"

OPENING = """
SELECT now_ms(), offset_ms, last_at, (SELECT value FROM setting WHERE name = 'delay_s')
FROM crawl FOR NO KEY UPDATE OF crawl
"""

SET_OFFSET = "UPDATE crawl SET offset_ms = %s"

LOCKED_MOMENT = "SELECT now_ms(), offset_ms FROM crawl FOR NO KEY UPDATE"

VOUCH = """
UPDATE crawl SET last_at = %s
WHERE only_row IN (SELECT only_row FROM crawl WHERE last_at < %s FOR NO KEY UPDATE SKIP LOCKED)
"""
"""Unless somebody else is just doing it."""

# --- the crawl as a whole -------------------------------------------------------------------

CREATED = "SELECT created_at IS NOT NULL FROM crawl"

CREATED_LOCKED = f"{CREATED} FOR NO KEY UPDATE"
"""So that nobody creates it until this transaction ends."""

CREATE = "UPDATE crawl SET created_at = %s WHERE created_at IS NULL"

ADD_SETTINGS = "INSERT INTO setting (name, value) SELECT * FROM unnest(%s, %s)"

SETTINGS = "SELECT name, value FROM setting"

FORGET_SETTINGS = "DELETE FROM setting"

FORGET_SETTING = "DELETE FROM setting WHERE name = %s"

SETTING = "SELECT value FROM setting WHERE name = %s"

HOLD_CRAWL = "SELECT FROM crawl FOR SHARE"
"""`hand_over` waits for it, or it for that."""

TAKE_BEGINNING = "SELECT pg_try_advisory_lock(hashtext('mannerly beginning'), hashtext(%s))"
"""Until the connection ends: who has created a crawl keeps nobody from anything by it."""

CLEAR_WITHIN = "SET LOCAL lock_timeout = '300ms'"
"""Less than the server's `deadlock_timeout`: TRUNCATE locks whole tables, in an order that fits
nobody else's, so it gives up and tries again rather than wait in a circle."""

CLEAR = "TRUNCATE clock, budget, seen, queue, spill, robots, tally, site, crawler"

# --- sites ----------------------------------------------------------------------------------

FIND_SITES = """
SELECT site.key, site.id FROM unnest(%s) AS wanted (key) JOIN site ON site.key = wanted.key
"""

ADD_SITES = """
INSERT INTO site (key) SELECT key FROM unnest(%s) AS wanted (key) ON CONFLICT DO NOTHING
RETURNING key, id
"""
"""Keys come sorted. Of two processes that make the same site one waits for the other, and then
gets no row for it."""

ADD_BUDGETS = "INSERT INTO budget (site) SELECT unnest(%s)"

ADD_CLOCKS = "INSERT INTO clock (site, ready_at) SELECT unnest(%s), %s"
"""Ready at once, and without work until it has some."""

LOCK_SITES = """
SELECT budget.site, pending, pages, spilt, dropped, failures, delay, state
FROM unnest(%s) AS wanted (site) JOIN budget ON budget.site = wanted.site
ORDER BY budget.site FOR NO KEY UPDATE OF budget
"""
"""The fields of `Budget`. Every transaction that changes anything of a site starts with this,
always in the order of ids: therefore no two of them wait for each other in a circle."""

LOCK_FREE_SITES = LOCK_SITES + " SKIP LOCKED"
"""For `lease`, which holds clocks already and must not wait."""

WRITE_BUDGETS = """
UPDATE budget SET pending = given.pending, pages = given.pages, spilt = given.spilt,
    dropped = given.dropped, failures = given.failures, delay = given.delay, state = given.state
FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s)
    AS given (site, pending, pages, spilt, dropped, failures, delay, state)
WHERE budget.site = given.site
"""

# --- add ------------------------------------------------------------------------------------

NEXT_PLACE = "SELECT nextval('place')"

KNOWN = """
SELECT place FROM unnest(%s, %s) WITH ORDINALITY AS given (site, hash, place)
WHERE EXISTS (SELECT FROM seen WHERE seen.site = given.site AND seen.hash = given.hash)
"""
"""Which of the given URLs are known, by number from 1."""

SPILT = """
SELECT place FROM unnest(%s, %s) WITH ORDINALITY AS given (site, hash, place)
WHERE EXISTS (SELECT FROM spill WHERE spill.site = given.site AND spill.hash = given.hash)
"""

SEE = "INSERT INTO seen (site, hash) SELECT * FROM unnest(%s, %s)"

ENQUEUE = """
INSERT INTO queue (site, priority, seq, hash, depth, source, referrer, url, tries)
SELECT *, 0 FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s)
"""

SPILL = """
INSERT INTO spill (site, priority, seq, hash, depth, source, referrer, url)
SELECT * FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s)
"""

GAIN = """
UPDATE budget SET pending = given.pending, spilt = given.spilt, dropped = given.dropped
FROM unnest(%s, %s, %s, %s) AS given (site, pending, spilt, dropped)
WHERE budget.site = given.site
"""
"""What `WRITE_BUDGETS` does, without the columns that an add leaves as they are."""

WAKE = "UPDATE clock SET has_work = true WHERE site = ANY (%s) AND NOT has_work"
"""The ready time is kept: work that arrives does not make a site early."""

# --- lease ----------------------------------------------------------------------------------

EARLIEST = """
SELECT ready_at FROM clock WHERE has_work AND ready_at >= %s ORDER BY ready_at LIMIT 1
"""

WAY = """
EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)
SELECT ready_at FROM clock WHERE has_work ORDER BY ready_at LIMIT 1
"""
"""How long the server takes for `EARLIEST`."""

PICK = """
SELECT site, ready_at FROM clock
WHERE has_work AND ready_at BETWEEN %s AND %s AND site <> ALL (%s)
ORDER BY ready_at LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
"""

HEADS = """
SELECT wanted.site, site.key, budget.failures, head.url, head.hash, head.depth, head.priority,
    head.seq, head.source, head.referrer, head.tries
FROM unnest(%s) WITH ORDINALITY AS wanted (site, place)
    JOIN site ON site.id = wanted.site JOIN budget ON budget.site = wanted.site
    LEFT JOIN LATERAL (
        SELECT * FROM queue WHERE queue.site = wanted.site ORDER BY priority, seq LIMIT %s
    ) AS head ON true
ORDER BY wanted.place, head.priority, head.seq
"""
"""From the fourth column on the fields of `QueuedUrl`; null where the queue is empty."""

CLAIM = """
SELECT site FROM clock WHERE site = %s AND ready_at <= %s FOR NO KEY UPDATE SKIP LOCKED
"""

CLAIMED = "SELECT failures, state FROM budget WHERE site = %s"
"""A statement of its own: it sees an exclusion that was committed before the clock was locked, and
one that comes later waits for that lock."""

ROBOTS = """
SELECT robots.site, robots.origin, robots.state, robots.body, robots.fetched_at, robots.failures
FROM unnest(%s, %s) AS wanted (site, origin)
    JOIN robots ON robots.site = wanted.site AND robots.origin = wanted.origin
"""
"""Not of all origins of a site: it may have thousands."""

ROBOTS_OF = """
SELECT robots.state, robots.body, robots.fetched_at, robots.failures
FROM site JOIN robots ON robots.site = site.id WHERE site.key = %s AND robots.origin = %s
"""

STAMP = """
UPDATE clock SET ready_at = %s, holder = %s, token = given.token
FROM unnest(%s, %s) AS given (site, token) WHERE clock.site = given.site
"""

PARK = "UPDATE clock SET has_work = false WHERE site = ANY (%s)"

# --- commit ---------------------------------------------------------------------------------

TOKENS = """
SELECT clock.site, clock.token
FROM unnest(%s) AS wanted (site) JOIN clock ON clock.site = wanted.site
FOR NO KEY UPDATE OF clock
"""
"""Locked, so that nobody takes over a lapsed lease while its holder settles."""

DEQUEUE = """
WITH gone AS (
    DELETE FROM queue USING unnest(%s, %s, %s, %s) AS given (site, priority, seq, hash)
    WHERE queue.site = given.site AND queue.priority = given.priority AND queue.seq = given.seq
        AND queue.hash = given.hash
    RETURNING 1
) SELECT exactly(%s, count(*)) FROM gone
"""

SETTLE = """
WITH settled AS (
    UPDATE seen SET outcome = given.outcome
    FROM unnest(%s, %s, %s) AS given (site, hash, outcome)
    WHERE seen.site = given.site AND seen.hash = given.hash AND seen.outcome = 0
    RETURNING 1
) SELECT exactly(%s, count(*)) FROM settled
"""

DEFER = """
WITH moved AS (
    UPDATE queue SET priority = given.new_priority, seq = given.new_seq, tries = given.tries
    FROM unnest(%s, %s, %s, %s, %s, %s)
        AS given (site, priority, seq, new_priority, new_seq, tries)
    WHERE queue.site = given.site AND queue.priority = given.priority AND queue.seq = given.seq
    RETURNING 1
) SELECT exactly(%s, count(*)) FROM moved
"""

LEARN_ROBOTS = """
INSERT INTO robots (site, origin, state, body, fetched_at, failures)
SELECT * FROM unnest(%s, %s, %s, %s, %s, %s)
ON CONFLICT (site, origin) DO UPDATE SET state = excluded.state, body = excluded.body,
    fetched_at = excluded.fetched_at, failures = excluded.failures
"""

RELEASE = """
UPDATE clock SET ready_at = given.ready_at, token = 0, holder = 0, has_work = given.has_work
FROM unnest(%s, %s, %s) AS given (site, ready_at, has_work) WHERE clock.site = given.site
"""

# --- the spill ------------------------------------------------------------------------------

COME_BACK = """
WITH first AS (
    SELECT wanted.site, head.priority, head.seq
    FROM unnest(%s, %s) AS wanted (site, count) CROSS JOIN LATERAL (
        SELECT priority, seq FROM spill WHERE spill.site = wanted.site
        ORDER BY priority, seq LIMIT wanted.count
    ) AS head
), back AS (
    DELETE FROM spill USING first
    WHERE spill.site = first.site AND spill.priority = first.priority AND spill.seq = first.seq
    RETURNING spill.*
), known AS (
    INSERT INTO seen (site, hash) SELECT site, hash FROM back
), queued AS (
    INSERT INTO queue (site, priority, seq, hash, depth, source, referrer, url, tries)
    SELECT site, priority, seq, hash, depth, source, referrer, url, 0 FROM back RETURNING 1
) SELECT exactly(%s, count(*)) FROM queued
"""
"""So many of each site, the first of its spill. What comes back keeps its place."""

DROP_SPILL = "DELETE FROM spill WHERE site = ANY (%s)"

# --- writers --------------------------------------------------------------------------------

ENLIST = "INSERT INTO writer (id, label) VALUES (%s, %s) ON CONFLICT DO NOTHING"

WRITER = "SELECT sequence, refused, enlisted FROM writer WHERE id = %s"

LOCK_WRITER = WRITER + " FOR NO KEY UPDATE"
"""The first lock of a commit: two that carry one number are told apart by who comes first."""

HOLD_WRITER = WRITER + " FOR SHARE"
"""For `lease`: `retire` waits for it, and a lease that comes later finds the writer retired."""

ADVANCE = "UPDATE writer SET sequence = %s, refused = %s WHERE id = %s"

LOCK_CRAWLERS = "SELECT pg_advisory_xact_lock(hashtext('mannerly beats'), hashtext(%s))"

CRAWLERS = """
SELECT writer, began_at, run_at, seen_at, pages, rate, in_flight, page_limit, time_limit, reserved
FROM crawler
"""
"""The fields of `beats.Row`."""

NOTE_CRAWLER = """
INSERT INTO crawler
    (writer, began_at, run_at, seen_at, pages, rate, in_flight, page_limit, time_limit, reserved)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (writer) DO UPDATE SET seen_at = excluded.seen_at, pages = excluded.pages,
    rate = excluded.rate, in_flight = excluded.in_flight, page_limit = excluded.page_limit,
    time_limit = excluded.time_limit, reserved = excluded.reserved
"""

FORGET_CRAWLERS = "DELETE FROM crawler WHERE seen_at < %s"

FORGET_CRAWLER = "DELETE FROM crawler WHERE writer = %s"

CRAWLING = """
SELECT writer.label, began_at, seen_at, pages, rate, in_flight
FROM crawler JOIN writer ON writer.id = crawler.writer ORDER BY began_at, writer.label
"""

DISCHARGE = "UPDATE writer SET enlisted = false WHERE id = %s AND enlisted"

READ_IN_A_ROW = "SET LOCAL enable_seqscan = on"

HELD = "SELECT site FROM clock WHERE holder = %s"
"""A scan: death is rare, and an index would make every lease and release pay for it."""

BRING_BACK = """
UPDATE clock SET ready_at = least(clock.ready_at, given.ready_at), token = 0, holder = 0,
    has_work = given.has_work
FROM unnest(%s, %s, %s) AS given (site, ready_at, has_work)
WHERE clock.site = given.site AND clock.holder = %s
RETURNING clock.site
"""

# --- exclude --------------------------------------------------------------------------------

SHUT = "UPDATE clock SET token = 0, holder = 0, has_work = false WHERE site = ANY (%s)"

FORGET_SEEN = """
DELETE FROM seen WHERE (site, hash) IN (SELECT site, hash FROM seen WHERE site = %s LIMIT %s)
RETURNING outcome
"""

FORGET_QUEUE = """
DELETE FROM queue WHERE (site, priority, seq) IN (
    SELECT site, priority, seq FROM queue WHERE site = %s LIMIT %s
)
"""

FORGET_SPILL = """
DELETE FROM spill WHERE (site, priority, seq) IN (
    SELECT site, priority, seq FROM spill WHERE site = %s LIMIT %s
)
"""

FORGET_ROBOTS = "DELETE FROM robots WHERE site = %s"

# --- looking --------------------------------------------------------------------------------

_SITE_FACTS = """
SELECT site.id, site.key, budget.state, clock.ready_at, clock.token <> 0,
    coalesce(writer.label, ''), budget.failures, budget.delay, budget.pending, budget.spilt,
    budget.pages, budget.dropped
FROM {sites} JOIN budget ON budget.site = site.id JOIN clock ON clock.site = site.id
    LEFT JOIN writer ON writer.id = clock.holder
ORDER BY site.id
"""

SITE_FACTS = _SITE_FACTS.format(sites="(SELECT * FROM site WHERE key = %s) AS site")

SITES_AFTER = _SITE_FACTS.format(
    sites="(SELECT * FROM site WHERE id > %s ORDER BY id LIMIT %s) AS site"
)

_FOUND_SITES = """
SELECT site.id, site.key, budget.state, clock.ready_at, clock.token <> 0,
    coalesce(writer.label, ''), budget.failures, budget.delay, budget.pending, budget.spilt,
    budget.pages, budget.dropped
FROM {sites} LEFT JOIN writer ON writer.id = clock.holder
ORDER BY {order}
"""

_NAMED = """(
    SELECT * FROM site WHERE key >= %s AND key < %s
) AS site JOIN budget ON budget.site = site.id JOIN clock ON clock.site = site.id"""

_ORDERS = {
    "name": "site.key",
    "next": "clock.ready_at, site.id",
    "pages": "budget.pages DESC, site.id",
    "pending": "budget.pending DESC, site.id",
    "failures": "budget.failures DESC, site.id",
}

SITES_BY_NAME = {
    name: _FOUND_SITES.format(sites=_NAMED, order=order) + " LIMIT %s OFFSET %s"
    for name, order in _ORDERS.items()
}
"""By order: names from a first one up to another."""

SITES_BY_TIME = _FOUND_SITES.format(
    sites="""(
    SELECT * FROM clock WHERE has_work ORDER BY ready_at, site LIMIT %s OFFSET %s
) AS clock JOIN site ON site.id = clock.site JOIN budget ON budget.site = clock.site""",
    order=_ORDERS["next"],
)

_COUNTED = """(
    SELECT * FROM budget ORDER BY {count} DESC, site LIMIT %s OFFSET %s
) AS budget JOIN site ON site.id = budget.site JOIN clock ON clock.site = budget.site"""

SITES_BY_COUNT = {
    name: _FOUND_SITES.format(sites=_COUNTED.format(count=name), order=_ORDERS[name])
    for name in ("pages", "pending", "failures")
}
"""Looks at all of them: no index helps, since every visit would pay for it."""

OUTCOME = "SELECT outcome FROM seen WHERE site = %s AND hash = %s"

QUEUED = """
SELECT url, hash, depth, priority, seq, source, referrer, tries FROM queue
WHERE site = %s AND hash = %s
"""
"""Walks the site's queue: an index by hash would make every add and commit pay for it."""

SPILT_URL = """
SELECT url, hash, depth, priority, seq, source, referrer, 0 FROM spill
WHERE site = %s AND hash = %s
"""

_BEFORE = """
SELECT count(*) FROM (
    SELECT FROM {table} WHERE site = %s AND (priority, seq) < (%s, %s) LIMIT %s
) AS before
"""

BEFORE = _BEFORE.format(table="queue")

_URLS_AFTER = """
SELECT site.key, budget.state, listed.site, listed.priority, listed.seq,
    url, hash, depth, listed.priority, listed.seq, source, referrer, {tries}
FROM (
    SELECT * FROM {table} WHERE (site, priority, seq) > (%s, %s, %s)
    ORDER BY site, priority, seq LIMIT %s
) AS listed JOIN site ON site.id = listed.site JOIN budget ON budget.site = listed.site
ORDER BY listed.site, listed.priority, listed.seq
"""

PENDING_AFTER = _URLS_AFTER.format(table="queue", tries="tries")

SPILT_AFTER = _URLS_AFTER.format(table="spill", tries="0")

SETTLED_AFTER = """
SELECT site.key, listed.site, listed.hash, listed.outcome
FROM (
    SELECT * FROM seen WHERE (site, hash) > (%s, %s) ORDER BY site, hash LIMIT %s
) AS listed JOIN site ON site.id = listed.site
WHERE listed.outcome <> 0 ORDER BY listed.site, listed.hash LIMIT %s
"""

SEEN_END = """
SELECT site, hash FROM seen WHERE (site, hash) > (%s, %s) ORDER BY site, hash OFFSET %s LIMIT 1
"""

# --- moving ---------------------------------------------------------------------------------

DISCHARGE_ALL = "UPDATE writer SET enlisted = false WHERE enlisted"

FORGET_ALL_CRAWLERS = "DELETE FROM crawler"

END_LEASES = """
UPDATE clock SET token = 0, holder = 0,
    has_work = budget.state = 0 AND (budget.pending > 0 OR budget.spilt > 0)
FROM budget WHERE budget.site = clock.site AND clock.token <> 0
"""
"""The ready times stay: who held a lease may be in the middle of a visit."""

EXPORT_SITES = """
SELECT site.key, state, ready_at, failures, delay, pending, spilt, pages, dropped, site.id
FROM (SELECT * FROM site WHERE id > %s ORDER BY id LIMIT %s) AS site
    JOIN budget ON budget.site = site.id JOIN clock ON clock.site = site.id
ORDER BY site.id
"""

_EXPORT_WAITING = """
SELECT site.key, url, hash, depth, listed.priority, listed.seq, source, referrer, {tries},
    listed.site, listed.priority, listed.seq
FROM (
    SELECT * FROM {table} WHERE (site, priority, seq) > (%s, %s, %s)
    ORDER BY site, priority, seq LIMIT %s
) AS listed JOIN site ON site.id = listed.site
ORDER BY listed.site, listed.priority, listed.seq
"""

EXPORT_PENDING = _EXPORT_WAITING.format(table="queue", tries="tries")

EXPORT_SPILT = _EXPORT_WAITING.format(table="spill", tries="0")

EXPORT_SEEN = """
SELECT site.key, listed.hash, listed.outcome, listed.site, listed.hash
FROM (
    SELECT * FROM seen WHERE (site, hash) > (%s, %s) ORDER BY site, hash LIMIT %s
) AS listed JOIN site ON site.id = listed.site
ORDER BY listed.site, listed.hash
"""

EXPORT_ROBOTS = """
SELECT site.key, origin, state, body, fetched_at, failures, listed.site, listed.origin
FROM (
    SELECT * FROM robots WHERE (site, origin) > (%s, %s) ORDER BY site, origin LIMIT %s
) AS listed JOIN site ON site.id = listed.site
ORDER BY listed.site, listed.origin
"""

EXPORT_WRITERS = """
SELECT id, label, sequence, refused, id FROM writer WHERE id > %s ORDER BY id LIMIT %s
"""

RESTORE_CLOCKS = "INSERT INTO clock (site, ready_at, has_work) SELECT * FROM unnest(%s, %s, %s)"

RESTORE_BUDGETS = """
INSERT INTO budget (site, pending, pages, spilt, dropped, failures, delay, state)
SELECT * FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s)
"""

RESTORE_QUEUED = """
INSERT INTO queue (site, priority, seq, hash, depth, source, referrer, tries, url)
SELECT * FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""

PLACES_BEHIND = "SELECT setval('place', greatest(last_value, %s)) FROM place"

RESTORE_SETTLED = "INSERT INTO seen (site, hash, outcome) SELECT * FROM unnest(%s, %s, %s)"

RESTORE_WRITER = """
INSERT INTO writer (id, label, sequence, refused, enlisted) VALUES (%s, %s, %s, %s, false)
ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence, refused = excluded.refused
"""

FORGET_TALLY = "DELETE FROM tally"

# --- counts ---------------------------------------------------------------------------------

COUNT = """
INSERT INTO tally (slot, name, outcome, count)
SELECT %s, name, outcome, count FROM unnest(%s, %s, %s) AS given (name, outcome, count)
ON CONFLICT (slot, name, outcome) DO UPDATE SET count = tally.count + excluded.count
"""

TOTAL = """
SELECT coalesce(sum(count), 0)::bigint FROM tally WHERE name = %s AND outcome = %s
"""

TOTALS = "SELECT name, outcome, sum(count)::bigint FROM tally GROUP BY name, outcome"

SITES_WITH_WORK = "SELECT count(*) FROM clock WHERE has_work"

SITES_READY = "SELECT count(*) FROM clock WHERE has_work AND ready_at <= %s"

WRITERS = "SELECT count(*) FROM writer WHERE enlisted"
