-- The first schema. It is applied with `search_path` set to the crawl's own schema, so that several
-- crawls share a database. Files of this folder are never edited once released: a change is a new
-- file with the next number.
--
-- Instants (`_at`) are milliseconds on the frontier's clock: see mannerly.frontier.server_clock.

-- The server's clock, the one place that asks for it. Tests put a clock that they move in its place.
CREATE FUNCTION now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision $$;

-- Raises if a statement did not touch as many rows as it had to. The error ends the transaction, so
-- COMMIT can be sent along without waiting for the count.
CREATE FUNCTION exactly(expected bigint, touched bigint) RETURNS void LANGUAGE plpgsql AS
$$ BEGIN
    IF expected <> touched THEN
        RAISE EXCEPTION USING ERRCODE = 'MN001', MESSAGE = format('%s of %s rows', touched, expected);
    END IF;
END $$;

-- One row: what is true of the crawl as a whole. `created_at` (Unix seconds) is null until a crawl
-- is created. The frontier's clock is `now_ms() + offset_ms`; `last_at` is the last instant on it
-- that a process vouched for, 0 before the first. Updated about once a second: room for HOT updates.
CREATE TABLE crawl (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    created_at double precision,
    offset_ms  bigint NOT NULL DEFAULT 0,
    last_at    bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO crawl DEFAULT VALUES;

-- The settings on which all crawlers of this crawl agree.
CREATE TABLE setting (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- Places in queues: one number per call of `add` or `commit`, with room below it for the URLs of
-- that call. A sequence, because a counter in a row would make every process wait for every other.
CREATE SEQUENCE place;

-- A site's name. Written once; ids are never given again. Byte order: names are compared, never
-- shown in order.
CREATE TABLE site (
    id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE
);

-- A site's clock: what leases and releases write, as narrow as can be. `token` and `holder` (a
-- writer) are 0 where no lease was given or it was given back.
-- An update moves `ready_at`, which is indexed, so it is never HOT: each leaves a dead row and two
-- dead index entries. Vacuum after 50,000 of them and without pauses: the table is small.
CREATE TABLE clock (
    site     bigint  PRIMARY KEY,
    ready_at bigint  NOT NULL,
    token    bigint  NOT NULL DEFAULT 0,
    holder   bigint  NOT NULL DEFAULT 0,
    has_work boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000,
        autovacuum_vacuum_cost_delay = 0);

-- Only sites with work are in it: what `lease` walks, longest ready first. There is no index on
-- `holder`: only `retire` asks for that, and every lease and release would pay for it.
CREATE INDEX clock_ready ON clock (ready_at) WHERE has_work;

-- A site's counts and state (`SiteState`). Its row is the site's lock: whoever changes anything of
-- a site holds it, `lease` excepted, which changes clocks only. No column but the key is indexed, so
-- with a third of each page left free updates are HOT and leave nothing for vacuum to do in the index.
CREATE TABLE budget (
    site     bigint   PRIMARY KEY,
    dropped  bigint   NOT NULL DEFAULT 0,
    delay    bigint   NOT NULL DEFAULT 0,
    pending  integer  NOT NULL DEFAULT 0,
    pages    integer  NOT NULL DEFAULT 0,
    spilt    integer  NOT NULL DEFAULT 0,
    failures integer  NOT NULL DEFAULT 0,
    state    smallint NOT NULL DEFAULT 0
) WITH (fillfactor = 66, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Every URL that was ever accepted, by hash within its site, with its outcome (0: pending). By far
-- the longest table: no other column, no other index. Each row is updated once, when it is settled;
-- a tenth of each page is left free for that, so that most of those updates are HOT.
CREATE TABLE seen (
    site    bigint   NOT NULL,
    hash    bigint   NOT NULL,
    outcome smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (site, hash)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_insert_scale_factor = 0.1);

-- The URLs that are not settled, in the order in which their site is to be visited. Rows are
-- inserted and deleted, hardly ever updated: pages are filled to the brim, and dead rows at the
-- head of a site's queue are cleared away before many of them stand in the way of its next lease.
CREATE TABLE queue (
    site     bigint   NOT NULL,
    seq      bigint   NOT NULL,
    hash     bigint   NOT NULL,
    referrer bigint   NOT NULL,
    depth    integer  NOT NULL,
    tries    integer  NOT NULL,
    priority smallint NOT NULL,
    source   smallint NOT NULL,
    url      text     NOT NULL,
    PRIMARY KEY (site, priority, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- URLs over their site's cap on pending ones, in the same order; never in `seen` at the same time.
-- The second index tells whether a URL is in it.
CREATE TABLE spill (
    site     bigint   NOT NULL,
    seq      bigint   NOT NULL,
    hash     bigint   NOT NULL,
    referrer bigint   NOT NULL,
    depth    integer  NOT NULL,
    priority smallint NOT NULL,
    source   smallint NOT NULL,
    url      text     NOT NULL,
    PRIMARY KEY (site, priority, seq),
    UNIQUE (site, hash)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- What is known of each origin's robots.txt.
CREATE TABLE robots (
    site       bigint   NOT NULL,
    fetched_at bigint   NOT NULL,
    failures   integer  NOT NULL,
    state      smallint NOT NULL,
    origin     text COLLATE "C" NOT NULL,
    body       bytea    NOT NULL,
    PRIMARY KEY (site, origin)
) WITH (fillfactor = 80);

-- The processes that lease and commit. `refused` are the tokens that were refused in the commit
-- numbered `sequence`.
CREATE TABLE writer (
    id       bigint   PRIMARY KEY,
    sequence bigint   NOT NULL DEFAULT 0,
    enlisted boolean  NOT NULL DEFAULT true,
    label    text     NOT NULL,
    refused  bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 20);

-- Counts; their sums are the crawl's totals. Each open handle counts in a slot that it has for
-- itself alone (an advisory lock says so), so that no two processes ever wait for a count.
-- `outcome` (or the cause of a drop) is 0 where the name says it all.
CREATE TABLE tally (
    slot    integer  NOT NULL,
    outcome smallint NOT NULL,
    name    text     NOT NULL,
    count   bigint   NOT NULL,
    PRIMARY KEY (slot, name, outcome)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000);
