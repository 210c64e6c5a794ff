-- The first schema. A statement ends with a semicolon at the end of a line. Files of this folder
-- are never edited once released: a change of the schema is a new file with the next number.
--
-- Instants (`_at`) are milliseconds on the frontier's clock: see timekeeping.py.

-- One row: what is true of the crawl as a whole. `created_at` (Unix seconds) is null until a crawl
-- is created. The rest carries the frontier's clock over a reboot and hands out places in queues.
CREATE TABLE crawl (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    created_at  REAL,
    boot_id     TEXT    NOT NULL,
    offset_ms   INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    last_wall_s REAL    NOT NULL,
    rest_until  INTEGER NOT NULL,
    next_seq    INTEGER NOT NULL
);

-- The settings on which all crawlers of this crawl agree.
CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- A site: what is read with every lease and hardly ever written. Ids are never reused.
CREATE TABLE site (
    id        INTEGER PRIMARY KEY,
    key       TEXT    NOT NULL UNIQUE,
    abandoned INTEGER NOT NULL DEFAULT 0
);

-- A site's clock. Apart from `site`, so that the rows that every lease and release write stay
-- together on few pages. `token` and `holder` (a writer) are 0 where no lease was given or it was
-- given back. `failures` and `delay` (milliseconds between visits, as the site asks) are a few bytes
-- in a row that a release writes anyway.
CREATE TABLE clock (
    site     INTEGER PRIMARY KEY,
    ready_at INTEGER NOT NULL,
    token    INTEGER NOT NULL DEFAULT 0,
    holder   INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    delay    INTEGER NOT NULL DEFAULT 0,
    has_work INTEGER NOT NULL DEFAULT 0
);

-- Only sites with work are in it: what `lease` walks, longest ready first.
CREATE INDEX clock_ready ON clock (ready_at) WHERE has_work;

-- Every URL that was ever accepted, by hash within its site, with its outcome (0: pending).
CREATE TABLE seen (
    site    INTEGER NOT NULL,
    hash    INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    PRIMARY KEY (site, hash)
) WITHOUT ROWID;

-- The URLs that are not settled, in the order in which their site is to be visited.
CREATE TABLE queue (
    site     INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    hash     INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    depth    INTEGER NOT NULL,
    source   INTEGER NOT NULL,
    referrer INTEGER NOT NULL,
    tries    INTEGER NOT NULL,
    PRIMARY KEY (site, priority, seq)
) WITHOUT ROWID;

-- What is known of each origin's robots.txt. Bodies are long, so this one keeps its rowid.
CREATE TABLE robots (
    site       INTEGER NOT NULL,
    origin     TEXT    NOT NULL,
    state      INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    fetched_at INTEGER NOT NULL,
    failures   INTEGER NOT NULL,
    PRIMARY KEY (site, origin)
);

-- The processes that lease and commit. `refused` is a JSON list of the tokens that were refused in
-- the commit numbered `sequence`.
CREATE TABLE writer (
    id       INTEGER PRIMARY KEY,
    label    TEXT    NOT NULL,
    enlisted INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    refused  TEXT    NOT NULL
);

-- What each writer counted; sums over writers are the crawl's totals. Writer 0 stands for what was
-- added, because adding names no writer. `outcome` is 0 where the name says it all.
CREATE TABLE tally (
    writer  INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    outcome INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (writer, name, outcome)
) WITHOUT ROWID;
