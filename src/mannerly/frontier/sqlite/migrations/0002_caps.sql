-- Caps on what is kept of one site, and exclusion.
--
-- The counts are in the clock's row, because leases, releases and adds read or write that row
-- anyway: `pending` rows in `queue`, `spilt` rows in `spill`, `pages` fetched, `dropped` for good.
-- `state` is a SiteState. `has_work` = the state is OPEN and something is pending or spilt.

ALTER TABLE clock ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN spilt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

UPDATE clock SET
    state = (SELECT abandoned FROM site WHERE site.id = clock.site),
    pending = (SELECT count(*) FROM queue WHERE queue.site = clock.site),
    pages = (SELECT count(*) FROM seen WHERE seen.site = clock.site AND seen.outcome = 1);

ALTER TABLE site DROP COLUMN abandoned;

-- URLs over their site's cap, which come back into the queue at the place they have here. They are
-- not in `seen`: that is what makes them cheap to drop.
CREATE TABLE spill (
    site     INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    hash     INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    depth    INTEGER NOT NULL,
    source   INTEGER NOT NULL,
    referrer INTEGER NOT NULL,
    PRIMARY KEY (site, priority, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX spill_hash ON spill (site, hash);
